import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Direct use of the encrypted store") struct DefaultStoreTests {
    private typealias Trip = Itineraries.Trip
    private typealias Stop = Itineraries.Stop

    private let folder = TemporaryFolder()

    private var configuration: ModelConfiguration {
        ModelConfiguration(
            "trips",
            schema: Itineraries.schema,
            url: folder.file("trips.store"),
            key: .ofTests
        )
    }

    /// Saves a trip with two stops through a container.
    private func fill() throws {
        let context = ModelContext(try ModelContainer(for: Itineraries.schema, configurations: configuration))
        let trip = Trip("Kyoto")
        trip.place = Itineraries.Place(name: "station", latitude: 35)
        context.insert(trip)
        trip.stops = [Stop("temple"), Stop("garden")]
        try context.save()
    }

    private func fetch<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        _ store: DefaultStore
    ) throws -> [DefaultSnapshot] {
        try store.fetch(DataStoreFetchRequest(descriptor: descriptor)).fetchedSnapshots
    }

    @Test func `it fetches snapshots of models that a container saved`() throws {
        try fill()
        let store = try DefaultStore(configuration)
        var descriptor = FetchDescriptor<Trip>(predicate: #Predicate { $0.name == "Kyoto" })
        descriptor.relationshipKeyPathsForPrefetching = [\.stops]
        let result = try store.fetch(DataStoreFetchRequest(descriptor: descriptor))
        let trip = try #require(result.fetchedSnapshots.first)
        #expect(trip.persistentIdentifier.storeIdentifier == store.identifier)
        #expect(result.relatedSnapshots.count == 2)
        let request = DataStoreFetchRequest(descriptor: FetchDescriptor<Stop>())
        #expect(try store.fetchCount(request) == 2)
        #expect(try Set(store.fetchIdentifiers(request)) == Set(result.relatedSnapshots.keys))
        let cached = try store.cachedSnapshots(for: [trip.persistentIdentifier], editingState: EditingState())
        #expect(cached.keys.map { $0 } == [trip.persistentIdentifier])
        #expect(store.name == "trips")
        #expect(store.schema == Itineraries.schema)
    }

    @Test func `it saves snapshots that a container fetches as models`() throws {
        try fill()
        let store = try DefaultStore(configuration)
        let trip = try #require(try fetch(FetchDescriptor<Trip>(), store).first)
        let stop = try #require(try fetch(FetchDescriptor<Stop>(), store).first)
        // Copies of snapshots with temporary identifiers, as of new models.
        let (newTrip, newStop) = try temporaryIdentifiers()
        let inserted = [
            trip.copy(
                persistentIdentifier: newTrip,
                remappedIdentifiers: [stop.persistentIdentifier: newStop]
            ),
            stop.copy(persistentIdentifier: newStop, remappedIdentifiers: [trip.persistentIdentifier: newTrip]),
        ]
        let result = try store.save(DataStoreSaveChangesRequest(inserted: inserted))
        #expect(Set(result.remappedIdentifiers.keys) == [newTrip, newStop])
        #expect(result.storeIdentifier == store.identifier)

        let context = ModelContext(try ModelContainer(for: Itineraries.schema, configurations: configuration))
        let copy = try #require(context.model(for: result.remappedIdentifiers[newTrip]!) as? Trip)
        #expect(copy.name == "Kyoto")
        #expect(copy.place == Itineraries.Place(name: "station", latitude: 35))
        #expect(copy.stops.contains { $0.persistentModelID == result.remappedIdentifiers[newStop] })
        #expect(try context.fetchCount(FetchDescriptor<Trip>()) == 2)
    }

    /// Temporary identifiers, as of new models.
    private func temporaryIdentifiers() throws -> (trip: PersistentIdentifier, stop: PersistentIdentifier) {
        (Trip("").persistentModelID, Stop("").persistentModelID)
    }

    @Test func `it updates and deletes by snapshot`() throws {
        try fill()
        let store = try DefaultStore(configuration)
        let stops = try fetch(FetchDescriptor<Stop>(sortBy: [SortDescriptor(\.title)]), store)
        let title = #""title":"garden""#
        let encoded = String(decoding: try JSONEncoder().encode(stops[0]), as: UTF8.self)
        #expect(encoded.contains(title))
        let changed = try JSONDecoder().decode(
            DefaultSnapshot.self,
            from: Data(encoded.replacing(title, with: #""title":"market""#).utf8)
        )
        try _ = store.save(DataStoreSaveChangesRequest(updated: [changed], deleted: [stops[1]]))
        let context = ModelContext(try ModelContainer(for: Itineraries.schema, configurations: configuration))
        #expect(try context.fetch(FetchDescriptor<Stop>()).map(\.title) == ["market"])
        #expect(try context.fetch(FetchDescriptor<Trip>()).first?.stops.count == 1)
    }

    @Test func `it deletes by predicate and delete rules, and erases everything`() throws {
        try fill()
        let store = try DefaultStore(configuration)
        try store.delete(DataStoreBatchDeleteRequest<Stop>(predicate: #Predicate { $0.title == "temple" }))
        #expect(try fetch(FetchDescriptor<Stop>(), store).count == 1)
        try store.delete(DataStoreBatchDeleteRequest<Trip>())
        #expect(try fetch(FetchDescriptor<Stop>(), store).isEmpty)
        try fill()
        try store.erase()
        #expect(try fetch(FetchDescriptor<Trip>(), store).isEmpty)
    }

    @Test func `it requires the classes and the key`() throws {
        #expect(throws: SwiftDataError.unknownSchema) { try DefaultStore(ModelConfiguration()) }
        let keyless = ModelConfiguration(schema: Itineraries.schema, url: folder.file("x.store"))
        #expect(throws: SwiftDataError.loadIssueModelContainer) { try DefaultStore(keyless) }
        let inMemory = try DefaultStore(ModelConfiguration(for: Trip.self, isStoredInMemoryOnly: true))
        #expect(try fetch(FetchDescriptor<Trip>(), inMemory).isEmpty)
    }
}
