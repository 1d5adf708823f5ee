import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

struct TransferCommandTests {
    private let folder = TemporaryFolder()

    /// Writes a model, and a file of objects.
    private func prepare(count: Int) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("name", .string), AttributeDescription("data", .data, isOptional: true),
                ],
                uniquenessConstraints: [["name"]]
            )
        ])
        try JSONEncoder().encode(model).write(to: folder.file("model.json"))
        let data = Data(repeating: 7, count: 300).base64EncodedString()
        let lines = (1...count).map {
            "{\"_entity\":\"Item\",\"_id\":\($0),\"name\":\"n\($0)\",\"data\":\"\(data)\"}\n"
        }
        try Data(lines.joined().utf8).write(to: folder.file("in.jsonl"))
    }

    private func importing(_ store: String = "store") -> [String] {
        [
            "import", folder.filePath(store), folder.filePath("in.jsonl"), "--from", "json", "--model",
            folder.filePath("model.json"),
        ]
    }

    /// The number of objects of a store, which is checked.
    private func count(_ name: String) throws -> Int {
        SealedStore.register()
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: folder.file(name),
            options: [SealedStore.keyOption: EncryptionKey.passphrase(Tool.passphrase)]
        )
        let model = try SealedStore.model(of: description)
        let store = try SealedStore.loadMetadata(of: description, for: model)
        defer { try? store.close() }
        #expect(try store.check() == [])
        return try store.execute(CountRequest(FetchRequest(model.entities[0])), with: RequestContext())
    }

    @Test func `objects go into a store and out of it`() throws {
        try prepare(count: 20)
        var result = try Tool.start(importing()).wait()
        #expect(result.status == 0 && result.errors == "import: 20 objects\n", "\(result.errors)")
        #expect(result.output.contains("Item     20"))
        for (format, name) in [
            ("json", "out.jsonl"), ("csv", "out"), ("plaintext-sqlite", "out.db"), ("model", "out.json"),
        ] {
            result = try Tool.run("export", folder.filePath("store"), folder.filePath(name), "--to", format)
            #expect(result.status == 0, "\(format): \(result.errors)")
        }
        #expect(try Data(contentsOf: folder.file("out.jsonl")) == Data(contentsOf: folder.file("in.jsonl")))
        #expect(
            try String(contentsOf: folder.file("out/Item.csv"), encoding: .utf8).hasPrefix("_id,name,data\r\n1,n1,")
        )
        result = try Tool.run(
            "import",
            folder.filePath("second"),
            folder.filePath("out.db"),
            "--from",
            "sqlite",
            "--json"
        )
        #expect(result.status == 0 && result.output.contains("\"inserted\" : 20"), "\(result.errors)")
    }

    @Test func `exit codes distinguish the failures, and no output contains a secret`() throws {
        try prepare(count: 3)
        #expect(try Tool.start(importing()).wait().status == 0)
        func status(
            _ arguments: String...,
            environment: [String: String] = Tool.environment
        ) throws
            -> Int32
        {
            let result = try Tool.start(arguments, environment: environment).wait()
            #expect(!result.errors.contains(Tool.passphrase) && !result.output.contains(Tool.passphrase))
            #expect(result.errors != "")
            return result.status
        }
        let (store, model) = (folder.filePath("store"), folder.filePath("model.json"))
        #expect(try status("export", store, model, "--to", "json") == 73)
        #expect(
            try status("export", store, folder.filePath("x"), "--to", "json", environment: ["SEALED_PASSPHRASE": "x"])
                == 77
        )
        #expect(try status("export", folder.filePath("none"), folder.filePath("x"), "--to", "json") == 66)
        #expect(try status("export", store, folder.filePath("x"), "--to", "other") == 64)
        #expect(try status("import", store, folder.filePath("in.jsonl"), "--from", "json") == 65)
        #expect(try status("import", store, folder.filePath("none"), "--from", "json") == 66)
        #expect(try count("store") == 3)
    }

    @Test func `a passphrase comes from a private file or a descriptor`() throws {
        try prepare(count: 3)
        try Data((Tool.passphrase + "\n").utf8).write(to: folder.file("secret"))
        let path = folder.filePath("secret")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let refused = try Tool.start(importing() + ["--key-file", path], environment: [:]).wait()
        #expect(refused.status == 77 && refused.errors.contains("600"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try Tool.start(importing() + ["--key-file", path], environment: [:]).wait().status == 0)
        let tool = try Tool.start(
            importing("other") + ["--key-fd", "9"],
            environment: [:],
            shell: "exec 9<'\(path)'"
        )
        #expect(try tool.wait().status == 0)
        #expect(try count("other") == 3)
    }

    // Each round kills the tool at a random step; a file under its final name is complete.
    @Test(arguments: ["import", "json", "csv", "plaintext-sqlite"], killCounts(8))
    func `a killed transfer leaves nothing or all`(kind: String, kills: Int) throws {
        let objects = 2_000
        try prepare(count: objects)
        if kind != "import" { #expect(try Tool.start(importing()).wait().status == 0) }
        var generator = SeededGenerator()
        print(generator)
        var steps = 0
        for round in 0..<kills {
            let name = "target\(round)"
            let arguments =
                kind == "import"
                ? importing(name) : ["export", folder.filePath("store"), folder.filePath(name), "--to", kind]
            let tool = try Tool.start(arguments)
            if round == 0 {
                steps = tool.waitForGrowth(of: folder)
                #expect(try tool.wait().status == 0)
            } else {
                tool.waitForGrowth(of: folder, steps: Int.random(in: 0...steps, using: &generator))
                _ = tool.end()
            }
            guard FileManager.default.fileExists(atPath: folder.filePath(name)) else { continue }
            switch kind {
            case "import": #expect(try count(name) == objects)
            case "json": #expect(try Data(contentsOf: folder.file(name)) == Data(contentsOf: folder.file("in.jsonl")))
            case "csv":
                let text = try String(contentsOf: folder.file("\(name)/Item.csv"), encoding: .utf8)
                #expect(text.split(separator: "\r\n").count == objects + 1)
            default:
                let result = try run("sqlite3", [folder.filePath(name)], input: "SELECT count(*) FROM Item;")
                #expect(result.output == "\(objects)\n")
            }
        }
        #expect(try folder.names().filter { !$0.hasPrefix(".") && $0.hasPrefix("target") && $0.contains("-") } == [])
        // Plaintext has no name before its end, on file systems that allow that; the rest goes with the next opening.
        let remains = try folder.names().filter { $0.hasPrefix(".") }
        for name in remains where kind != "import" {
            let content = FileManager.default.enumerator(
                at: folder.file(name),
                includingPropertiesForKeys: [.fileSizeKey]
            )
            for case let file as URL in content ?? .init() {
                #expect(try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0 == 0, "\(file)")
            }
        }
        #expect(try count(kind == "import" ? "target0" : "store") == objects)
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }

    // Each round kills an import into a store with objects at a random step: all of it is there, or nothing.
    @Test(arguments: killCounts(6))
    func `a killed import into a store is one transaction`(kills: Int) throws {
        try prepare(count: 2_000)
        #expect(try Tool.start(importing()).wait().status == 0)
        let lines = (1...2_000).map { "{\"_entity\":\"Item\",\"name\":\"second \($0)\"}\n" }
        var generator = SeededGenerator()
        print(generator)
        var (expected, steps) = (2_000, 0)
        for round in 0..<kills {
            let text = lines.map { $0.replacing("second", with: "round \(round)") }.joined()
            try Data(text.utf8).write(to: folder.file("in.jsonl"))
            let tool = try Tool.start(importing())
            if round == 0 {
                steps = tool.waitForGrowth(of: folder)
                #expect(try tool.wait().status == 0)
            } else {
                tool.waitForGrowth(of: folder, steps: Int.random(in: 0...steps, using: &generator))
                _ = tool.end()
            }
            let found = try count("store")
            #expect(found == expected || found == expected + 2_000)
            expected = found
        }
    }

    @Test(
        .enabled(if: HiddenSecret.isSearchable, "the memory of a sanitizer counts as a file"),
        arguments: ["import", "json", "csv", "plaintext-sqlite"]
    )
    func `a full disk is an error, and leaves nothing`(kind: String) throws {
        try prepare(count: 2_000)
        if kind != "import" { #expect(try Tool.start(importing()).wait().status == 0) }
        let before = try folder.names()
        let arguments =
            kind == "import"
            ? importing("target") : ["export", folder.filePath("store"), folder.filePath("target"), "--to", kind]
        // A file can have 200 blocks of 512 bytes.
        let result = try Tool.start(arguments, shell: "ulimit -f 200").wait()
        #expect([73, 74].contains(result.status), "\(result.errors)")
        #expect(try folder.names().filter { !before.contains($0) && !$0.hasPrefix("store-") } == [])
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP], ["json", "csv", "plaintext-sqlite"])
    func `an export that a signal ends leaves nothing`(signal: Int32, kind: String) throws {
        try prepare(count: 2_000)
        #expect(try Tool.start(importing()).wait().status == 0)
        let before = try folder.names()
        let tool = try Tool.start(["export", folder.filePath("store"), folder.filePath("target"), "--to", kind])
        tool.waitForGrowth(of: folder, steps: 2)
        tool.send(signal)
        let status = try tool.wait().status
        // The export may have ended before the signal, which then ends the process.
        #expect([0, 130, signal].contains(status))
        let names = try folder.names().filter { !before.contains($0) && !$0.hasPrefix("store-") }
        #expect(names == (status == 130 ? [] : ["target"]))
    }

    @Test(arguments: ["json", "csv", "plaintext-sqlite"])
    func `the next export removes what a killed one has left`(kind: String) throws {
        try prepare(count: 2_000)
        #expect(try Tool.start(importing()).wait().status == 0)
        let arguments = ["export", folder.filePath("store"), folder.filePath("target"), "--to", kind]
        let tool = try Tool.start(arguments)
        tool.waitForGrowth(of: folder, steps: 2)
        _ = tool.end()
        let isComplete = FileManager.default.fileExists(atPath: folder.filePath("target"))
        #expect(try Tool.start(arguments).wait().status == (isComplete ? 73 : 0))
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }

    @Test func `a database with a raw key is imported with the options of the source`() throws {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let created = try run(
            "sqlcipher",
            ["-batch", folder.filePath("raw.db")],
            input: "PRAGMA key = \"x'\(digits)'\"; CREATE TABLE t (a); INSERT INTO t VALUES (1), (2);"
        )
        #expect(created.status == 0 && created.errors == "")
        let arguments = ["import", folder.filePath("store"), folder.filePath("raw.db"), "--from", "sqlcipher"]
        let environment = Tool.environment.merging(["RAW": digits]) { $1 }
        let refused = try Tool.start(arguments + ["--source-key-env", "RAW"], environment: environment).wait()
        #expect(refused.status == 77)
        let named = ["--source-key-env", "RAW", "--source-raw-key"]
        let result = try Tool.start(arguments + named, environment: environment).wait()
        #expect(result.status == 0 && result.errors == "import: 2 objects\n", "\(result.errors)")
        try prepare(count: 1)
        #expect(try Tool.start(importing() + named, environment: environment).wait().status == 64)
    }
}
