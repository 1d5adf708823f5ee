import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore
import TestSupport
import Testing

@testable import SealedTransfer

struct PlaintextExportTests {
    private let folder = TemporaryFolder()

    @Test func `any tool reads the exported tables`() throws {
        let store = try TestStore(folder.file("store"), Harbour.model())
        let ark = store.insert(
            "Ferry",
            [
                "name": .text("Ark"), "uint64": .integer(-1), "date": .real(0.5),
                "decimal": Decimal(string: "1.5")!.storedValue,
                "data": .blob(Data([0, 1])), "bool": .integer(1), "line": .text("A"),
                "uuid": .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!),
            ]
        )
        let persons = ["Ann", "Bob"].map { store.insert("Person", ["name": .text($0)]) }
        ark.setMembers(persons.reversed(), for: "passengers")
        persons[1].setMembers([persons[0]], for: "children")
        ark.set(persons[0], for: "captain")
        try store.context.save()
        try store.close()

        let file = folder.file("plain.db")
        try StoreExport(from: folder.file("store"), key: Harbour.key).exportPlaintext(to: file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let result = try run(
            "sqlite3",
            [file.path],
            input: """
                PRAGMA integrity_check; PRAGMA foreign_key_check;
                SELECT _entity, name, uint64, date, decimal, hex(data), bool, line, uuid FROM Vessel;
                SELECT p.name, pp.source_position FROM Person_bookings AS pp JOIN Person AS p ON p._id = pp.source
                    ORDER BY source_position;
                SELECT c.name FROM Vessel JOIN Person AS c ON c._id = captain;
                SELECT name, _position_children FROM Person WHERE parent IS NOT NULL;
                """
        )
        #expect(result.errors == "")
        #expect(
            result.output == """
                ok
                Ferry|Ark|18446744073709551615|2001-01-01T00:00:00.5Z|1.5|0001|1|A|E621E1F8-C36C-495A-93FC-0C247A3E6E5F
                Bob|0
                Ann|1
                Ann
                Ann|0

                """
        )
    }

    @Test func `random stores are exported whole`() throws {
        var generator = SeededGenerator()
        print(generator)
        let store = try TestStore(folder.file("store"), Harbour.model())
        try Harbour.fill(store, count: 60, &generator)
        let file = folder.file("plain.db")
        try StoreExport(from: folder.file("store"), key: Harbour.key).exportPlaintext(to: file)
        let counts = try run(
            "sqlite3",
            [file.path],
            input:
                "PRAGMA integrity_check; PRAGMA foreign_key_check; SELECT count(*) FROM Vessel; SELECT count(*) FROM Person;"
        )
        #expect(counts.output == "ok\n60\n60\n")
        // The export can be imported as a database.
        let report = try StoreImport(into: folder.file("again"), key: Harbour.key).importDatabase(from: file)
        #expect(report.entities.first { $0.entity == "Vessel" }?.inserted == 60)
    }

    @Test func `existing files stay, and entities can be chosen`() throws {
        let store = try TestStore(folder.file("store"), Harbour.model())
        store.insert("Flag", ["code": .text("x")])
        store.insert("Person", ["name": .text("y")])
        try store.context.save()
        try Data("mine".utf8).write(to: folder.file("plain.db"))
        let export = StoreExport(from: folder.file("store"), key: Harbour.key, entityNames: ["Flag"])
        #expect(throws: (any Error).self) { try export.exportPlaintext(to: folder.file("plain.db")) }
        #expect(try Data(contentsOf: folder.file("plain.db")) == Data("mine".utf8))
        try export.exportPlaintext(to: folder.file("flags.db"))
        let tables = try run("sqlite3", [folder.filePath("flags.db")], input: "SELECT name FROM sqlite_schema;")
        #expect(tables.output == "Flag\n")
        try export.exportCSV(to: folder.file("csv"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.filePath("csv")) == ["Flag.csv"])
    }

    @Test func `indexes do not take the names of tables`() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "index_1",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("peers", to: "index_1", .many, inverse: "others"),
                    RelationshipDescription("others", to: "index_1", .many, inverse: "peers"),
                ],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription("INDEX_1_peers_reverse", attributes: [AttributeDescription("code", .string)]),
            EntityDescription("index_1_others_reverse", attributes: [AttributeDescription("code", .string)]),
        ])
        let store = try TestStore(folder.file("store"), model)
        store.insert("index_1", ["name": .text("x")])
        try store.context.save()
        try StoreExport(from: folder.file("store"), key: Harbour.key).exportPlaintext(to: folder.file("plain.db"))
        let count = try run("sqlite3", [folder.filePath("plain.db")], input: "SELECT count(*) FROM index_1;")
        #expect(count.output == "1\n")
    }

    @Test func `pages of rows are limited by their bytes`() throws {
        let store = try TestStore(folder.file("store"), Harbour.model())
        for index in 0..<20 {
            store.insert("Person", ["name": .text(String(repeating: "é", count: index == 5 ? 100_000 : 10))])
        }
        try store.context.save()
        let entity = try #require(store.context.model.entitiesByName["Person"])
        for case let store as SealedStore in store.coordinator.persistentStores {
            func keys(after key: Int64, _ limit: Int, _ byteLimit: Int) throws -> [Int64] {
                try store.exporting {
                    try $0.rows(of: entity, after: key, limit: limit, byteLimit: byteLimit).map(\.key)
                }
            }
            #expect(try keys(after: 0, 256, 1_000) == [1, 2, 3, 4, 5, 6])
            #expect(try keys(after: 5, 256, 100) == [6])
            #expect(try keys(after: 6, 3, 1_000) == [7, 8, 9])
            #expect(try keys(after: 20, 3, 1_000) == [])
        }
    }

    @Test(arguments: ["json", "csv", "plaintext"])
    func `an export removes what ended processes left without encryption, and nothing of others`(kind: String) throws {
        let store = try TestStore(folder.file("store"), Harbour.model())
        store.insert("Flag", ["code": .text("x")])
        try store.context.save()
        for name in ["1eff", "a5ed"] {
            let path = folder.filePath(".target.\(name).creating")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            try Data("plaintext".utf8).write(to: URL(filePath: path).appending(path: "content"))
        }
        let descriptor = open(folder.filePath(".target.a5ed.creating"), O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        let export = StoreExport(from: folder.file("store"), key: Harbour.key)
        func run() throws {
            switch kind {
            case "json": try export.exportJSONLines(to: folder.file("target"))
            case "csv": try export.exportCSV(to: folder.file("target"))
            default: try export.exportPlaintext(to: folder.file("target"))
            }
        }
        try run()
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [".target.a5ed.creating"])
        // The name is taken: the remains go nevertheless.
        flock(descriptor, LOCK_UN)
        #expect(throws: DatabaseError.self) { try run() }
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }
}
