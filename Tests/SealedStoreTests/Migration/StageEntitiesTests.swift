import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stages of a model whose entities are distributed over two files, `a.store` with trips and `b.store` with notes.
@Suite struct StageEntitiesTests {
    private let folder = TemporaryFolder()

    private static let trip = EntityDescription("Trip", attributes: [.init("name", .string)])
    private static let draft = EntityDescription("Draft", attributes: [.init("name", .string)])
    private static let note = EntityDescription("Note", attributes: [.init("text", .string)])

    private func write(_ first: [EntityDescription], _ second: [EntityDescription] = [note]) throws {
        let store = try SplitStore(folder.url, first, second)
        for entity in first { store.insert(entity.name, ["name": .text(entity.name)]) }
        for entity in second { store.insert(entity.name, [entity.name == "Note" ? "text" : "name": .text("kept")]) }
        try store.context.save()
        try store.close()
    }

    private func open(
        _ first: [EntityDescription],
        _ second: [EntityDescription] = [note],
        through stages: [StoreMigrationStage]
    ) throws -> SplitStore {
        try SplitStore(folder.url, first, second, options: [SealedStore.migrationStagesOption: stages])
    }

    private static func model(_ entities: EntityDescription...) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: entities)
    }

    /// Code that makes each object of an entity a trip.
    private static func moving(_ name: String) -> StoreMigrationStage.Code {
        { coordinator in
            let context = ManagedObjectContext(coordinator: coordinator)
            let (entity, trip) = try (
                #require(coordinator.model.entitiesByName[name]), #require(coordinator.model.entitiesByName["Trip"])
            )
            for object in try context.fetch(FetchRequest(entity), as: ManagedObject.self) {
                ManagedObject(entity: trip, insertInto: context)["name"] = object["name"]
            }
            try context.save()
        }
    }

    @Test func `code reads the objects of an entity that the next version removes`() throws {
        try write([Self.trip, Self.draft])
        let stages = [
            StoreMigrationStage(try Self.model(Self.trip, Self.draft, Self.note)),
            StoreMigrationStage(try Self.model(Self.trip, Self.note), willMigrate: Self.moving("Draft")),
        ]
        let store = try open([Self.trip], through: stages)
        #expect(try store.values("Trip", "name") == [.text("Trip"), .text("Draft")])
        #expect(try store.values("Note", "text") == [.text("kept")])
        #expect(try store.problems() == [])
    }

    @Test func `code reads the objects of an entity of several versions that a later one removes`() throws {
        try write([Self.trip, Self.draft])
        var sketch = Self.draft
        sketch.name = "Sketch"
        sketch.renamingIdentifier = "Draft"
        let stages = [
            StoreMigrationStage(try Self.model(Self.trip, Self.draft, Self.note)),
            StoreMigrationStage(try Self.model(Self.trip, sketch, Self.note), didMigrate: Self.moving("Sketch")),
            StoreMigrationStage(try Self.model(Self.trip, Self.note), willMigrate: Self.moving("Sketch")),
        ]
        let store = try open([Self.trip], through: stages)
        #expect(try store.values("Trip", "name") == [.text("Trip"), .text("Draft"), .text("Draft")])
        #expect(try store.problems() == [])
    }

    @Test func `a renamed entity keeps its objects`() throws {
        var journey = Self.trip
        journey.name = "Journey"
        try write([journey])
        var trip = Self.trip
        trip.renamingIdentifier = "Journey"
        let stages = [
            StoreMigrationStage(try Self.model(journey, Self.note)),
            StoreMigrationStage(try Self.model(trip, Self.note), didMigrate: Self.moving("Trip")),
        ]
        let store = try open([trip], through: stages)
        #expect(try store.values("Trip", "name") == [.text("Journey"), .text("Journey")])
        #expect(try store.values("Note", "text") == [.text("kept")])
        #expect(try store.problems() == [])
    }

    @Test func `the code of a store does not run for stages of another store`() throws {
        try write([Self.trip, Self.draft])
        var note = Self.note
        note.attributes.append(.init("extra", .int64, isOptional: true))
        let calls = Guarded<[String]>([])
        let noting = { (name: String) -> StoreMigrationStage.Code in
            { coordinator in
                let held = coordinator.model.entities.filter { (try? coordinator.store(for: $0)) != nil }.map(\.name)
                calls.withLock { $0.append("\(name): \(held.sorted().joined(separator: ", "))") }
            }
        }
        let stages = [
            StoreMigrationStage(try Self.model(Self.trip, Self.draft, Self.note)),
            StoreMigrationStage(try Self.model(Self.trip, Self.draft, note), didMigrate: noting("notes")),
            StoreMigrationStage(try Self.model(Self.trip, note), willMigrate: noting("drafts")),
        ]
        for _ in 0..<2 {
            let store = try open([Self.trip], [note], through: stages)
            #expect(calls.withLock(\.self) == ["drafts: Draft, Trip", "notes: Note"])
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test func `an entity that exists only between versions is there for the code`() throws {
        try write([Self.trip])
        let stages = [
            StoreMigrationStage(try Self.model(Self.trip, Self.note)),
            StoreMigrationStage(try Self.model(Self.trip, Self.draft, Self.note)),
            StoreMigrationStage(try Self.model(Self.trip, Self.note), willMigrate: Self.moving("Draft")),
        ]
        // The first version has the shape of the last one, so the file is made for the version between them.
        let between = try SplitStore(folder.url, [Self.trip, Self.draft], [Self.note])
        between.insert("Draft", ["name": .text("between")])
        try between.context.save()
        try between.close()
        let store = try open([Self.trip], through: stages)
        #expect(try store.values("Trip", "name") == [.text("Trip"), .text("between")])
        #expect(try store.problems() == [])
    }

    @Test func `removed entities belong to the store of the entities that they are linked with`() throws {
        let draft = EntityDescription(
            "Draft",
            attributes: [.init("name", .string)],
            relationships: [.init("trip", to: "Trip", .one, isOptional: true)]
        )
        let line = EntityDescription("Line", superentity: "Draft")
        let page = EntityDescription("Page", relationships: [.init("note", to: "Note", .one, isOptional: true)])
        let entities = StageEntities(
            [
                try Self.model(Self.trip, draft, line, page, Self.note, EntityDescription("Free")),
                try Self.model(Self.trip, Self.note, EntityDescription("Further")),
            ],
            before: try Self.model(Self.trip, Self.note),
            own: ["Trip"]
        )
        let empty = try Self.model(Self.trip)
        #expect(entities.names(at: 0, in: empty, isTarget: false) == ["Trip", "Draft", "Line"])
        #expect(
            entities.names(at: 0, in: try Self.model(Self.trip, EntityDescription("Free")), isTarget: true)
                == ["Trip", "Draft", "Line", "Free"]
        )
        #expect(entities.names(at: 1, in: empty, isTarget: false) == ["Trip"])
        #expect(entities.names(at: 1, in: empty, isTarget: true) == ["Trip", "Further"])
    }
}
