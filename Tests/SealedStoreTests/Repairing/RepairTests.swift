import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The repair of a store") struct RepairTests {
    private let people: PeopleStore
    private var coordinator: PersistentStoreCoordinator { people.coordinator }
    private var store: SealedStore { people.store }

    /// With each kind of index.
    init() throws {
        people = try PeopleStore { person, place in
            person.attributes += [.init("x", .double), .init("y", .double)]
            person.indexes = [
                .init(["x", "y"], kind: .rtree), .init(["name"], kind: .fullText(FullTextOptions())), .init(["x"]),
            ]
            person.uniquenessConstraints = [["name"]]
            place.relationships = [.init("owner", to: "Person", .one, isOptional: false)]
        } complete: { people, places in
            for person in people {
                person["x"] = .real(1)
                person["y"] = .real(2)
            }
            for place in places { place.setDestination(people[0], forRelationship: "owner") }
        }
    }

    private func run(_ sql: String) throws { try people.run(sql) }

    private func integers(_ sql: String) throws -> [Int64?] { try people.integers(sql) }

    @Test func `a sound store stays as it is`() throws {
        let report = try store.repair([.derivedData, .references])
        #expect(report.repaired == [] && report.check.isSound)
        #expect(report.check.pageCount > 10)
    }

    @Test func `an R-tree, a full-text index and a sequence are rebuilt`() throws {
        try run(
            #"""
            DELETE FROM "_rtree_Person_x_y" WHERE id = 2; \#
            INSERT INTO "_fulltext_Person_name" ("_fulltext_Person_name", rowid, c0) VALUES ('delete', 3, 'c'); \#
            INSERT INTO "_fulltext_Person_name" (rowid, c0) VALUES (3, 'other'); \#
            UPDATE "_sequence" SET "next" = 1 WHERE "entity" = 'Place'
            """#
        )
        let report = try store.repair()
        #expect(
            report.repaired.map(\.kind) == [.indexMismatch, .exhaustedSequence]
                || report.repaired.map(\.kind) == [.indexMismatch, .exhaustedSequence, .indexMismatch],
            "\(report.repaired)"
        )
        // The words are compared once everything else is sound.
        #expect(try store.repair().check.problems == [])
        #expect(try integers(#"SELECT rowid FROM "_fulltext_Person_name" WHERE c0 MATCH 'c'"#) == [3])
        #expect(try integers(#"SELECT id FROM "_rtree_Person_x_y" ORDER BY id"#) == [1, 2, 3, 4])
    }

    @Test(arguments: [
        (
            #"UPDATE "Person" SET "spouse" = 77 WHERE "_id" = 1"#,
            [StoreProblem.Kind.danglingReference, .inverseMismatch]
        ),
        (#"UPDATE "Person" SET "mother" = 77 WHERE "_id" = 3"#, [.danglingReference]),
        (#"UPDATE "Person" SET "spouse" = NULL WHERE "_id" = 2"#, [.inverseMismatch]),
        (#"UPDATE "Person" SET "title" = 'x' WHERE "_id" = 2"#, [.strayValue]),
        (#"UPDATE "Person" SET "_version" = 0 WHERE "_id" = 2"#, [.invalidVersion]),
        (#"UPDATE "Person" SET "_position_children" = 5 WHERE "mother" = 1"#, [.invalidOrder]),
        (#"DELETE FROM "_Person_friends" WHERE source = 2"#, [.inverseMismatch]),
        (
            #"INSERT INTO "_Person_friends" (source, target) VALUES (2, 55), (55, 2)"#,
            [.danglingOwner, .danglingReference]
        ),
        (#"INSERT INTO "_Person_places" (source, target) VALUES (1, 55)"#, [.danglingReference]),
        (#"UPDATE "_Person_places" SET target_position = -1"#, [.invalidOrder]),
    ])
    func `violations of a rule are removed, and the store is sound afterwards`(
        sql: String,
        kinds: [StoreProblem.Kind]
    ) throws {
        try run(sql)
        let problems = try store.check()
        #expect(!problems.isEmpty && problems.allSatisfy(\.isRepairable))
        let untouched = try store.repair()
        if kinds != [.invalidVersion] { #expect(untouched.check.problems == problems, "references need the option") }
        let report = try store.repair([.derivedData, .references])
        if kinds != [.invalidVersion] { #expect(report.repaired.map(\.kind) == kinds) }
        #expect(report.check.problems == [])
    }

    @Test func `damage within a full-text index and an R-tree is a difference from the objects, and is repaired`()
        throws
    {
        let script = """
            .dbconfig defensive off
            \(EncryptionKey.statementOfTests)
            UPDATE "_fulltext_Person_name_data" SET block = zeroblob(length(block)) WHERE id > 10;
            DELETE FROM "_rtree_Person_x_y_rowid" WHERE rowid = 2;
            """
        let opened = try people.reopened {
            _ = try TestSupport.run("sqlcipher", [people.url.path], input: script)
        }
        let problems = try opened.check()
        #expect(problems.map(\.kind) == [.indexMismatch, .indexMismatch], "\(problems)")
        #expect(Set(problems.map(\.property)) == ["name", "x+y"], "\(problems)")
        #expect(problems.filter(\.isRepairable).count == 2)
        let report = try opened.repair()
        #expect(report.repaired.count == 2 && report.check.problems == [], "\(report)")
    }

    @Test func `a row that an index lacks cannot be changed before the repair, and other rows can`() throws {
        let script = """
            .dbconfig defensive off
            \(EncryptionKey.statementOfTests)
            CREATE TEMP TABLE kept AS SELECT * FROM sqlite_schema WHERE name = '_index_Person_x';
            PRAGMA writable_schema = ON;
            DELETE FROM sqlite_schema WHERE name = '_index_Person_x';
            PRAGMA writable_schema = RESET;
            UPDATE "Person" SET "x" = 8 WHERE "_id" = 2;
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_schema SELECT * FROM kept;
            PRAGMA writable_schema = RESET;
            """
        let opened = try people.reopened {
            _ = try TestSupport.run("sqlcipher", [people.url.path], input: script)
        }
        let other = PersistentStoreCoordinator(model: coordinator.model)
        try other.addPersistentStore(PeopleStore.description(people.url))
        func change(_ key: Int, _ database: Database) throws {
            try database.write { try $0.execute(#"UPDATE "Person" SET "x" = 9 WHERE "_id" = \#(key)"#) }
        }
        let databases = [opened.opened.database, other.sealedStores[0].opened.database]
        for database in databases {
            #expect(throws: DatabaseError.damagedIndex(path: people.url.path)) { try change(2, database) }
            for database in databases { try change(3, database) }
        }
        #expect(try opened.check().map(\.kind) == [.damage("row 2 missing from index _index_Person_x")])
        #expect(try opened.repair().check.problems == [])
        for database in databases { try change(2, database) }
        #expect(try opened.check() == [])
    }

    @Test(arguments: [
        // FTS5 cannot open the index, not even to drop it.
        (#"UPDATE "_fulltext_Person_name_config" SET v = 0 WHERE k = 'version'"#, "name"),
        (#"DELETE FROM "_fulltext_Person_name_data" WHERE id < 11"#, "name"),
        (#"UPDATE "_rtree_Person_x_y_node" SET data = zeroblob(3)"#, "x+y"),
        (#"UPDATE "_rtree_Person_x_y_node" SET data = zeroblob(length(data))"#, "x+y"),
        (#"DELETE FROM "_rtree_Person_x_y_node""#, "x+y"),
    ])
    func `an index that cannot be read is damaged, and the store is not`(_ statement: String, _ property: String) throws
    {
        let script = """
            .dbconfig defensive off
            \(EncryptionKey.statementOfTests)
            \(statement);
            """
        let opened = try people.reopened {
            _ = try TestSupport.run("sqlcipher", [people.url.path], input: script)
        }
        let problems = try opened.check()
        #expect(problems.map(\.kind) == [.indexMismatch] && problems.first?.property == property, "\(problems)")
        let copy = people.folder.file("copy.store")
        let path = people.url.path
        #expect(throws: DatabaseError.damagedIndex(path: path)) { try opened.backUp(to: copy) }
        // Tables can be read, and a search or a save that needs the index says which one is damaged.
        #expect(try opened.opened.database.read { try $0.withStatement("SELECT 1 FROM \"Person\"") { try $0.step() } })
        let report = try opened.repair()
        #expect(report.repaired.map(\.kind) == [.indexMismatch] && report.check.problems == [], "\(report)")
        try opened.backUp(to: copy)
        let ids = try opened.opened.database.read { connection in
            try connection.withStatement(
                #"""
                SELECT (SELECT count(*) FROM "_fulltext_Person_name" WHERE "_fulltext_Person_name" MATCH 'c'), \#
                (SELECT count(*) FROM "_rtree_Person_x_y")
                """#
            ) { try $0.step() ? [$0.integer(at: 0), $0.integer(at: 1)] : [] }
        }
        #expect(ids == [1, 4])
    }

    @Test func `a reference that nothing contradicts is completed, not cut`() throws {
        try run(#"UPDATE "Person" SET "spouse" = NULL WHERE "_id" = 2"#)
        let report = try store.repair([.references])
        #expect(report.repaired.map(\.kind) == [.inverseMismatch] && report.check.isSound)
        #expect(try integers(#"SELECT "spouse" FROM "Person" WHERE "_id" IN (1, 2) ORDER BY "_id""#) == [2, 1])
        // Two references to the same object contradict each other.
        try run(#"UPDATE "Person" SET "spouse" = 3 WHERE "_id" IN (1, 2)"#)
        try store.repair([.references])
        #expect(try integers(#"SELECT "spouse" FROM "Person" WHERE "_id" < 4 ORDER BY "_id""#) == [nil, nil, nil])
    }

    @Test func `a repaired order keeps the order of the positions`() throws {
        try run(#"UPDATE "Person" SET "_position_children" = CASE "_id" WHEN 3 THEN 9 ELSE -4 END WHERE "mother" = 1"#)
        try store.repair([.references])
        #expect(
            try integers(#"SELECT "_position_children" FROM "Person" WHERE "_id" IN (3, 4) ORDER BY "_id""#) == [1, 0]
        )
    }

    @Test func `a required reference to a missing object stays, and is named`() throws {
        try run(#"UPDATE "Place" SET "owner" = 77 WHERE "_id" = 1"#)
        let report = try store.repair([.derivedData, .references])
        #expect(
            report.check.problems == [
                StoreProblem(.danglingReference, entity: "Place", property: "owner", count: 1, firstKey: 1)
            ]
        )
    }

    @Test func `a cut reference is a conflict for a context with an older version`() throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        let person = try #require(
            try context.fetch(FetchRequest(coordinator.model.entitiesByName["Person"]!), as: ManagedObject.self)
                .first { $0.managedObjectID.key == 3 }
        )
        #expect(person["name"] == .text("c"))
        try run(#"UPDATE "Person" SET "mother" = 77 WHERE "_id" = 3"#)
        try store.repair([.references])
        person["name"] = .text("renamed")
        #expect(throws: ObjectGraphError.self) { try context.save() }
        #expect(try store.check() == [])
    }

    @Test func `nothing is repaired in a file with damaged pages`() throws {
        try run(#"UPDATE "Person" SET "mother" = 77 WHERE "_id" = 3"#)
        let opened = try people.reopened { try people.damage { _ in 5 * 4096 + 123 } }
        let report = try opened.repair([.derivedData, .references])
        #expect(report.repaired == [])
        #expect(report.check.problems == [StoreProblem(.damagedPages, count: 1, firstKey: 6)])
    }
}
