import Foundation
import SealedData
import Testing

// A new app whose module is isolated to the main actor by default, with its models, its view model and its tests.

@Model
final class Trip {
    @Attribute(.unique) var name: String
    var start: Date?
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []

    init(name: String) {
        self.name = name
    }
}

@Model
final class Stop {
    var place: String
    var trip: Trip?

    init(place: String) {
        self.place = place
    }
}

@Observable
final class TripList {
    private(set) var trips: [Trip] = []
    private let context: ModelContext

    init(_ container: ModelContainer) {
        context = container.mainContext
    }

    func load(containing text: String) throws {
        let predicate = #Predicate<Trip> { $0.name.contains(text) || $0.stops.contains { $0.place == text } }
        trips = try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)]))
    }
}

@ModelActor
actor Importer {
    func add(_ name: String, stops: [String]) throws -> PersistentIdentifier {
        let trip = Trip(name: name)
        trip.stops = stops.map { Stop(place: $0) }
        modelContext.insert(trip)
        try modelContext.save()
        return trip.persistentModelID
    }
}

@Suite("A module isolated to the main actor")
struct MainActorAppTests {
    @Test func `declares models, fetches them and imports in the background`() async throws {
        let container = try ModelContainer(
            for: Trip.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        container.mainContext.insert(Trip(name: "Kyoto"))
        try container.mainContext.save()
        let list = TripList(container)
        try list.load(containing: "Kyoto")
        #expect(list.trips.map(\.name) == ["Kyoto"])

        let id = try await Importer(modelContainer: container).add("Kansai", stops: ["Nara", "Kobe"])
        try list.load(containing: "Kobe")
        #expect(list.trips.map(\.name) == ["Kansai"])
        let trip = try #require(container.mainContext.model(for: id) as? Trip)
        #expect(trip.stops.count == 2)
    }
}
