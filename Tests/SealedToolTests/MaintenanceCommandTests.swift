import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@Suite("The tool checks and maintains stores of any program") struct MaintenanceCommandTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.filePath("notes.store") }

    private static let entities = [EntityDescription("Note", attributes: [AttributeDescription("text", .string)])]

    init() throws {
        let context = try StoreFixture.open(folder.file("notes.store"), Self.entities)
        for number in 0..<200 {
            let note = ManagedObject(entity: context.model.entities[0], insertInto: context)
            note["text"] = .text("note \(number) " + String(repeating: "x", count: 200))
        }
        try context.save()
        for note in try context.fetch(FetchRequest(context.model.entities[0]), as: ManagedObject.self).prefix(150) {
            context.delete(note)
        }
        try context.save()
        try context.coordinator.removeAllStores()
    }

    private func noteCount(_ name: String, _ passphrase: String = Tool.passphrase) throws -> Int {
        let context = try StoreFixture.open(folder.file(name), Self.entities, passphrase: passphrase)
        defer { try? context.coordinator.removeAllStores() }
        return try context.count(FetchRequest(context.model.entities[0]))
    }

    private func damage(page: Int) throws {
        var bytes = try Data(contentsOf: folder.file("notes.store"))
        bytes[(page - 1) * 4096 + 500] ^= 1
        try bytes.write(to: folder.file("notes.store"))
    }

    @Test func `check reports a sound store with status 0, and changes nothing`() throws {
        let before = try folder.contents()
        let tool = try Tool.run("check", store)
        #expect(tool.status == 0 && tool.output.isEmpty, "\(tool)")
        #expect(tool.errors.hasPrefix("check: no problems in "))
        #expect(try folder.contents()["notes.store"] == before["notes.store"])
        let json = try Tool.run("check", store, "--json")
        #expect(json.output.contains(#""isSound" : true"#))
    }

    @Test func `check reports damage with status 1`() throws {
        try damage(page: 4)
        let tool = try Tool.run("check", store, "--json")
        #expect(tool.status == 1)
        #expect(tool.output.contains(#""kind" : "damagedPages""#), "\(tool)")
    }

    @Test func `no file takes the number of a closed standard descriptor`() throws {
        let tool = try Tool.start(["query", store, "Note"], shell: "exec >&-").wait()
        #expect(tool.status == 74)
        #expect(tool.errors.hasSuffix("standard output cannot be written: Bad file descriptor\n"), "\(tool.errors)")
        let backup = try Tool.start(["backup", store, folder.filePath("backup")], shell: "exec <&- >&- 2>&-").wait()
        #expect(backup.status == 0)
        #expect(try Tool.run("check", folder.filePath("backup")).status == 0)
    }

    @Test func `an argument that is not UTF-8 names no other file`() throws {
        let before = try folder.contents()
        let name = #"set -- "$@" "$(printf '\377')""#
        let tool = try Tool.start(["backup", store], shell: "cd '\(folder.filePath(""))'; " + name).wait()
        #expect(tool.status == 64)
        #expect(tool.errors.contains("argument 3 is not valid UTF-8"), "\(tool.errors)")
        #expect(try folder.contents() == before)
    }

    @Test func `the key comes from an environment variable, a private file, or a file descriptor`() throws {
        #expect(try Tool.run("check", store, "--key-env", "OTHER", environment: ["OTHER": Tool.passphrase]).status == 0)
        #expect(
            try Tool.run("check", store, "--key-fd", "0", environment: [:], input: Tool.passphrase + "\n").status == 0
        )
        let file = folder.filePath("key.txt")
        try Data("\(Tool.passphrase)\n".utf8).write(to: URL(filePath: file))
        chmod(file, 0o644)
        let refused = try Tool.run("check", store, "--key-file", file, environment: [:])
        #expect(refused.status == 77 && refused.errors.contains("0600"))
        chmod(file, 0o600)
        #expect(try Tool.run("check", store, "--key-file", file, environment: [:]).status == 0)
    }

    @Test func `a key file has one line, whose end is not part of the passphrase`() throws {
        let file = folder.filePath("key.txt")
        for (content, status) in [("\r\n", 0), ("", 0), ("\nmore", 77), ("\n\n", 77)] as [(String, Int32)] {
            try Data((Tool.passphrase + content).utf8).write(to: URL(filePath: file))
            chmod(file, 0o600)
            let result = try Tool.run("check", store, "--key-file", file, environment: [:])
            #expect(result.status == status, "\(content.debugDescription): \(result.errors)")
        }
    }

    @Test func `each failure has its status`() throws {
        #expect(try Tool.run("check", store, environment: ["SEALED_PASSPHRASE": "wrong"]).status == 77)
        #expect(try Tool.run("check", store, environment: [:]).status == 77)
        #expect(try Tool.run("check", folder.filePath("none.store")).status == 66)
        #expect(try Tool.run("check").status == 64)
        #expect(try Tool.run("check", store, "--key-fd", "0", "--key-env", "X").status == 64)
        #expect(try Tool.run("backup", store, store).status == 73)
        try Data((0..<9000).map { UInt8(truncatingIfNeeded: $0) }).write(to: folder.file("other.bin"))
        #expect(try Tool.run("check", folder.filePath("other.bin")).status != 0)
    }

    @Test func `backup, compact and rekey write stores that open`() throws {
        let key = ["NEW": "battery staple"]
        let variables = Tool.environment.merging(key) { $1 }
        let backup = try Tool.run(
            "backup",
            store,
            folder.filePath("backup.store"),
            "--new-key-env",
            "NEW",
            environment: variables
        )
        #expect(backup.status == 0, "\(backup)")
        #expect(try noteCount("backup.store", "battery staple") == 50)
        let dry = try Tool.run("compact", store, "--dry-run")
        #expect(dry.output.contains("are free"))
        let size = try Data(contentsOf: folder.file("notes.store")).count
        let compact = try Tool.run("compact", store)
        #expect(compact.status == 0, "\(compact)")
        #expect(try Data(contentsOf: folder.file("notes.store")).count < size)
        #expect(try noteCount("notes.store") == 50)
        let rekey = try Tool.run("rekey", store, "--new-key-env", "NEW", environment: variables)
        #expect(rekey.status == 0, "\(rekey)")
        #expect(try noteCount("notes.store", "battery staple") == 50)
        let sqlcipher = try run(
            "sqlcipher",
            [store],
            input: "PRAGMA key = 'battery staple'; SELECT count(*) FROM Note;"
        )
        #expect(sqlcipher.output.hasSuffix("50\n"))
    }

    // tool             | test
    //                  | opens the store, saves, leaves a log
    // backup, restore  |
    @Test func `restore puts a backup in the place of a store with a log, unless a program has the store open`() throws
    {
        let backup = folder.filePath("backup.store")
        #expect(try Tool.run("backup", store, backup).status == 0)
        let context = try StoreFixture.open(folder.file("notes.store"), Self.entities)
        ManagedObject(entity: context.model.entities[0], insertInto: context)["text"] = .text("later")
        try context.save()
        let busy = try Tool.run("restore", backup, store)
        #expect(busy.status == 75, "\(busy)")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store + suffix, toPath: folder.filePath("killed.store") + suffix)
        }
        try context.coordinator.removeAllStores()
        #expect(try Tool.run("restore", store, store).status == 73)
        #expect(try Tool.run("restore", folder.filePath("none"), store).status == 66)
        let restored = try Tool.run("restore", backup, folder.filePath("killed.store"))
        #expect(restored.status == 0, "\(restored)")
        #expect(try folder.names() == ["backup.store", "killed.store", "notes.store"])
        #expect(try noteCount("killed.store") == 50)
        #expect(try noteCount("notes.store") == 51)
    }

    @Test func `no command writes to the name of a log`() throws {
        let context = try StoreFixture.open(folder.file("notes.store"), Self.entities)
        ManagedObject(entity: context.model.entities[0], insertInto: context)["text"] = .text("later")
        try context.save()
        let before = try folder.contents()
        for suffix in ["-wal", "-journal"] {
            let target = store + suffix
            for arguments in [
                ["backup", store, target], ["backup", store, target, "--replace"], ["compact", store, target],
                ["salvage", store, target], ["restore", store, target], ["export", store, target, "--to", "json"],
                ["export", store, target, "--to", "csv"], ["export", store, target, "--to", "plaintext-sqlite"],
                ["export", store, target, "--to", "model"],
            ] {
                let tool = try Tool.start(arguments).wait()
                #expect(tool.status == 73, "\(arguments) \(tool)")
            }
        }
        #expect(try folder.names() == before.keys.sorted())
        #expect(try folder.contents()["notes.store-wal"] == before["notes.store-wal"])
        try context.coordinator.removeAllStores()
        #expect(try noteCount("notes.store") == 51)
    }

    @Test func `rekey adds a plaintext header, with which the other commands work`() throws {
        let salt = "000102030405060708090a0b0c0d0e0f"
        let variables = Tool.environment.merging(["NEW": "battery staple"]) { $1 }
        let rekey = try Tool.run("rekey", store, "--new-key-env", "NEW", "--new-salt", salt, environment: variables)
        #expect(rekey.status == 0, "\(rekey)")
        #expect(try Data(contentsOf: folder.file("notes.store")).starts(with: "SQLite format 3\0".utf8))
        let key = ["--key-env", "NEW", "--salt", salt]
        for command in [
            ["check", store], ["compact", store], ["repair", store],
            ["backup", store, folder.filePath("backup.store")],
            ["salvage", store, folder.filePath("salvaged.store")],
        ] {
            let tool = try Tool.start(command + key, environment: variables).wait()
            #expect(tool.status == 0, "\(command) \(tool)")
        }
        let missing = try Tool.run("check", store, "--key-env", "NEW", environment: variables)
        #expect(missing.status == 77 && missing.errors.contains("salt"), "\(missing)")
        #expect(try Tool.run("check", store, "--salt", "00", environment: variables).status == 77)
        for name in ["notes.store", "backup.store", "salvaged.store"] {
            #expect(try Data(contentsOf: folder.file(name)).starts(with: "SQLite format 3\0".utf8), "\(name)")
            let script = """
                PRAGMA key = 'battery staple'; PRAGMA cipher_plaintext_header_size = 32;
                PRAGMA cipher_salt = "x'\(salt)'"; SELECT count(*) FROM Note;
                """
            #expect(try run("sqlcipher", [folder.filePath(name)], input: script).output.hasSuffix("50\n"), "\(name)")
        }
    }

    @Test func `salvage reports the losses, and repair the remaining problems`() throws {
        try damage(page: 6)
        #expect(try Tool.run("repair", store).status != 0)
        let tool = try Tool.run("salvage", store, folder.filePath("new.store"), "--json")
        #expect(tool.status == 0 || tool.status == 1, "\(tool)")
        #expect(tool.output.contains(#""damagedPages" : 1"#))
        #expect(try noteCount("new.store") <= 50)
        let repair = try Tool.run("repair", folder.filePath("new.store"))
        #expect(repair.status == 0, "\(repair)")
        let model = folder.filePath("model.json")
        #expect(try Tool.run("export", folder.filePath("new.store"), model, "--to", "model").status == 0)
        let given = try Tool.run("salvage", store, folder.filePath("given.store"), "--model", model)
        #expect(given.status == tool.status, "\(given)")
        #expect(try Tool.run("salvage", store, folder.filePath("x.store"), "--model", store).status == 64)
        let text = try Tool.run("salvage", store, folder.filePath("text.store"))
        #expect(text.output.hasPrefix("entity"), "\(text)")
    }

    @Test func `a store whose own tables were removed is salvaged with the model of another store`() throws {
        let model = folder.filePath("model.json")
        #expect(try Tool.run("export", store, model, "--to", "model").status == 0)
        let script = "PRAGMA key = '\(Tool.passphrase)'; DROP TABLE _metadata; DROP TABLE _sequence;"
        #expect(try run("sqlcipher", [store], input: script).errors == "")
        let refused = try Tool.run("salvage", store, folder.filePath("new.store"))
        #expect(refused.status == 65 && refused.errors.contains("with the model of the program"), "\(refused)")
        let salvaged = try Tool.run("salvage", store, folder.filePath("new.store"), "--model", model)
        #expect(salvaged.status == 0, "\(salvaged)")
        #expect(try noteCount("new.store") == 50)
    }
}

