import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Rows with values that a store never writes.
@Suite struct DamagedRowTests {
    private let folder = TemporaryFolder()

    private func library(_ sql: String, history: HistoryOptions? = nil) throws -> Library {
        let library = try Library(folder.file("library"), history: history)
        let book = library.insert("Book", ["title": .text("a")])
        book.setDestination(library.insert("Author", ["name": .text("b")]), forRelationship: "author")
        library.insert("Tag", ["label": .text("c")])
        try library.context.save()
        library.context.reset()
        try library.opened().database.write { try $0.execute(sql) }
        return library
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func `a number that cannot be a key is an error that names the entity`(key: Int64) throws {
        let library = try library(#"INSERT INTO "Tag" ("_id", "label") VALUES (\#(key), 'x')"#)
        let request = FetchRequest(library.entity("Tag"))
        let error = SealedStoreError.damagedRow(entity: "Tag", property: "_id")
        #expect(throws: error) { try library.context.fetch(request, as: ManagedObject.self) }
        #expect(throws: error) { try library.context.fetchIDs(request) }
        #expect(try library.check().map(\.kind).contains(.invalidKey))
    }

    /// Another program makes the table one that is not STRICT, writes a value, and restores the statement of the schema.
    @Test(arguments: [
        ("pages", "1e300"), ("pages", "-9e999"), ("pages", "'text'"), ("pages", "x'ff'"), ("score", "'text'"),
        ("score", "x'ff'"),
    ])
    func `a value of another type than its column is an error that names the property`(column: String, value: String)
        throws
    {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Leaf",
                attributes: [.init("pages", .int64, isOptional: true), .init("score", .double, isOptional: true)]
            )
        ])
        let library = try Library(folder.file("leaves"), model: model)
        library.insert("Leaf", ["pages": .integer(.max), "score": .real(0)])
        library.insert("Leaf", ["pages": .integer(.min), "score": .real(-0.0)])
        library.insert("Leaf", [:])
        try library.context.save()
        library.context.reset()
        let leaves = FetchRequest(library.entity("Leaf"))
        #expect(
            try library.context.fetch(leaves, as: ManagedObject.self).map { $0["pages"] } == [
                .integer(.max), .integer(.min), .null,
            ]
        )
        library.context.reset()
        let definition = try #require(try library.definitions().first { $0.hasPrefix(#"CREATE TABLE "Leaf""#) })
        try library.opened().database.write { connection in
            try connection.replaceDefinition(ofTable: "Leaf", with: definition.replacing(" STRICT", with: ""))
            try connection.execute(#"UPDATE "Leaf" SET "\#(column)" = \#(value) WHERE "_id" = 1"#)
            try connection.replaceDefinition(ofTable: "Leaf", with: definition)
        }
        #expect(throws: SealedStoreError.damagedRow(entity: "Leaf", property: column)) {
            try library.context.fetch(leaves, as: ManagedObject.self)
        }
        #expect(try !library.check().isEmpty)
    }

    @Test(arguments: [-1, Int64.max])
    func `a batch request that finds a number that cannot be a key writes nothing, also with a history`(
        key: Int64
    ) throws {
        let insertion = #"INSERT INTO "Tag" ("_id", "label") VALUES (\#(key), 'x')"#
        let library = try library(insertion, history: HistoryOptions())
        let error = SealedStoreError.damagedRow(entity: "Tag", property: "_id")
        let tags = FetchRequest(library.entity("Tag"))
        #expect(throws: error) { try library.context.execute(BatchDeleteRequest(library.entity("Tag"))) }
        #expect(throws: error) {
            let label = ["label": QueryExpression.literal(.text("d"))]
            try library.context.execute(BatchUpdateRequest(library.entity("Tag"), propertiesToUpdate: label))
        }
        #expect(try library.context.count(tags) == 2)
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func `a reference that cannot be a key is an error that names the relationship`(key: Int64) throws {
        let library = try library(#"UPDATE "Book" SET "author" = \#(key)"#)
        #expect(throws: SealedStoreError.damagedRow(entity: "Book", property: "author")) {
            try library.context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
        }
    }

    // MARK: Entities

    private static func animals() throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Animal",
                isAbstract: true,
                attributes: [.init("name", .string)],
                relationships: [.init("friend", to: "Animal", .one)]
            ),
            EntityDescription("Bird", superentity: "Animal"),
            EntityDescription(
                "Dog",
                superentity: "Animal",
                attributes: [.init("breed", .string), .init("tricks", .int64)],
                relationships: [.init("toys", to: "Toy", .many, inverse: "dog")]
            ),
            EntityDescription("Toy", relationships: [.init("dog", to: "Dog", .one, inverse: "toys")]),
        ])
    }

    /// A dog with the key 1, whose toy has the key 1.
    private func kennel() throws -> (library: Library, dog: ManagedObject) {
        let library = try Library(folder.file("animals"), model: Self.animals())
        let dog = library.insert("Dog", ["name": .text("Rex"), "breed": .text("collie"), "tricks": .integer(3)])
        library.insert("Toy", [:]).setDestination(dog, forRelationship: "dog")
        try library.context.save()
        return (library, dog)
    }

    /// | context              | another program      |
    /// |----------------------|----------------------|
    /// | reads the dog        |                      |
    /// |                      | makes it a bird      |
    /// | fetches              |                      |
    @Test func `an object whose row changed its entity is deleted, and a new object has the row`() throws {
        let (library, dog) = try kennel()
        let toy = try #require(
            try library.context.fetch(FetchRequest(library.entity("Toy")), as: ManagedObject.self).first
        )
        #expect(toy.destination(forRelationship: "dog") === dog)
        try library.opened().database.write {
            try $0.execute(#"UPDATE "Animal" SET "_entity" = 2, "_version" = 2"#)
        }
        let animals = try library.context.fetch(FetchRequest(library.entity("Animal")), as: ManagedObject.self)
        #expect(animals.map(\.entity.name) == ["Bird"])
        #expect(animals.first?["name"] == .text("Rex"))
        #expect(dog.isObjectDeleted)
        #expect(dog["tricks"] == .integer(3))
        #expect(toy.destination(forRelationship: "dog") == nil)
        #expect(try library.context.fetch(FetchRequest(library.entity("Dog")), as: ManagedObject.self).isEmpty)
    }

    @Test(arguments: [0, 1, -1, Int64.max])
    func `an unknown or abstract entity number is an error`(code: Int64) throws {
        let (library, _) = try kennel()
        try library.opened().database.write { try $0.execute(#"UPDATE "Animal" SET "_entity" = \#(code)"#) }
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let request = FetchRequest(library.entity("Animal"))
        let error = SealedStoreError.damagedRow(entity: "Animal", property: "_entity")
        #expect(throws: error) { try context.fetch(request, as: ManagedObject.self) }
        #expect(throws: error) { try context.fetchIDs(request) }
    }

    @Test func `a reference to an object of a wrong entity reads as nil`() throws {
        let (library, _) = try kennel()
        library.insert("Bird", ["name": .text("Tweety")])
        try library.context.save()
        try library.opened().database.write { try $0.execute(#"UPDATE "Toy" SET "dog" = 2"#) }
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let birds = try context.fetch(FetchRequest(library.entity("Bird")), as: ManagedObject.self)
        let toy = try #require(try context.fetch(FetchRequest(library.entity("Toy")), as: ManagedObject.self).first)
        #expect(birds.count == 1)
        #expect(toy.destination(forRelationship: "dog") == nil)
        // The bird has no such relationship to be removed from.
        toy.setDestination(nil, forRelationship: "dog")
        try context.save()
    }
}
