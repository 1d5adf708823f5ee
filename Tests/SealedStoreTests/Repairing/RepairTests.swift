import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The repair of a store") struct RepairTests {
    private let folder = TemporaryFolder()
    private let coordinator: PersistentStoreCoordinator
    private let store: SealedStore

    /// A model with each storage form of relationships, and with each kind of index.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [.init("name", .string), .init("x", .double), .init("y", .double)],
                relationships: [
                    .init("spouse", to: "Person", .one, inverse: "spouse"),
                    .init("friends", to: "Person", .many, inverse: "friends"),
                    .init("children", to: "Person", .many, inverse: "mother", isOrdered: true),
                    .init("mother", to: "Person", .one, inverse: "children"),
                    .init("places", to: "Place", .many, isOrdered: true),
                ],
                indexes: [
                    .init(["x", "y"], kind: .rtree), .init(["name"], kind: .fullText(FullTextOptions())), .init(["x"]),
                ],
                uniquenessConstraints: [["name"]]
            ),
            EntityDescription(
                "Manager",
                superentity: "Person",
                attributes: [.init("title", .string, isOptional: true)]
            ),
            EntityDescription(
                "Place",
                attributes: [.init("name", .string)],
                relationships: [.init("owner", to: "Person", .one, isOptional: false)]
            ),
        ])
    }

    init() throws {
        SealedStore.register()
        let model = try Self.model()
        coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: folder.file("people.store"),
                options: [SealedStore.keyOption: Library.key]
            )
        )
        store = try #require(try coordinator.store(for: model.entitiesByName["Person"]!).store as? SealedStore)
        let context = ManagedObjectContext(coordinator: coordinator)
        func make(_ entity: String, _ name: String) -> ManagedObject {
            let object = ManagedObject(entity: model.entitiesByName[entity]!, insertInto: context)
            object["name"] = .text(name)
            return object
        }
        // The primary keys are 1, 2, 3 and 4.
        let people = [make("Person", "a"), make("Person", "b"), make("Person", "c"), make("Manager", "d")]
        for person in people {
            person["x"] = .real(1)
            person["y"] = .real(2)
        }
        people[0].setDestination(people[1], forRelationship: "spouse")
        people[0].setMembers([people[1], people[2]], forRelationship: "friends")
        people[0].setMembers([people[2], people[3]], forRelationship: "children")
        let places = [make("Place", "x"), make("Place", "y")]
        for place in places { place.setDestination(people[0], forRelationship: "owner") }
        people[0].setMembers(places, forRelationship: "places")
        try context.save()
    }

    private func run(_ sql: String) throws { try store.opened.database.write { try $0.execute(sql) } }

    private func integers(_ sql: String) throws -> [Int64?] {
        try store.opened.database.read { connection in
            try connection.withStatement(sql) { statement in
                var values: [Int64?] = []
                while try statement.step() { values.append(statement.isNull(at: 0) ? nil : statement.integer(at: 0)) }
                return values
            }
        }
    }

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
            report.repaired.map(\.kind) == [.exhaustedSequence, .indexMismatch]
                || report.repaired.map(\.kind) == [.exhaustedSequence, .indexMismatch, .indexMismatch],
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
        try coordinator.removeAllStores()
        let url = folder.file("people.store")
        var bytes = try Data(contentsOf: url)
        bytes[5 * 4096 + 123] ^= 0x80
        try bytes.write(to: url)
        var description = store.description
        description.options[SealedStore.keyOption] = Library.key
        try coordinator.addPersistentStore(description)
        let opened = try #require(
            try coordinator.store(for: coordinator.model.entitiesByName["Person"]!).store as? SealedStore
        )
        let report = try opened.repair([.derivedData, .references])
        #expect(report.repaired == [])
        #expect(report.check.problems == [StoreProblem(.damagedPages, count: 1, firstKey: 6)])
    }
}
