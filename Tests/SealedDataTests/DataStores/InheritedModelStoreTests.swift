import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Inheritance in a data store") struct InheritedModelStoreTests {
    @Model
    class Vehicle {
        var name: String
        var depot: Depot?

        init(name: String) { self.name = name }
    }

    @Model
    final class Bus: Vehicle {
        var seats = 40

        override init(name: String) { super.init(name: name) }
    }

    @Model
    final class Depot {
        var place: String
        @Relationship(inverse: \Vehicle.depot) var vehicles: [Vehicle] = []

        init(place: String) { self.place = place }
    }

    private let folder = TemporaryFolder()

    private func container() throws -> ModelContainer {
        try ModelContainer(
            for: Vehicle.self,
            Bus.self,
            Depot.self,
            configurations: JSONStoreConfiguration(name: "Vehicles", fileURL: folder.file("vehicles.json"))
        )
    }

    private func fill() throws {
        let context = ModelContext(try container())
        let depot = Depot(place: "north")
        context.insert(depot)
        depot.vehicles = [Vehicle(name: "van"), Bus(name: "coach")]
        let bus = Bus(name: "articulated")
        bus.seats = 90
        context.insert(bus)
        try context.save()
    }

    @Test func `a fetch of the superclass finds the models of all classes`() throws {
        try fill()
        let context = ModelContext(try container())
        let vehicles = try context.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
        #expect(vehicles.map(\.name) == ["articulated", "coach", "van"])
        #expect(vehicles.map { ($0 as? Bus)?.seats } == [90, 40, nil])
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 3)
        #expect(try context.fetchIdentifiers(FetchDescriptor<Vehicle>()).count == 3)
    }

    @Test func `a fetch of a subclass finds its own models`() throws {
        try fill()
        let context = ModelContext(try container())
        let large = FetchDescriptor<Bus>(predicate: #Predicate { $0.seats > 50 })
        #expect(try context.fetch(large).map(\.name) == ["articulated"])
        #expect(try context.fetchCount(FetchDescriptor<Bus>()) == 2)
    }

    @Test func `a relationship to the superclass has models of their classes`() throws {
        try fill()
        let context = ModelContext(try container())
        let depot = try #require(try context.fetch(FetchDescriptor<Depot>()).first)
        #expect(Set(depot.vehicles.map(\.name)) == ["van", "coach"])
        #expect(depot.vehicles.count { $0 is Bus } == 1)
        let id = try #require(depot.vehicles.first { $0 is Bus }).persistentModelID
        #expect(id.entityName == "Bus")
        let other = ModelContext(try container())
        #expect((other.model(for: id) as? Bus)?.depot?.place == "north")
    }

    @Test func `the encrypted store fetches and saves their snapshots directly`() throws {
        try fill()
        let store = try DefaultStore(
            ModelConfiguration(for: Vehicle.self, Bus.self, Depot.self, isStoredInMemoryOnly: true)
        )
        let data = try Data(contentsOf: folder.file("vehicles.json"))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let snapshots = try decoder.decode([DefaultSnapshot].self, from: data)
        let result = try store.save(DataStoreSaveChangesRequest(inserted: snapshots))
        #expect(result.remappedIdentifiers.count == 4)
        let vehicles = try store.fetch(DataStoreFetchRequest(descriptor: FetchDescriptor<Vehicle>()))
        #expect(vehicles.fetchedSnapshots.map(\.persistentIdentifier.entityName).sorted() == ["Bus", "Bus", "Vehicle"])
        #expect(try store.fetchCount(DataStoreFetchRequest(descriptor: FetchDescriptor<Bus>())) == 2)
    }
}
