import Foundation
import ObjectGraph
import Testing

@Suite("A new object with the unique values of an object of another entity") struct OtherEntityCollisionTests {
    /// The subentities have attributes of different types in the same slot, and different numbers of them.
    private static let model = Fixtures.model(
        EntityDescription(
            "Animal",
            attributes: [.init("name", .string, isOptional: true), .init("age", .int64, isOptional: true)],
            relationships: [.init("mate", to: "Animal", .one, inverse: "mate")],
            uniquenessConstraints: [["name"]]
        ),
        EntityDescription("Bird", superentity: "Animal", attributes: [.init("ring", .string, isOptional: true)]),
        EntityDescription(
            "Cat",
            superentity: "Animal",
            attributes: [.init("lives", .int64, isOptional: true), .init("toy", .string, isOptional: true)]
        )
    )

    /// Every store with every policy.
    private static let cases = StoreKind.allCases.flatMap { kind in
        [MergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite].map { (kind, $0) }
    }

    private static func store(
        _ kind: StoreKind,
        _ policy: MergePolicy
    ) throws -> (TestStore, ManagedObjectContext, ManagedObject) {
        let store = try TestStore(kind, model)
        let context = store.context()
        context.mergePolicy = policy
        let bird = context.make("Bird", ["name": "x", "ring": "r", "age": 1])
        try context.save()
        return (store, context, bird)
    }

    @Test(arguments: cases)
    func `the save throws, and the context keeps its changes`(kind: StoreKind, policy: MergePolicy) throws {
        for entity in ["Cat", "Animal"] {
            let (store, context, bird) = try Self.store(kind, policy)
            let other = context.make(entity, ["name": "x", "age": 9])
            other[one: "mate"] = bird
            // Of the same entity as the saved object: most policies resolve this collision.
            let twin = context.make("Bird", ["name": "x", "age": 5])
            let error = try #require(throws: ObjectGraphError.self) { try context.save() }
            guard case .notUnique(let conflicts) = error else { throw error }
            #expect(conflicts.allSatisfy { $0.entity == "Animal" && $0.properties == ["name"] })
            #expect("\(error)".contains("'\(entity)'") && "\(error)".contains("'Bird'"), "\(error)")
            #expect(!"\(error)".contains("\"x\""))
            #expect(context.insertedObjects.count == 2)
            #expect(!other.isObjectDeleted && !twin.isObjectDeleted)
            #expect(other["age"] == 9 && twin["age"] == 5)
            #expect(other[one: "mate"] === bird)
            #expect(bird["age"] == 1 && bird["ring"] == "r")
            #expect(try store.context().all("Animal").map { $0["age"] } == [1])
            // Another name ends the collision.
            other["name"] = "y"
            twin["name"] = "z"
            try context.save()
            #expect(try store.context().all("Animal").count == 3)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a saved object that takes the value of an object of another entity deletes nothing`(kind: StoreKind) throws {
        let (store, context, _) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let cat = context.make("Cat", ["name": "y", "toy": "ball"])
        try context.save()
        cat["name"] = "x"
        #expect(throws: ObjectGraphError.self) { try context.save() }
        #expect(cat["name"] == "x" && cat["toy"] == "ball")
        #expect(try store.context().all("Animal").texts("name") == ["x", "y"])
    }

    @Test(arguments: StoreKind.allCases)
    func `two new objects are not merged`(kind: StoreKind) throws {
        let (store, context, _) = try Self.store(kind, .mergeByPropertyObjectTrump)
        let pair = [context.make("Cat", ["name": "n"]), context.make("Bird", ["name": "n"])]
        #expect(throws: ObjectGraphError.self) { try context.save() }
        #expect(pair.allSatisfy { $0.isInserted && $0["name"] == "n" })
        pair[0]["name"] = "m"
        try context.save()
        #expect(try store.context().all("Animal").count == 3)
    }

    @Test(arguments: StoreKind.allCases)
    func `the rollback policy drops the new object`(kind: StoreKind) throws {
        let (store, context, bird) = try Self.store(kind, .rollback)
        let cat = context.make("Cat", ["name": "x", "lives": 9])
        try context.save()
        #expect(cat.isObjectDeleted && cat["lives"] == 9)
        #expect(bird["ring"] == "r")
        #expect(try store.context().all("Animal").texts("ring") == ["r"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an object of another entity that changes its value in the same save does not collide`(
        kind: StoreKind
    ) throws {
        let (store, context, bird) = try Self.store(kind, .mergeByPropertyObjectTrump)
        bird["name"] = "free"
        let cat = context.make("Cat", ["name": "x"])
        try context.save()
        #expect(!cat.isObjectDeleted)
        #expect(try store.context().all("Animal").texts("name") == ["free", "x"])
    }
}
