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

    @Test(arguments: StoreKind.allCases)
    func `an object is of the entity in its row`(kind: StoreKind) throws {
        let store = try TestStore(kind, Fixtures.animals, classes: Self.classes)
        let id = try Self.wrongID(store)
        let context = store.context()
        let asked = try #require(context.object(with: id) as? ManagedObject)
        #expect(asked.entity.name == "Bird" || asked.isObjectDeleted)
        let read = try context.existingObject(with: id)
        #expect(read == nil || read is Bird)
        let birds: [Bird] = try context.fetch(context.request("Bird"))
        #expect(birds.map(\.wings) == [2])
    }
}
