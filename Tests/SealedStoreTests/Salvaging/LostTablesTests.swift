import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Salvages of stores whose pages are sound, and whose own tables are missing or those of another program.
@Suite struct LostTablesTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("damaged.store") }
    private var new: URL { folder.file("new.store") }

    private static let entities = [
        EntityDescription(
            "Animal",
            attributes: [.init("name", .string)],
            relationships: [
                .init("home", to: "Place", .one, inverse: "animals"),
                .init("friends", to: "Animal", .many, inverse: "friends"),
            ],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription("Cat", superentity: "Animal", attributes: [.init("lives", .int64)]),
        EntityDescription("Dog", superentity: "Animal", attributes: [.init("breed", .string)]),
        EntityDescription(
            "Place",
            attributes: [.init("weight", .double), .init("title", .string, isOptional: true)],
            relationships: [.init("animals", to: "Animal", .many, inverse: "home")],
            indexes: [.init(["title"])]
        ),
    ]
    private static let other = [EntityDescription("Invoice", attributes: [.init("number", .int64)])]
    private static let options: [String: any Sendable] = [
        SealedStore.historyOption: HistoryOptions(identifiesObjects: true)
    ]

    private func salvage(_ entities: [EntityDescription]? = nil) throws -> SalvageReport {
        try SealedStore.salvage(
            url,
            key: .raw(Array(repeating: 5, count: 32)),
            to: new,
            model: entities.map { try ManagedObjectModel(entities: $0) }
        )
    }

    /// Writes a store, and changes it by SQL behind its back.
    ///
    /// - Returns: The content, and the largest number of a transaction.
    private func fill(_ sql: String) throws -> (content: [String], lastTransaction: Int64) {
        let store = try MigratingStore(url, Self.entities, options: Self.options)
        let place = store.insert("Place", ["weight": .real(-0.5), "title": .text("home")])
        let animals = (0..<60).map { number in
            let name: [String: Value] = ["name": .text("animal \(number)")]
            switch number % 3 {
            case 0: return store.insert("Animal", name)
            case 1: return store.insert("Cat", name.merging(["lives": .integer(9)]) { first, _ in first })
            default: return store.insert("Dog", name.merging(["breed": .text("poodle")]) { first, _ in first })
            }
        }
        for animal in animals { animal.setDestination(place, forRelationship: "home") }
        animals[0].setMembers(Array(animals[1...5]), forRelationship: "friends")
        try store.context.save()
        let content = try store.content()
        let last = try store.coordinator.history().last?.number ?? 0
        try store.store().opened.database.write { connection in
            try connection.execute(sql == Self.dropIndexes ? Self.dropIndexes(on: connection) : sql)
        }
        try store.close()
        return (content, last)
    }

    /// Checks that the new store has the content, and continues the keys and the history.
    private func expectAll(_ known: (content: [String], lastTransaction: Int64), _ report: SalvageReport) throws {
        #expect(report.entities.map(\.recoveredCount) == [20, 20, 20, 1], "\(report)")
        #expect(report.entities.allSatisfy { $0.lostCount == 0 && $0.cutReferences.isEmpty }, "\(report)")
        #expect(report.check.problems == [])
        let salvaged = try MigratingStore(new, Self.entities, options: Self.options)
        #expect(try salvaged.content() == known.content)
        let animal = salvaged.insert("Animal", ["name": .text("new")])
        try salvaged.context.save()
        #expect(animal.managedObjectID.key > 60)
        #expect(try salvaged.coordinator.history().last?.number ?? 0 > known.lastTransaction)
        #expect(try salvaged.problems() == [])
        try salvaged.close()
    }

    private static let dropIndexes = "DROP INDEX"

    /// The statements that remove all indexes that statements have made.
    private static func dropIndexes(on connection: Connection) throws -> String {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL"
        return try connection.withStatement(sql) { row in
            var statements = ""
            while try row.step() { statements += "DROP INDEX \"\(row.string(at: 0))\";" }
            return statements
        }
    }

    private static let dropMetadata = #"DROP TABLE "_metadata";"#
    private static let dropSequence = #"DROP TABLE "_sequence";"#
    private static let dropHistory = #"DROP TABLE "_history"; DROP TABLE "_identity";"#

    @Test(arguments: [
        dropMetadata, dropMetadata + dropSequence, dropMetadata + dropSequence + dropHistory,
        #"DELETE FROM "_metadata";"#, #"DELETE FROM "_metadata";"# + dropHistory,
        #"UPDATE "_metadata" SET "value" = '';"#, #"DELETE FROM "_metadata" WHERE "key" = 'model';"#,
        dropMetadata + #"CREATE TABLE "_metadata" (name TEXT, price REAL); INSERT INTO "_metadata" VALUES ('a', 1);"#,
        dropMetadata + #"CREATE VIEW "_metadata" AS SELECT 'model' AS "key", '' AS "value";"#,
    ])
    func `all objects of a store without its metadata are recovered with the model of the program`(
        sql: String
    ) throws {
        let known = try fill(sql)
        #expect(throws: SalvageError.modelLost) { try salvage() }
        try expectAll(known, salvage(Self.entities))
    }

    @Test(arguments: [dropSequence, dropHistory, dropSequence + dropHistory, dropIndexes])
    func `a store without a sequence, a history or an index is recovered with the model in the file`(
        sql: String
    ) throws {
        try expectAll(fill(sql), salvage())
    }

    @Test func `metadata of another store do not hide the objects`() throws {
        let foreign = try MigratingStore(folder.file("other.store"), Self.other)
        let rows = try foreign.store().opened.database.read { connection in
            try connection.withStatement(#"SELECT "key", "value" FROM "_metadata""#) { row in
                var rows: [String: String] = [:]
                while try row.step() { rows[row.string(at: 0)] = row.string(at: 1) }
                return rows
            }
        }
        try foreign.close()
        let values = rows.map { "('\($0)', '\($1.replacing("'", with: "''"))')" }.joined(separator: ", ")
        let known = try fill(#"DELETE FROM "_metadata"; INSERT INTO "_metadata" VALUES \#(values);"#)
        try expectAll(known, salvage(Self.entities))
    }

    @Test func `a database of another program is no store, although a model is given`() throws {
        _ = try fill(Self.dropMetadata + "PRAGMA application_id = 0;")
        #expect(throws: SalvageError.notAStore) { try salvage(Self.entities) }
    }
}
