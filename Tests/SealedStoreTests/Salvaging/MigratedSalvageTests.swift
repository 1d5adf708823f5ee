import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Salvages of stores that were migrated, also without the record of their names.
@Suite struct MigratedSalvageTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("damaged.store") }
    private var new: URL { folder.file("new.store") }

    private func salvage() throws -> SalvageReport {
        try SealedStore.salvage(url, key: .raw(Array(repeating: 5, count: 32)), to: new)
    }

    /// Makes the names in the file unreadable.
    private func loseNames(_ entities: [EntityDescription]) throws {
        let store = try MigratingStore(url, entities)
        try store.store().opened.database.write { connection in
            try connection.execute(#"UPDATE "_metadata" SET "value" = 'lost' WHERE "key" = 'names'"#)
        }
        try store.close()
    }

    private func migrationCount(_ store: MigratingStore) throws -> Int64? {
        try store.store().opened.database.read { connection in
            try connection.withStatement(#"SELECT "value" FROM "_metadata" WHERE "key" = 'migrations'"#) { statement in
                try statement.step() ? statement.integer(at: 0) : nil
            }
        }
    }

    // MARK: Rows from before a migration

    @Test func `objects that are older than the first subentity are recovered`() throws {
        let base = EntityDescription("Base", attributes: [.init("name", .string)])
        let first = try MigratingStore(url, [base])
        for number in 0..<300 { first.insert("Base", ["name": .text("old \(number)")]) }
        try first.saveAndClose()
        let entities = [
            base, EntityDescription("Special", superentity: "Base", attributes: [.init("more", .int64)]),
        ]
        let second = try MigratingStore(url, entities)
        second.insert("Special", ["name": .text("special"), "more": .integer(2)])
        second.insert("Base", ["name": .text("new")])
        try second.context.save()
        let content = try second.content()
        try second.close()
        let report = try salvage()
        #expect(report.isComplete, "\(report.entities)")
        #expect(report.entities.map(\.recoveredCount) == [301, 1])
        let salvaged = try MigratingStore(new, entities)
        #expect(try salvaged.content() == content)
        #expect(try migrationCount(salvaged) == 1, "the names remain those of a migrated store")
    }

    // MARK: Lost names

    private static let animal = EntityDescription("Animal", attributes: [.init("name", .string)])
    private static let dog = EntityDescription(
        "Dog",
        superentity: "Animal",
        attributes: [.init("breed", .string, isOptional: true)]
    )
    private static let cat = EntityDescription("Cat", superentity: "Animal", attributes: [.init("lives", .int64)])

    @Test func `entities are recognized by the properties of their objects`() throws {
        let first = try MigratingStore(url, [Self.animal, Self.dog])
        first.insert("Animal", ["name": .text("a")])
        first.insert("Dog", ["name": .text("d"), "breed": .text("poodle")])
        first.insert("Dog", ["name": .text("e")])
        try first.saveAndClose()
        // In a new store, the cat would have the number that the dog has here.
        let entities = [Self.animal, Self.cat, Self.dog]
        let second = try MigratingStore(url, entities)
        second.insert("Cat", ["name": .text("c"), "lives": .integer(7)])
        try second.context.save()
        let content = try second.content()
        try second.close()
        try loseNames(entities)
        let report = try salvage()
        #expect(report.isComplete, "\(report.entities)")
        let salvaged = try MigratingStore(new, entities)
        #expect(try salvaged.content() == content)
        #expect(try salvaged.problems() == [])
    }

    @Test func `a store that was never migrated has the names of a new one`() throws {
        let entities = [Self.animal] + ["Cat", "Dog"].map { EntityDescription($0, superentity: "Animal") }
        let store = try MigratingStore(url, entities)
        for entity in ["Dog", "Cat", "Dog", "Animal"] { store.insert(entity, ["name": .text(entity)]) }
        try store.context.save()
        let content = try store.content()
        try store.close()
        try loseNames(entities)
        let report = try salvage()
        #expect(report.isComplete, "\(report.entities)")
        #expect(try MigratingStore(new, entities).content() == content)
    }

    // The second model changes a rule, so that it is recorded, and the order of the entities.
    @Test func `a store whose model is recorded in another order has not the names of a new one`() throws {
        let animal = { (rule: RelationshipDescription.DeleteRule) in
            EntityDescription(
                "Animal",
                attributes: [.init("name", .string)],
                relationships: [.init("friend", to: "Animal", .one, deleteRule: rule)]
            )
        }
        let part = { (name: String) in EntityDescription(name, superentity: "Animal") }
        let first = try MigratingStore(url, [animal(.nullify), part("Dog"), part("Cat")])
        for entity in ["Dog", "Cat", "Dog"] { first.insert(entity, ["name": .text(entity)]) }
        try first.saveAndClose()
        let entities = [animal(.cascade), part("Cat"), part("Dog")]
        let second = try MigratingStore(url, entities)
        #expect(try migrationCount(second) == nil)
        try second.close()
        try loseNames(entities)
        let report = try salvage()
        #expect(report.entities.map(\.recoveredCount) == [0, 0, 0])
        #expect(report.entities.map(\.lostCount) == [3, 0, 0])
        #expect(!report.isComplete)
    }

    @Test func `objects of entities that cannot be recognized are lost, and reported`() throws {
        let plain = { (name: String) in EntityDescription(name, superentity: "Animal") }
        let toy = EntityDescription("Toy", attributes: [.init("label", .string)])
        let first = try MigratingStore(url, [Self.animal, plain("Dog"), toy])
        for number in 0..<5 { first.insert("Dog", ["name": .text("dog \(number)")]) }
        first.insert("Toy", ["label": .text("ball")])
        try first.saveAndClose()
        let entities = [Self.animal, plain("Cat"), plain("Dog"), toy]
        let second = try MigratingStore(url, entities)
        second.insert("Cat", ["name": .text("cat")])
        try second.saveAndClose()
        try loseNames(entities)
        let report = try salvage()
        #expect(!report.isComplete)
        #expect(report.entities.map(\.recoveredCount) == [0, 0, 0, 1])
        #expect(report.entities.map(\.lostCount) == [6, 0, 0, 0])
        let salvaged = try MigratingStore(new, entities)
        #expect(try salvaged.values("Toy", "label") == [.text("ball")])
        #expect(try salvaged.problems() == [])
    }

    @Test func `columns whose names two properties can have are not guessed`() throws {
        let part = { (name: String) in
            EntityDescription(name, superentity: "Animal", attributes: [.init("value", .int64, isOptional: true)])
        }
        let first = try MigratingStore(url, [Self.animal, part("Dog"), part("Cat")])
        first.insert("Dog", ["name": .text("dog"), "value": .integer(1)])
        first.insert("Cat", ["name": .text("cat"), "value": .integer(2)])
        try first.saveAndClose()
        // In a new store, the names of the two columns would be exchanged.
        let entities = [Self.animal, part("Cat"), part("Dog"), EntityDescription("Toy")]
        try MigratingStore(url, entities).close()
        try loseNames(entities)
        let report = try salvage()
        #expect(report.entities.map(\.recoveredCount) == [0, 0, 0, 0])
        #expect(report.entities.map(\.lostCount) == [2, 0, 0, 0])
        #expect(!report.isComplete)
    }
}
