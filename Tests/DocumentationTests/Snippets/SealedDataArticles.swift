// swift-format-ignore-file
// The Swift code of SealedData's articles, line by line: a test compares.

import Foundation
import SealedData

@Model final class Trip {
    @Attribute(.unique) var name: String
    var start: Date
    var mood: Mood = Mood.curious
    @Attribute(.externalStorage) var map: Data?
    @Relationship(deleteRule: .cascade, inverse: \Stop.trip) var stops: [Stop] = []
    @Transient var isSelected = false

    init(name: String, start: Date) {
        self.name = name
        self.start = start
    }

    enum Mood: String, Codable { case curious, tired }
}

@Model final class Stop {
    var place: String
    var trip: Trip?

    init(place: String) { self.place = place }
}

@Model final class Yard {
    @Relationship(inverse: \Plant.yard) var leading: [Plant] = []
    @Relationship(inverse: \Plant.yard) var trailing: [Plant] = []
    init() {}
}

@Model final class Plant {
    var yard: Yard?
    init() {}
}

@Model class Place {
    var name: String
    init(name: String) { self.name = name }
}

@Model final class Museum: Place {
    var fee: Double

    init(name: String, fee: Double) {
        self.fee = fee
        super.init(name: name)
    }
}

@ModelActor actor Importer {
    func add(_ places: [String], to id: PersistentIdentifier) throws -> Int {
        guard let trip = self[id, as: Trip.self] else { return 0 }
        for place in places { trip.stops.append(Stop(place: place)) }
        try modelContext.save()
        return trip.stops.count
    }
}

@ModelActor actor Recorder {
    func start() { modelContext.autosaveEnabled = true }

    func record(_ place: String) { modelContext.insert(Stop(place: place)) }
}

/// The statements of DeclaringModels and ContextsAndActors.
func runSealedDataArticles(url: URL, write: @escaping @Sendable (String) -> Void) async throws {
    @Sendable func print(_ value: some Any) { write("\(value)") }
    let container = try ModelContainer(
        for: Trip.self, Museum.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)

    let trip = Trip(name: "Kyoto", start: .now)
    trip.stops.append(Stop(place: "Nijō"))
    context.insert(trip)
    try context.save()
    print(trip.stops[0].trip === trip)

    context.insert(Place(name: "Gion"))
    context.insert(Museum(name: "Kyōto National Museum", fee: 700))
    let museums = #Predicate<Place> { ($0 as? Museum)?.fee == 700 }
    for place in try context.fetch(FetchDescriptor(predicate: museums)) {
        print(place.name)
    }

    context.insert(Trip(name: "Kyoto", start: .distantFuture))
    try context.save()
    print(try context.fetchCount(FetchDescriptor<Trip>()))

    let stop = Stop(place: "Pontochō")
    context.insert(stop)
    try context.save()
    context.delete(stop)
    print(stop.isDeleted && stop.modelContext === context)
    try context.save()
    print(stop.isDeleted || stop.modelContext != nil)
    print(stop.place)

    withObservationTracking {
        _ = trip.mood
    } onChange: {
        print("the mood changes")
    }
    trip.mood = .tired

    let importer = Importer(modelContainer: container)
    print(try await importer.add(["Gion", "Arashiyama"], to: trip.persistentModelID))

    var descriptor = FetchDescriptor<Stop>(sortBy: [SortDescriptor(\.place)])
    descriptor.relationshipKeyPathsForPrefetching = [\.trip]
    try context.enumerate(descriptor, batchSize: 500) { stop in
        print(stop.place)
    }

    let (count, average) = try context.aggregate(Museum.self, .count(), .average(\.fee))
    print("\(count) \(average ?? 0)")
    let families = #Expression<Museum, Double> { $0.fee * 2 }
    let dearest = try context.aggregate(Museum.self, .maximum(of: families))
    print(dearest ?? 0)

    let rows = try context.aggregate(
        Stop.self,
        groupedBy: \.trip?.name,
        computing: .count(), .minimum(\.place),
        having: .count() > 1,
        sortBy: [AggregateSort(.count(), order: .reverse)]
    )
    for (trip, count, first) in rows { print("\(trip ?? "nowhere") \(count) \(first ?? "")") }

    let archive = ModelConfiguration("archive", schema: Schema([Trip.self, Stop.self]), url: url, key: .passphrase("secret"))
    let separate = try ModelContainer(for: Schema([Trip.self, Stop.self]), configurations: [archive])
    print(separate.configurations.count)

    let queue = DispatchQueue(label: "recorder")
    queue.async {
        let context = ModelContext(container)
        context.enableAutosave(on: queue)
        context.insert(Stop(place: "Pontochō"))
    }

    context.didFailToRead = { failure in
        print("\(failure.propertyName ?? "model"): \(failure.cause)")
    }
    do {
        try context.save()
    } catch where !context.readFailures.isEmpty {
        print("\(context.readFailures.count) values could not be read")
        context.rollback()
    }
}
