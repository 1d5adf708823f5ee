import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// One-to-one relationships that two containers change concurrently.
///
///     container 1                  container 2
///     reads all                    reads all
///     seats Ann at the desk
///     saves
///                                  seats Bob at the desk
///                                  saves: Ann no longer has a desk
@Suite struct OneToOneTests {
    private let folder = TemporaryFolder()
    private let url: URL

    init() throws {
        url = folder.file("office.store")
        SealedStore.register()
    }

    private func context(_ policy: MergePolicy, history: HistoryOptions? = nil) throws -> ManagedObjectContext {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [AttributeDescription("name", .string)],
                relationships: [
                    RelationshipDescription("desk", to: "Desk", .one, inverse: "person"),
                    RelationshipDescription("spouse", to: "Person", .one, inverse: "spouse"),
                ]
            ),
            EntityDescription(
                "Desk",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [RelationshipDescription("person", to: "Person", .one, inverse: "desk")]
            ),
        ])
        let coordinator = PersistentStoreCoordinator(model: model)
        var options: [String: any Sendable] = [SealedStore.keyOption: Library.key]
        if let history { options[SealedStore.historyOption] = history }
        try coordinator.addPersistentStore(
            PersistentStoreDescription(type: SealedStore.storeType, url: url, options: options)
        )
        let context = ManagedObjectContext(coordinator: coordinator)
        context.mergePolicy = policy
        return context
    }

    private func make(_ entity: String, _ name: String, _ value: Value, in context: ManagedObjectContext)
        -> ManagedObject
    {
        let object = ManagedObject(entity: context.model.entitiesByName[entity]!, insertInto: context)
        object[name] = value
        return object
    }

    private func all(_ entity: String, in context: ManagedObjectContext) throws -> [ManagedObject] {
        try context.fetch(FetchRequest(context.model.entitiesByName[entity]!))
    }

    private func problems(_ context: ManagedObjectContext) throws -> [StoreProblem] {
        let store = try context.coordinator.store(for: context.model.entities[0]).store as? SealedStore
        return try #require(store).check()
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `the object that had the destination loses it`(policy: MergePolicy) throws {
        let first = try context(policy)
        _ = [make("Person", "name", .text("Ann"), in: first), make("Person", "name", .text("Bob"), in: first)]
        _ = make("Desk", "number", .integer(1), in: first)
        try first.save()
        let second = try context(policy)
        let (people, others) = (try all("Person", in: first), try all("Person", in: second))
        let (desk, otherDesk) = (try all("Desk", in: first)[0], try all("Desk", in: second)[0])
        people[0].setDestination(desk, forRelationship: "desk")
        others[1].setDestination(otherDesk, forRelationship: "desk")
        try first.save()
        try second.save()
        let fresh = try context(policy)
        #expect(try all("Person", in: fresh).map { $0.destination(forRelationship: "desk") == nil } == [true, false])
        #expect(try problems(fresh) == [])
    }

    @Test(arguments: [MergePolicy.mergeByPropertyObjectTrump, .overwrite])
    func `a relationship that is its own inverse stays consistent`(policy: MergePolicy) throws {
        let first = try context(policy)
        for name in ["Ann", "Bob", "Cid"] { _ = make("Person", "name", .text(name), in: first) }
        try first.save()
        let second = try context(policy)
        let (people, others) = (try all("Person", in: first), try all("Person", in: second))
        people[0].setDestination(people[1], forRelationship: "spouse")
        others[1].setDestination(others[2], forRelationship: "spouse")
        try first.save()
        try second.save()
        let fresh = try context(policy)
        let found = try all("Person", in: fresh).map {
            ($0.destination(forRelationship: "spouse") as? ManagedObject)?["name"] ?? .null
        }
        #expect(found == [.null, .text("Cid"), .text("Bob")])
        #expect(try problems(fresh) == [])
    }

    // container 1                  container 2
    // reads all                    reads all
    //                              deletes the desk
    //                              saves
    // reads all, changes Ann and the desk
    // saves and overwrites: the desk is inserted again, and Ann sits at it
    @Test func `the history has the reference that a save restores`() throws {
        func context() throws -> ManagedObjectContext {
            try self.context(.overwrite, history: HistoryOptions(recordsValues: true))
        }
        let first = try context()
        let ann = make("Person", "name", "Ann", in: first)
        let desk = make("Desk", "number", 1, in: first)
        ann.setDestination(desk, forRelationship: "desk")
        try first.save()
        let key = desk.managedObjectID.key
        let (one, other) = (try context(), try context())
        let (people, desks) = (try all("Person", in: one), try all("Desk", in: one))
        desks[0]["number"] = 2
        other.delete(try all("Desk", in: other)[0])
        try other.save()
        _ = try all("Person", in: one)
        people[0]["name"] = "Anna"
        try one.save()
        let reader = try context()
        let person = try all("Person", in: reader)[0]
        #expect(person.destination(forRelationship: "desk")?.managedObjectID.key == key)
        let changes = try reader.coordinator.history().last?.changes ?? []
        let ofPerson = changes.first { $0.objectID.entity.name == "Person" }
        #expect(ofPerson?.values.new["name"] == "Anna")
        #expect(ofPerson?.values.new["desk"] == .integer(key))
        #expect(try problems(reader) == [])
    }
}
