@testable import ObjectGraph
import Testing

/// Entities without a class of their own, whose superentity has one.
@Suite struct InheritedClassTests {
    private class Animal: ManagedObject {
        let mark = 7
    }
    private final class Bird: Animal {
        let wings = 2
    }

    private static let classes: [[String: any GraphObject.Type]] = [
        ["Animal": Animal.self], ["Animal": Animal.self, "Bird": Bird.self],
    ]

    /// A store with a bird, a penguin, which is a bird, and a cat.
    private static func store(_ kind: StoreKind, _ classes: [String: any GraphObject.Type]) throws -> TestStore {
        let store = try TestStore(kind, Fixtures.animals, classes: classes)
        let context = store.context()
        let keeper = context.make("Keeper", ["name": "keeper"])
        for name in ["Bird", "Penguin", "Cat"] {
            let animal = try insert(name, in: context)
            animal["name"] = .text(name)
            animal[one: "keeper"] = keeper
        }
        try context.save()
        return store
    }

    private static func insert(_ name: String, in context: ManagedObjectContext) throws -> Animal {
        let entity = try #require(context.model.entitiesByName[name])
        return try #require(context.insertNewObject(of: entity) as? Animal)
    }

    @Test(arguments: StoreKind.allCases, 0..<2)
    func `a fetch of the superentity returns all objects as objects of its class`(kind: StoreKind, index: Int) throws {
        let store = try Self.store(kind, Self.classes[index])
        let context = store.context()
        let fetched = try context.fetch(context.request("Animal"), as: Animal.self)
        #expect(fetched.texts("name") == ["Bird", "Penguin", "Cat"])
        #expect(fetched.map(\.mark) == [7, 7, 7])
        #expect(fetched.map { $0 is Bird } == [index == 1, index == 1, false])
        #expect(fetched.map(\.managedObjectID.entity.name) == ["Bird", "Penguin", "Cat"])
        var faults = context.request("Animal")
        faults.returnsObjectsAsFaults = true
        #expect(try store.context().fetch(faults, as: Animal.self).map(\.mark) == [7, 7, 7])
        let keeper = try context.one("Keeper")
        let slot = try #require(keeper.entity.propertiesByName["animals"]?.slot)
        #expect(keeper.memberObjects(at: slot, as: Animal.self).map(\.mark) == [7, 7, 7])
    }

    @Test(arguments: StoreKind.allCases, 0..<2)
    func `results with unsaved changes, batches and enumerations have the class`(kind: StoreKind, index: Int) throws {
        let store = try Self.store(kind, Self.classes[index])
        let context = store.context()
        _ = try Self.insert("Penguin", in: context)
        try context.one("Cat")["name"] = "Lion"
        let request = context.request("Animal")
        #expect(try context.fetch(request, as: Animal.self).map(\.mark) == [7, 7, 7, 7])
        let batches = try context.fetch(request, batchSize: 2, as: Animal.self)
        #expect(batches.map(\.mark) == [7, 7, 7, 7])
        var marks: [Int] = []
        try context.enumerate(request, batchSize: 3) { (animals: [Animal]) in marks += animals.map(\.mark) }
        #expect(marks == [7, 7, 7, 7])
    }

    @Test(arguments: StoreKind.allCases)
    func `the class of a subentity counts for the entities below it`(kind: StoreKind) throws {
        let store = try Self.store(kind, Self.classes[1])
        let context = store.context()
        #expect(try context.fetch(context.request("Bird"), as: Bird.self).map(\.wings) == [2, 2])
        #expect(try context.fetch(context.request("Penguin"), as: Bird.self).map(\.wings) == [2])
        #expect(try context.fetch(context.request("Cat"), as: Animal.self).count == 1)
    }

    @Test func `a class belongs to the topmost entity that has it`() throws {
        let context = try TestStore(.reference, Fixtures.animals, classes: Self.classes[1]).context()
        #expect(context.entity(for: Animal.self)?.name == "Animal")
        #expect(context.entity(for: Bird.self)?.name == "Bird")
    }

    @Test func `a class is one that it inherits from`() {
        let classes: [any GraphObject.Type] = [ManagedObject.self, Animal.self, Bird.self]
        for (position, other) in classes.enumerated() {
            #expect(classes.map { ObjectTypes.isKind($0, of: other) } == (0..<3).map { $0 >= position })
        }
        #expect(!ObjectTypes.isKind(LifetimeTests.Noisy.self, of: Animal.self))
    }
}
