import ObjectGraph
import Testing

@Suite("Identifiers with an entity other than the object's") struct WrongIdentifierTests {
    final class Bird: ManagedObject {
        let wings = 2
    }
    final class Cat: ManagedObject {}

    private static let classes: [String: any GraphObject.Type] = ["Bird": Bird.self, "Cat": Cat.self]

    private static func wrongID(_ store: TestStore) throws -> ManagedObjectID {
        let context = store.context()
        let bird = Bird(entity: store.model.entitiesByName["Bird"]!, insertInto: context)
        bird["name"] = "bird"
        try context.save()
        let id = bird.managedObjectID
        return ManagedObjectID(entity: store.model.entitiesByName["Cat"]!, storeUUID: id.storeUUID, key: id.key)
    }

    @Test(arguments: StoreKind.allCases)
    func `a fetch returns objects of its entity`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals, classes: Self.classes)
        let id = try Self.wrongID(store)
        let context = store.context()
        let asked = context.object(with: id)
        let birds: [Bird] = try context.fetch(context.request("Bird"))
        #expect(birds.map { ObjectIdentifier(type(of: $0)) } == [ObjectIdentifier(Bird.self)])
        #expect(birds.map(\.wings) == [2])
        withExtendedLifetime(asked) {}
    }

    // A migration that gives two entities a common superentity changes the keys of the objects of one: an identifier
    // from before can have the key of an object of the other.
    @Test(arguments: StoreKind.allCases)
    func `no object of another entity answers`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals, classes: Self.classes)
        let id = try Self.wrongID(store)
        for isRegistered in [false, true] {
            let context = store.context()
            let birds: [Bird] = isRegistered ? try context.fetch(context.request("Bird")) : []
            let asked = try #require(context.object(with: id) as? ManagedObject)
            #expect(asked.entity.name == "Cat" && asked.isObjectDeleted)
            #expect(try context.existingObject(with: id) == nil)
            #expect(context.registeredObject(for: id) == nil)
            let all: [ManagedObject] = try context.fetch(context.request("Animal"))
            #expect(all.map(\.entity.name) == ["Bird"])
            withExtendedLifetime((birds, asked)) {}
        }
    }
}
