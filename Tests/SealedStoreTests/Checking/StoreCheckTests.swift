import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The check of a store finds its problems") struct StoreCheckTests {
    private let people: PeopleStore
    private var store: SealedStore { people.store }

    init() throws {
        people = try PeopleStore { person, _ in
            person.relationships.append(.init("boss", to: "Manager", .one))
        } complete: { people, _ in
            people[0].setDestination(people[3], forRelationship: "boss")
        }
    }

    /// The problems that the check finds after a statement has been run.
    private func problems(after sql: String) throws -> [StoreProblem] {
        try people.run(sql)
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
        let opened = try people.reopened { try people.damage { $0 / 4096 / 2 * 4096 + 123 } }
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
