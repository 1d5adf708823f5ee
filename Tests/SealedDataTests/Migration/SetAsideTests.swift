import Foundation
import ObjectGraph
import SealedData
import SealedStore
import TestSupport
import Testing

/// The classes of an app, and the classes of its extension or of an earlier version.
private enum App {
    @Model final class Trip {
        @Attribute(.unique) var name = ""
        var days = 7
        var rating: Double?
        @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
        init(_ name: String, days: Int) {
            self.name = name
            self.days = days
        }
    }

    @Model final class Stop {
        var title = ""
        var trip: Trip?
        init(_ title: String) { self.title = title }
    }

    @Model final class Note {
        var text = ""
        var trip: Trip?
        init(_ text: String) { self.text = text }
    }

    static let types: [any PersistentModel.Type] = [Trip.self, Stop.self, Note.self]
}

private enum Earlier {
    @Model final class Trip {
        @Attribute(.unique) var name = ""
        init(_ name: String) { self.name = name }
    }
}

private enum EarlierPlan: SchemaMigrationPlan {
    enum First: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { App.types }
    }

    enum Second: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Earlier.Trip.self] }
    }

    static var schemas: [any VersionedSchema.Type] { [First.self, Second.self] }
    static var stages: [MigrationStage] { [.lightweight(fromVersion: First.self, toVersion: Second.self)] }
}

@Suite("What a schema does not have") struct SetAsideTests {
    private let folder = TemporaryFolder()
    private var configuration: ModelConfiguration { configuration("trips") }

    private func configuration(_ name: String) -> ModelConfiguration {
        ModelConfiguration(url: folder.file("\(name).store"), key: .ofTests)
    }

    private func app(_ name: String = "trips") throws -> ModelContainer {
        try ModelContainer(for: Schema(App.types), configurations: configuration(name))
    }

    private func earlier() throws -> ModelContainer {
        try ModelContainer(for: Earlier.Trip.self, configurations: configuration)
    }

    private func write(_ name: String = "trips") throws {
        let context = ModelContext(try app(name))
        let alps = App.Trip("Alps", days: 3)
        alps.rating = 4.5
        context.insert(alps)
        alps.stops = [App.Stop("a"), App.Stop("b")]
        let note = App.Note("n")
        note.trip = alps
        context.insert(note)
        try context.save()
    }

    @Test func `an earlier version of an app loses no class and no property`() throws {
        try write()
        do {
            let container = try earlier()
            #expect(
                try container.setAside().map(\.description) == [
                    "Trip.days", "Trip.rating", "Trip.stops", "Stop", "Note",
                ]
            )
            let context = ModelContext(container)
            context.insert(Earlier.Trip("Sea"))
            try context.fetch(FetchDescriptor<Earlier.Trip>()).first { $0.name == "Alps" }?.name = "The Alps"
            try context.save()
        }
        let container = try app()
        #expect(try container.setAside() == [])
        let context = ModelContext(container)
        let trips = try context.fetch(FetchDescriptor<App.Trip>(sortBy: [SortDescriptor(\.name)]))
        #expect(trips.map(\.days) == [7, 3])
        #expect(trips.map(\.rating) == [nil, 4.5])
        #expect(Set(trips[1].stops.map(\.title)) == ["a", "b"])
        #expect(try context.fetch(FetchDescriptor<App.Note>()).first?.trip?.name == "The Alps")
        #expect(try container.check().isSound)
    }

    @Test func `an extension without some classes and the app have the store open`() throws {
        try write()
        let app = try app()
        let notes = try ModelContext(app).fetch(FetchDescriptor<App.Note>())
        #expect(notes.count == 1)
        let other = try ModelContainer(for: App.Trip.self, App.Stop.self, configurations: configuration)
        let context = ModelContext(other)
        for trip in try context.fetch(FetchDescriptor<App.Trip>()) { context.delete(trip) }
        try context.save()
        let left = ModelContext(app)
        #expect(try left.fetch(FetchDescriptor<App.Note>()).map(\.trip) == [nil])
        left.insert(App.Trip("Sea", days: 1))
        try left.save()
        #expect(try context.fetchCount(FetchDescriptor<App.Trip>()) == 1)
        #expect(try other.check().isSound)
    }

    @Test func `a preview names what would be set aside`() throws {
        try write()
        let previews = try ModelContainer.migrationPreview(for: Earlier.Trip.self, configurations: configuration)
        let preview = try #require(previews[configuration.url])
        #expect(preview.setAside.map(\.description) == ["Trip.days", "Trip.rating", "Trip.stops", "Stop", "Note"])
        #expect(preview.problems == [])
    }

    @Test func `a compaction and a call remove it`() throws {
        try write()
        let container = try earlier()
        try container.compact(removingSetAside: true)
        #expect(try container.setAside() == [] && container.removeSetAside() == [])
        let context = ModelContext(container)
        context.insert(Earlier.Trip("Sea"))
        try context.save()
        #expect(try ModelContext(app()).fetchCount(FetchDescriptor<App.Note>()) == 0)
    }

    @Test func `a stage of a plan removes it, and versions without a plan do not`() throws {
        try write()
        for plan in [nil, EarlierPlan.self] as [(any SchemaMigrationPlan.Type)?] {
            let schema = Schema(versionedSchema: EarlierPlan.Second.self)
            let container = try ModelContainer(for: schema, migrationPlan: plan, configurations: configuration)
            // The store had version 2 already when the plan saw it.
            #expect(try container.setAside().count == 5)
        }
        try write("other")
        let container = try ModelContainer(
            for: Schema(versionedSchema: EarlierPlan.Second.self),
            migrationPlan: EarlierPlan.self,
            configurations: configuration("other")
        )
        #expect(try container.setAside() == [])
        #expect(try ModelContext(container).fetchCount(FetchDescriptor<Earlier.Trip>()) == 1)
    }

    @Test func `without permission to migrate the store is refused`() throws {
        try write()
        var configuration = configuration
        configuration.allowsMigration = false
        #expect(throws: SwiftDataError.loadIssueModelContainer) {
            try ModelContainer(for: Earlier.Trip.self, configurations: configuration)
        }
    }
}