@Suite("The tool names and removes what is set aside") struct SetAsideCommandTests {
    private let folder = TemporaryFolder()
    private var store: String { folder.filePath("notes.store") }

    private static let note = EntityDescription(
        "Note",
        attributes: [.init("text", .string), .init("mood", .int64, isOptional: true)]
    )
    private static let tag = EntityDescription("Tag", attributes: [.init("name", .string)])

    init() throws {
        let context = try StoreFixture.open(folder.file("notes.store"), [Self.note, Self.tag])
        let note = ManagedObject(entity: context.model.entities[0], insertInto: context)
        (note["text"], note["mood"]) = (.text("a"), .integer(5))
        ManagedObject(entity: context.model.entities[1], insertInto: context)["name"] = .text("sea")
        try context.save()
        try context.coordinator.removeAllStores()
        var less = Self.note
        less.attributes.removeLast()
        try StoreFixture.open(folder.file("notes.store"), [less], allowsMigration: true).coordinator.removeAllStores()
    }

    @Test func `inspect and check name it`() throws {
        let inspected = try Tool.run("inspect", store)
        #expect(inspected.output.contains("Note.mood, int64\n  Tag\n"), "\(inspected)")
        let checked = try Tool.run("check", store)
        #expect(checked.status == 0 && checked.output == "set aside: Note.mood, int64\nset aside: Tag\n", "\(checked)")
        let all = try Tool.run("inspect", store, "--set-aside")
        #expect(all.output.contains("Tag, 1 stored"), "\(all)")
    }

    @Test func `queries and exports read it if that is wanted`() throws {
        #expect(try Tool.run("query", store, "Tag").status != 0)
        #expect(try Tool.run("query", store, "Tag", "--set-aside").output.contains("sea"))
        let file = folder.filePath("notes.jsonl")
        #expect(try Tool.run("export", store, file, "--to", "json", "--set-aside").status == 0)
        let lines = try String(contentsOfFile: file, encoding: .utf8)
        #expect(lines.contains(#""mood":5"#) && lines.contains("sea"), "\(lines)")
    }

    @Test func `compact removes it if that is wanted`() throws {
        #expect(try Tool.run("compact", store).status == 0)
        #expect(try Tool.run("check", store).output.contains("set aside: Tag"))
        #expect(try Tool.run("compact", store, "--remove-set-aside", "--dry-run").status == 64)
        #expect(try Tool.run("compact", store, "--remove-set-aside").status == 0)
        let checked = try Tool.run("check", store)
        #expect(checked.status == 0 && checked.output.isEmpty, "\(checked)")
    }
}
