import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Files that do not open because another program altered their schema.
@Suite("The repair of an altered schema") struct SchemaRepairTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("people.store") }
    private let key: EncryptionKey

    init() throws { key = try .raw(Array(1...32), salt: Array(1...16)) }

    /// A store with each kind of index and a uniqueness constraint.
    ///
    /// - Parameter sql: The statements of another program.
    private func write(_ sql: String) throws {
        let people = try PeopleStore(key: key) { person, _ in
            person.attributes += [.init("x", .double), .init("y", .double)]
            person.indexes = [
                .init(["x", "y"], kind: .rtree), .init(["name"], kind: .fullText(FullTextOptions())), .init(["x"]),
            ]
            person.uniquenessConstraints = [["name"]]
        } complete: { people, _ in
            for person in people {
                person["x"] = .real(1)
                person["y"] = .real(2)
            }
        }
        try people.run(sql)
        try people.coordinator.removeAllStores()
        try FileManager.default.copyItem(at: people.url, to: url)
    }

    private func statements() throws -> [String] {
        var statements: [String] = []
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            isReadOnly: true,
            options: [SealedStore.keyOption: key]
        )
        try StoreFile(description).examine { connection in
            try connection.withStatement("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { row in
                while try row.step() { statements.append(row.string(at: 0)) }
            }
        }
        return statements
    }

    static let repairable: [(objects: [String], sql: String)] = [
        (["_index_Person_spouse"], #"DROP INDEX "_index_Person_spouse""#),
        (["_unique_Person_name"], #"DROP INDEX "_unique_Person_name""#),
        (
            ["_index_Person_x"],
            #"DROP INDEX "_index_Person_x"; CREATE INDEX "_index_Person_x" ON "Person" ("y")"#
        ),
        (
            ["_index_Person_spouse", "_unique_Person_name"],
            #"""
            DROP INDEX "_unique_Person_name"; DROP INDEX "_index_Person_spouse"; \#
            CREATE INDEX "_index_Person_spouse" ON "Person" ("mother"); CREATE UNIQUE INDEX "u" ON "Person" ("_id")
            """#
        ),
        (["_rtree_Person_x_y_delete"], #"DROP TRIGGER "_rtree_Person_x_y_delete""#),
        (
            ["_rtree_Person_x_y", "_rtree_Person_x_y_delete", "_rtree_Person_x_y_insert", "_rtree_Person_x_y_update"],
            #"""
            DROP TRIGGER "_rtree_Person_x_y_insert"; DROP TRIGGER "_rtree_Person_x_y_update"; \#
            DROP TRIGGER "_rtree_Person_x_y_delete"; DROP TABLE "_rtree_Person_x_y"
            """#
        ),
        (
            ["_fulltext_Person_name", "_fulltext_Person_name_insert"],
            #"DROP TRIGGER "_fulltext_Person_name_insert"; DROP TABLE "_fulltext_Person_name""#
        ),
        (
            ["t", "v"],
            #"""
            CREATE VIEW "v" AS SELECT * FROM "Person"; \#
            CREATE TRIGGER "t" INSTEAD OF INSERT ON "v" BEGIN DELETE FROM "Person"; END
            """#
        ),
        (["t"], #"CREATE TRIGGER "t" AFTER INSERT ON "_rtree_Person_x_y_node" BEGIN DELETE FROM "Person"; END"#),
    ]

    @Test(arguments: repairable.indices)
    func `missing indexes are made again, and foreign objects are removed`(index: Int) throws {
        let (objects, sql) = Self.repairable[index]
        try write("")
        let expected = try statements()
        try FileManager.default.removeItem(at: url)
        do {
            try write(sql)
        } catch {
            // SQLite's defensive mode refuses some statements: the file cannot be altered so.
            return
        }
        #expect(!(try SealedStore.check(url, key: key).isSound))
        let progress = Progress(totalUnitCount: 1)
        let report = try SealedStore.repair(url, key: key, progress: progress)
        #expect(report.check.problems == [])
        let repaired = report.repaired.compactMap { if case .foreignSchema(let name) = $0.kind { name } else { nil } }
        #expect(Set(objects).isSubset(of: repaired), "\(repaired)")
        #expect(Set(try statements()) == Set(expected))
        #expect(progress.isFinished)
    }

    @Test func `a schema whose tables are altered is refused, and the file stays as it is`() throws {
        for sql in [
            #"CREATE TABLE "x" (a)"#, #"ALTER TABLE "Place" ADD COLUMN "more" TEXT"#, #"DROP TABLE "_Person_places""#,
            #"DROP INDEX "_index_Person_spouse"; DROP TABLE "Place"; CREATE VIEW "Place" AS SELECT 1"#,
        ] {
            try? FileManager.default.removeItem(at: url)
            try write(sql)
            let before = try Data(contentsOf: url)
            #expect(throws: SealedStoreError.self, "\(sql)") { try SealedStore.repair(url, key: key) }
            #expect(try Data(contentsOf: url) == before)
        }
    }

    @Test func `duplicates keep a unique index from being made`() throws {
        try write(
            #"DROP INDEX "_unique_Person_name"; UPDATE "Person" SET "name" = 'a' WHERE "_id" = 2"#
        )
        let before = try Data(contentsOf: url)
        #expect(throws: DatabaseError.self) { try SealedStore.repair(url, key: key) }
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `nothing is repaired in a file with damaged pages`() throws {
        try write(#"DROP INDEX "_index_Person_spouse""#)
        var bytes = try Data(contentsOf: url)
        for page in stride(from: 0, to: bytes.count / 4096, by: 7) {
            bytes[page * 4096 + 2000] ^= 1
            try bytes.write(to: url)
            let report = try SealedStore.repair(url, key: key)
            #expect(report.repaired == [] && report.check.problems.map(\.kind) == [.damagedPages], "page \(page)")
            #expect(try Data(contentsOf: url) == bytes)
            bytes[page * 4096 + 2000] ^= 1
        }
    }

    @Test func `options without derived data leave the schema as it is`() throws {
        try write(#"DROP INDEX "_index_Person_spouse""#)
        #expect(throws: SealedStoreError.foreignSchema(object: "_index_Person_spouse")) {
            try SealedStore.repair(url, key: key, .references)
        }
    }
}
