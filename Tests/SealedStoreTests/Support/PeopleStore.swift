import EncryptedSQLite
import Foundation
import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A store with each storage form of relationships: 1:1, ordered 1:n, n:m, symmetric n:m, one-way.
struct PeopleStore {
    let folder: TemporaryFolder
    let coordinator: PersistentStoreCoordinator
    let store: SealedStore
    private let key: EncryptionKey

    var url: URL { folder.file("people.store") }

    /// Creates the store, with the people 1, 2 and 3, the manager 4, and the places 1 and 2.
    ///
    /// - Parameters:
    ///   - key: The key of the file.
    ///   - extend: Adds properties and indexes to the entities of people and places.
    ///   - complete: Sets the values of these.
    init(
        key: EncryptionKey = Library.key,
        extend: (_ person: inout EntityDescription, _ place: inout EntityDescription) -> Void,
        complete: (_ people: [ManagedObject], _ places: [ManagedObject]) -> Void
    ) throws {
        self.key = key
        SealedStore.register()
        var person = EntityDescription(
            "Person",
            attributes: [.init("name", .string)],
            relationships: [
                .init("spouse", to: "Person", .one, inverse: "spouse"),
                .init("friends", to: "Person", .many, inverse: "friends"),
                .init("children", to: "Person", .many, inverse: "mother", isOrdered: true),
                .init("mother", to: "Person", .one, inverse: "children"),
                .init("places", to: "Place", .many, isOrdered: true),
            ]
        )
        var place = EntityDescription("Place", attributes: [.init("name", .string)])
        extend(&person, &place)
        let manager = EntityDescription(
            "Manager",
            superentity: "Person",
            attributes: [.init("title", .string, isOptional: true)]
        )
        folder = TemporaryFolder()
        let model = try ManagedObjectModel(entities: [person, manager, place])
        coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(Self.description(folder.file("people.store"), key))
        store = try #require(coordinator.sealedStores.first)
        let context = ManagedObjectContext(coordinator: coordinator)
        func make(_ entity: String, _ name: String) -> ManagedObject {
            let object = ManagedObject(entity: model.entitiesByName[entity]!, insertInto: context)
            object["name"] = .text(name)
            return object
        }
        let people = [make("Person", "a"), make("Person", "b"), make("Person", "c"), make("Manager", "d")]
        people[0].setDestination(people[1], forRelationship: "spouse")
        people[0].setMembers([people[1], people[2]], forRelationship: "friends")
        people[0].setMembers([people[2], people[3]], forRelationship: "children")
        let places = [make("Place", "x"), make("Place", "y")]
        people[0].setMembers(places, forRelationship: "places")
        complete(people, places)
        try context.save()
    }

    static func description(_ url: URL, _ key: EncryptionKey = Library.key) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: key]
        )
    }

    func run(_ sql: String) throws { try store.opened.database.write { try $0.execute(sql) } }

    func integers(_ sql: String) throws -> [Int64?] { try store.opened.database.read { try $0.integers(sql) } }

    /// Closes the store, changes the file, and opens it again.
    func reopened(after change: () throws -> Void) throws -> SealedStore {
        try coordinator.removeAllStores()
        try change()
        try coordinator.addPersistentStore(Self.description(url, key))
        return try #require(coordinator.sealedStores.first)
    }

    /// Changes a bit of the file.
    func damage(at position: (_ byteCount: Int) -> Int) throws {
        var bytes = try Data(contentsOf: url)
        bytes[position(bytes.count)] ^= 0x80
        try bytes.write(to: url)
    }
}
