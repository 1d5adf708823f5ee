import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The check of a store finds its problems") struct StoreCheckTests {
    private let folder = TemporaryFolder()
    private let coordinator: PersistentStoreCoordinator
    private let store: SealedStore

    /// A model with each storage form of relationships: 1:1, ordered 1:n, n:m, symmetric n:m, one-way.
    private static func model() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [.init("name", .string)],
                relationships: [
                    .init("spouse", to: "Person", .one, inverse: "spouse"),
                    .init("friends", to: "Person", .many, inverse: "friends"),
                    .init("children", to: "Person", .many, inverse: "mother", isOrdered: true),
                    .init("mother", to: "Person", .one, inverse: "children"),
                    .init("boss", to: "Manager", .one),
                    .init("places", to: "Place", .many, isOrdered: true),
                ]
            ),
            EntityDescription(
                "Manager",
                superentity: "Person",
                attributes: [.init("title", .string, isOptional: true)]
            ),
            EntityDescription("Place", attributes: [.init("name", .string)]),
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
        people[0].setDestination(people[1], forRelationship: "spouse")
        people[0].setMembers([people[1], people[2]], forRelationship: "friends")
        people[0].setMembers([people[2], people[3]], forRelationship: "children")
        people[0].setDestination(people[3], forRelationship: "boss")
        people[0].setMembers([make("Place", "x"), make("Place", "y")], forRelationship: "places")
        try context.save()
    }

    /// The problems that the check finds after a statement has been run.
    private func problems(after sql: String) throws -> [StoreProblem] {
        try store.opened.database.write { try $0.execute(sql) }
        return try store.check()
    }

    @Test func `a store that only contexts have written has no problems`() throws {
        #expect(try store.check() == [])
    }

    @Test(arguments: [
        (
            #"UPDATE "Person" SET "spouse" = 77 WHERE "_id" = 1"#,
            [StoreProblem.Kind.danglingReference, .inverseMismatch]
        ),
        (#"UPDATE "Person" SET "mother" = 77 WHERE "_id" = 3"#, [.danglingReference]),
        (#"UPDATE "Person" SET "boss" = 2 WHERE "_id" = 1"#, [.danglingReference]),
        (#"UPDATE "Person" SET "spouse" = NULL WHERE "_id" = 2"#, [.inverseMismatch]),
        (#"UPDATE "Person" SET "_version" = 0 WHERE "_id" = 2"#, [.invalidVersion]),
        (#"INSERT INTO "Person" ("_id", "_entity") VALUES (50, 99)"#, [.unknownEntity]),
        (#"UPDATE "Person" SET "name" = NULL WHERE "_id" = 2"#, [.missingValue]),
        (#"UPDATE "Person" SET "title" = 'x' WHERE "_id" = 2"#, [.strayValue]),
        (#"UPDATE "Place" SET "_id" = -1 WHERE "_id" = 2"#, [.invalidKey, .danglingReference]),
        (#"UPDATE "_sequence" SET "next" = 2 WHERE "entity" = 'Place'"#, [.exhaustedSequence]),
        (#"DELETE FROM "_sequence" WHERE "entity" = 'Place'"#, [.exhaustedSequence]),
    ])
    func `a row that violates a rule is found`(sql: String, kinds: [StoreProblem.Kind]) throws {
        #expect(try problems(after: sql).map(\.kind) == kinds)
    }

    @Test func `pairs without a destination or without their inverse are found`() throws {
        let schema = store.opened.schema
        func pairs(_ name: String) throws -> JoinTable {
            let relationship = try #require(schema.model.relationships.first { $0.name == name })
            return try #require(schema.joinTables[relationship.index])
        }
        let friends = try pairs("friends").name
        #expect(
            try problems(after: "DELETE FROM \(friends) WHERE source = 2 AND target = 1").map(\.kind) == [
                .inverseMismatch
            ]
        )
        #expect(
            try problems(after: "INSERT INTO \(friends) (source, target) VALUES (2, 1), (3, 55), (55, 3)").map(\.kind)
                == [.danglingOwner, .danglingReference]
        )
    }

    @Test func `members of an ordered relationship with the same position are found`() throws {
        let schema = store.opened.schema
        let children = try #require(schema.model.relationships.first { $0.name == "children" })
        let places = try #require(schema.model.relationships.first { $0.name == "places" })
        let column = try #require(schema.table(of: children.destination).positionColumns[children])
        let pairs = try #require(schema.joinTables[places.index])
        let position = try #require(pairs.position)
        let shared = try problems(after: #"UPDATE "Person" SET \#(column) = 0 WHERE "mother" = 1"#)
        #expect(shared == [StoreProblem(.invalidOrder, entity: "Person", property: "children", count: 1, firstKey: 1)])
        let negative = try problems(
            after: #"""
                UPDATE "Person" SET \#(column) = NULL WHERE "mother" = 1; \#
                UPDATE \#(pairs.name) SET \#(position) = -1 WHERE target = 1
                """#
        )
        #expect(negative == [StoreProblem(.invalidOrder, entity: "Person", property: "places", count: 1, firstKey: 1)])
    }

    @Test func `a damaged page is a problem, not an error`() throws {
        try coordinator.removeAllStores()
        let url = folder.file("people.store")
        var bytes = try Data(contentsOf: url)
        let position = bytes.count / 4096 / 2 * 4096 + 123
        bytes[position] ^= 0x80
        try bytes.write(to: url)
        // An open store no longer has its key.
        var description = store.description
        description.options[SealedStore.keyOption] = Library.key
        try coordinator.addPersistentStore(description)
        let opened = try #require(
            try coordinator.store(for: coordinator.model.entitiesByName["Person"]!).store as? SealedStore
        )
        let problems = try opened.check()
        #expect(!problems.isEmpty)
        #expect(problems.map(\.kind) == [.damagedPages], "\(problems)")
    }

    @Test func `the description of a problem contains no value`() throws {
        let problems = try problems(after: #"UPDATE "Person" SET "mother" = 77 WHERE "_id" IN (3, 4)"#)
        #expect(
            problems.map(\.description)
                == ["Person.mother: references to missing objects (2, the first at 3)"]
        )
    }
}
