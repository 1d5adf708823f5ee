import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Files that hold a part of the model, and changes of their schema while they are open.
@Suite struct SplitStoreTests {
    private let folder = TemporaryFolder()

    private static let trip = EntityDescription("Trip", attributes: [.init("name", .string)])
    private static let indexed = EntityDescription(
        "Trip",
        attributes: [.init("name", .string)],
        indexes: [.init(["name"])]
    )
    private static let note = EntityDescription(
        "Note",
        attributes: [.init("text", .string), .init("weight", .double, isOptional: true)],
        uniquenessConstraints: [["text"]]
    )

    private func open(_ trip: EntityDescription = trip) throws -> SplitStore {
        try SplitStore(folder.url, [trip], [Self.note])
    }

    private func write() throws {
        let store = try open()
        store.insert("Trip", ["name": .text("caf\u{e9}")])
        store.insert("Note", ["text": .text("caf\u{e9}")])
        try store.context.save()
        try store.close()
    }

    @Test(arguments: ["Trip", "Note"])
    func `the first text in another form than C is saved and found`(entity: String) throws {
        try write()
        let store = try open()
        let attribute = entity == "Trip" ? "name" : "text"
        store.insert(entity, [attribute: .text("re\u{301}sume\u{301}")])
        try store.context.save()
        #expect(try store.count(entity, attribute, equalTo: "r\u{e9}sum\u{e9}") == 1)
        store.insert(entity, [attribute: .text("plain")])
        try store.context.save()
        #expect(try store.values(entity, attribute).count == 3)
        #expect(try store.problems() == [])
    }

    // a container            | another container
    // opens, reads           | opens
    //                        | saves a text in another form than C
    // reads and saves        |
    @Test func `another container saves the first text in another form than C`() throws {
        try write()
        let reader = try open()
        #expect(try reader.count("Trip", "name", equalTo: "caf\u{e9}") == 1)
        let writer = try open()
        writer.insert("Trip", ["name": .text("cafe\u{301}")])
        try writer.context.save()
        #expect(try reader.count("Trip", "name", equalTo: "caf\u{e9}") == 2)
        reader.insert("Trip", ["name": .text("caf\u{e9}")])
        try reader.context.save()
        #expect(try writer.count("Trip", "name", equalTo: "caf\u{e9}") == 3)
        #expect(try writer.problems() == [])
    }

    // a container            | another container, with an index
    // opens, reads           |
    //                        | opens: adds the index
    // reads and saves        |
    //                        | reads and saves
    @Test func `an index is added while the file is open`() throws {
        try write()
        let old = try open()
        #expect(try old.values("Trip", "name") == [.text("caf\u{e9}")])
        let new = try open(Self.indexed)
        for store in [old, new] {
            #expect(try store.count("Trip", "name", equalTo: "caf\u{e9}") == 1)
            store.insert("Trip", ["name": .text("other")])
            try store.context.save()
        }
        #expect(try old.values("Trip", "name").count == 3)
        #expect(try new.problems() == [])
    }

    @Test func `a migrated file is read and written at once`() throws {
        try write()
        var next = Self.trip
        next.attributes.append(.init("days", .int64, isOptional: true))
        next.attributes.append(.init("length", .double, isOptional: true))
        let store = try open(next)
        #expect(try store.values("Trip", "days") == [.null])
        store.insert("Trip", ["name": .text("b"), "days": .integer(2), "length": .real(-0.0)])
        try store.context.save()
        #expect(try store.values("Trip", "days") == [.null, .integer(2)])
        #expect(try store.problems() == [])
    }

    @Test func `the code of a stage reads and writes a part of the model`() throws {
        try write()
        var next = Self.trip
        next.attributes.append(.init("title", .string, isOptional: true))
        let stages = [
            StoreMigrationStage(try ManagedObjectModel(entities: [Self.trip, Self.note])),
            StoreMigrationStage(
                try ManagedObjectModel(entities: [next, Self.note]),
                willMigrate: { try Self.append("!", to: "name", $0) },
                didMigrate: { try Self.append("?", to: "name", $0) }
            ),
        ]
        let store = try SplitStore(
            folder.url,
            [next],
            [Self.note],
            options: [SealedStore.migrationStagesOption: stages]
        )
        #expect(try store.values("Trip", "name") == [.text("caf\u{e9}!?")])
        #expect(try store.values("Note", "text") == [.text("caf\u{e9}")])
        #expect(try store.problems() == [])
    }

    private static func append(_ text: String, to name: String, _ coordinator: PersistentStoreCoordinator) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        let trip = try #require(coordinator.model.entitiesByName["Trip"])
        for object in try context.fetch(FetchRequest(trip), as: ManagedObject.self) {
            object[name] = .text((object[name].string ?? "") + text)
        }
        try context.save()
    }
}

extension Value {
    fileprivate var string: String? { if case .text(let text) = self { text } else { nil } }
}
