import Dispatch
import Foundation
import ObjectGraph
import TestSupport
import Testing

/// The places from which the tool reads keys.
@Suite struct KeySourceTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.filePath("a.store") }

    init() throws {
        try StoreFixture.create(
            folder.file("a.store"),
            [EntityDescription("Note", attributes: [AttributeDescription("text", .string)])]
        )
    }

    private func keyFile(_ mode: mode_t) throws -> String {
        let path = folder.filePath("key.txt")
        try Data("\(Tool.passphrase)\n".utf8).write(to: URL(filePath: path))
        chmod(path, mode)
        return path
    }

    /// The commands that read a key file, without its path.
    private var commands: [[String]] {
        [
            ["check", store, "--key-file"], ["backup", store, folder.filePath("b.store"), "--new-key-file"],
            ["import", store, folder.filePath("db"), "--from", "sqlcipher", "--source-key-file"],
        ]
    }

    // A pipe without a writer would block a program that opens it like a file.
    @Test(arguments: ["link", "pipe", "folder", "0640", "4600", "0700", "/dev/stdin"])
    func `a key file has the rules of a key provider`(kind: String) throws {
        var path = try keyFile(0o600)
        switch kind {
        case "link":
            try FileManager.default.createSymbolicLink(atPath: folder.filePath("link"), withDestinationPath: path)
            path = folder.filePath("link")
        case "pipe":
            path = folder.filePath("pipe")
            #expect(mkfifo(path, 0o600) == 0)
        case "folder": path = folder.path
        case "/dev/stdin": path = kind
        default: path = try keyFile(#require(mode_t(kind, radix: 8)))
        }
        for command in commands {
            // The key of the store itself is right.
            let environment = command[0] == "check" ? [:] : Tool.environment
            let tool = try Tool.start(command + [path], environment: environment, input: Tool.passphrase)
            #expect(tool.waitForEnd(until: .now() + maximumWait))
            let result = try tool.wait()
            #expect(result.status == 77, "\(command): \(result)")
            #expect(result.errors.contains("is not used: it"), "\(command): \(result)")
        }
        #expect(try Tool.run("check", store, "--key-file", keyFile(0o400), environment: [:]).status == 0)
    }

    @Test func `a pipe is read through its descriptor`() throws {
        let tool = try Tool.start(
            ["check", store, "--key-fd", "7"],
            environment: ["SECRET": Tool.passphrase],
            shell: """
                mkfifo '\(folder.path)/pipe'; printf '%s\\n' "$SECRET" > '\(folder.path)/pipe' & exec 7< '\(folder.path)/pipe'
                """
        )
        let result = try tool.wait()
        #expect(result.status == 0, "\(result)")
    }

    @Test func `an empty passphrase and malformed digits are refused with a reason`() throws {
        let empty = try Tool.run("check", store, environment: ["SEALED_PASSPHRASE": ""])
        #expect(empty.status == 77 && empty.errors.contains("the passphrase is empty"), "\(empty)")
        let digits = try Tool.run("check", store, "--raw-key", "--key-env", "K", environment: ["K": "xyz"])
        #expect(digits.status == 77 && digits.errors.contains("64 hexadecimal digits"), "\(digits)")
    }

    @Test func `two options may name the same variable`() throws {
        let database = folder.filePath("db")
        let created = try run(
            "sqlcipher",
            ["-batch", database],
            input: "PRAGMA key = '\(Tool.passphrase)'; CREATE TABLE t (a); INSERT INTO t VALUES (1);"
        )
        #expect(created.status == 0)
        let arguments = ["import", folder.filePath("new.store"), database, "--from", "sqlcipher"]
        let options = ["--key-env", "K", "--source-key-env", "K"]
        let result = try Tool.start(arguments + options, environment: ["K": Tool.passphrase]).wait()
        #expect(result.status == 0, "\(result)")
    }

    #if os(Linux)
        @Test(arguments: [["SEALED_PASSPHRASE"], ["OTHER", "--key-env", "OTHER"]])
        func `the variable is overwritten in the environment that other processes see`(variable: [String]) throws {
            let tool = try Tool.startRekey(store, variable)
            let deadline = DispatchTime.now() + maximumWait
            // The tool has read the old key before it waits for the new one. A process that begins has no environment yet.
            var environment = ""
            repeat {
                environment = try tool.environment
            } while (environment.isEmpty || environment.contains(Tool.passphrase)) && DispatchTime.now() < deadline
                && tool.isRunning
            #expect(environment.contains(variable[0]), "the process runs")
            #expect(!environment.contains(Tool.passphrase))
            tool.send("new passphrase\n")
            let result = try tool.wait()
            #expect(result.status == 0, "\(result)")
            #expect(try Tool.run("check", store, environment: ["SEALED_PASSPHRASE": "new passphrase"]).status == 0)
        }
    #endif
}

extension Tool {
    /// Starts a change of a store's key, which waits for the new key in its standard input.
    ///
    /// - Parameter variable: The variable with the key, and the options that name it.
    fileprivate static func startRekey(_ store: String, _ variable: [String]) throws -> ChildProcess {
        let tool = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "sealed").path
        return try ChildProcess(
            tool,
            ["rekey", store, "--new-key-fd", "0"] + variable.dropFirst(),
            environment: [variable[0]: passphrase, "PATH": "/usr/bin:/bin"],
            input: nil
        )
    }
}
