import Foundation
import ObjectGraph
import SealedData
import SealedStore
import TestSupport
import Testing

/// Two versions of classes that get other names, and other properties at the same time.
private enum Places {
    enum V1: VersionedSchema {
        static let versionIdentifier = Schema.Version(1, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self, Stop.self, Station.self] }

        @Model
        final class Trip {
            var name = ""
            @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
            init(_ name: String) { self.name = name }
        }

        @Model
        class Stop {
            var title = ""
            var minutes = 0
            var trip: Trip?
            init(_ title: String, minutes: Int) {
                self.title = title
                self.minutes = minutes
            }
        }

        @Model
        class Station: Stop {
            var platforms = 0
            init(_ title: String, platforms: Int) {
                self.platforms = platforms
                super.init(title, minutes: 10)
            }
        }
    }

    enum V2: VersionedSchema {
        static let versionIdentifier = Schema.Version(2, 0, 0)
        static var models: [any PersistentModel.Type] { [Trip.self, Place.self, Terminal.self, Stop.self] }

        @Model
        final class Trip {
            var name = ""
            @Relationship(deleteRule: .cascade, originalName: "stops", inverse: \Place.trip) var places: [Place] = []
            init() {}
        }

        /// Renamed, with a renamed, a converted and an added property.
        @Model(originalName: "Stop")
        class Place {
            @Attribute(.unique, originalName: "title") var name = ""
            var minutes = 0.0
            var rating = 3
            var trip: Trip?
            init(_ name: String) { self.name = name }
        }

        /// A renamed subclass of a renamed class.
        @Model(originalName: "Station")
        final class Terminal: Place {
            var platforms = ""
            init() { super.init("") }
        }

        /// A new class with the old name.
        @Model
        final class Stop {
            var reason = ""
            init(_ reason: String) { self.reason = reason }
        }
    }
}

@Suite("Renamed model classes") struct RenamedClassTests {
    private let folder = TemporaryFolder()
    private let key: EncryptionKey

    init() throws {
        key = try .raw(Array(repeating: 7, count: 32))
    }

    private func open(_ version: any VersionedSchema.Type) throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Schema(versionedSchema: version),
                configurations: ModelConfiguration(url: folder.file("places.store"), key: key)
            )
        )
    }

    private func makeFirstVersion() throws {
        let context = try open(Places.V1.self)
        let trip = Places.V1.Trip("Alps")
        context.insert(trip)
        trip.stops = [Places.V1.Stop("Lake", minutes: 20), Places.V1.Station("Bern", platforms: 12)]
        try context.save()
    }

    private func expectSecondVersion(_ context: ModelContext) throws {
        let places = try context.fetch(FetchDescriptor<Places.V2.Place>(sortBy: [SortDescriptor(\.name)]))
        #expect(places.map(\.name) == ["Bern", "Lake"])
        #expect(places.map(\.minutes) == [10, 20])
        #expect(places.map(\.rating) == [3, 3])
        #expect(places.map { $0 is Places.V2.Terminal } == [true, false])
        #expect((places.first as? Places.V2.Terminal)?.platforms == "12")
        #expect(try context.fetch(FetchDescriptor<Places.V2.Trip>()).first?.places.count == 2)
        #expect(try context.storeProblems() == [])
    }

    @Test func `objects of a renamed class stay, with changed properties, subclasses and relationships`() throws {
        try makeFirstVersion()
        let context = try open(Places.V2.self)
        try expectSecondVersion(context)
        #expect(try context.fetchCount(FetchDescriptor<Places.V2.Stop>()) == 0)
    }

    @Test func `the renaming applies once, so that a new class with the old name keeps its objects`() throws {
        try makeFirstVersion()
        do {
            let context = try open(Places.V2.self)
            context.insert(Places.V2.Stop("rest"))
            try context.save()
        }
        let context = try open(Places.V2.self)
        try expectSecondVersion(context)
        #expect(try context.fetch(FetchDescriptor<Places.V2.Stop>()).map(\.reason) == ["rest"])
    }

    @Test func `the schema has the original names of the classes that declare one`() throws {
        let schema = Schema(versionedSchema: Places.V2.self)
        let names = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0.originalName) })
        #expect(names == ["Trip": "Trip", "Place": "Stop", "Terminal": "Station", "Stop": "Stop"])
        let loaded = try JSONDecoder().decode(Schema.self, from: JSONEncoder().encode(schema))
        #expect(loaded == schema)
        #expect(loaded.entitiesByName["Place"]?.originalName == "Stop")
    }

    @Test func `an entity made by hand has an original name`() throws {
        let entity = Schema.Entity("Place", properties: Schema.Attribute(name: "name", valueType: String.self))
        #expect(entity.originalName == "Place")
        let plain = Schema.Entity("Place", properties: Schema.Attribute(name: "name", valueType: String.self))
        entity.originalName = "Stop"
        #expect(entity != plain)
    }
}
