import Foundation
import TestSupport
import Testing

/// The question for a passphrase in a pseudo-terminal.
@Suite struct PassphrasePromptTests {
    private let folder = TemporaryFolder()

    private func tool() throws -> TerminalProcess {
        try TerminalProcess("sealed", ["check", folder.filePath("none.store")])
    }

    @Test(arguments: [SIGHUP, SIGINT, SIGTERM])
    func `a signal ends the question, and the terminal has its echo again`(signal: Int32) throws {
        let tool = try tool()
        _ = try tool.waitFor("Passphrase of")
        #expect(!tool.echoes)
        tool.send(signal)
        #expect(try tool.waitUntilExit() == signal)
        #expect(tool.echoes)
    }

    #if os(Linux)
        @Test func `the tool leaves no core dump`() throws {
            let tool = try tool()
            _ = try tool.waitFor("Passphrase of")
            let limits = try String(contentsOfFile: "/proc/\(tool.identifier)/limits", encoding: .utf8)
            let limit = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
            // The limit and its upper bound.
            #expect(limit?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
            // The files of a process that cannot be dumped belong to the superuser.
            let files = try FileManager.default.attributesOfItem(atPath: "/proc/\(tool.identifier)/mem")
            #expect(files[.ownerAccountID] as? Int == 0)
            tool.send(SIGTERM)
            #expect(try tool.waitUntilExit() == SIGTERM)
        }
    #endif

    // tool                           | test
    // asks, without echo             |
    //                                | stops the tool
    // restores the echo, stops       | continues the tool
    // asks again, without echo       | types
    @Test func `a tool that was stopped asks again`() throws {
        let tool = try tool()
        _ = try tool.waitFor("Passphrase of")
        tool.send(SIGTSTP)
        _ = try tool.waitFor("Passphrase of", sending: SIGCONT)
        #expect(!tool.echoes)
        tool.type("secret")
        let lines = try tool.waitFor("Error")
        #expect(!lines.joined().contains("secret"))
        #expect(try tool.waitUntilExit() == 66)
        #expect(tool.echoes)
    }
}
