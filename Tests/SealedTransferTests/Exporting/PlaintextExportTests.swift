import Foundation
import ObjectGraph
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
}
