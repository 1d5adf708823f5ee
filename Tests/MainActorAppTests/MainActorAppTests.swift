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

// The protocols are isolated to the main actor, and with them the classes that adopt them.

protocol Named {
    var name: String { get set }
}

protocol Persisted: PersistentModel {
    var name: String { get set }
    static var defaultName: String { get }
}

@Model
class Vehicle: Named {
    var name: String
    let wheels: Int
    var tags: [String] = []
    var kilometres = 0 {
        didSet { changes += 1 }
    }
    @Attribute(.ephemeral) var isMoving = false
    @Transient var changes = 0
    @Relationship(deleteRule: .cascade, inverse: \Seat.vehicle) var seats: [Seat] = []

    init(name: String, wheels: Int) {
        self.name = name
        self.wheels = wheels
    }
}

@Model
final class Bus: Vehicle {
    var line = ""

    init(line: String) {
        super.init(name: "bus", wheels: 6)
        self.line = line
    }
}

@Model
final class Seat: Named, Identifiable {
    #Unique<Seat>([\.name])
    var name: String
    var vehicle: Vehicle?

    init(name: String) {
        self.name = name
    }
}

@Model
final class Station: Persisted {
    static let defaultName = "station"
    var name = "station"
}

@Model
class Machine: Named {
    var name = ""
    var parts: [Part] = []
    init() {}
}

@Model
final class Crane: Machine {
    var height = 3
}

@Model
final class Part: Named {
    var name = "part"
    var machine: Machine?
}

nonisolated protocol Cargo: Codable {}

nonisolated struct Coal: Cargo {
    var grade = "anthracite"
}

@Model
class Wagon<Load: Cargo>: Named {
    var name = ""
    var tonnes: Int
    var load: Load?

    init(tonnes: Int) {
        self.tonnes = tonnes
    }
}

@Model
final class TankWagon<Load: Cargo>: Wagon<Load> {
    var pressure = 1.5
}

@Model
final class Trailer<Load: Cargo>: Identifiable, Named {
    var name = "trailer"
}

@Model
final class Container<Load: Cargo>: Named {
    var name = "container"
}

/// Makes a container of generic models outside the main actor.
@concurrent
func makeGenericContainer() async throws -> ModelContainer {
    try ModelContainer(
        for: TankWagon<Coal>.self,
        Trailer<Coal>.self,
        Container<Coal>.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
}

/// Makes a container outside the main actor.
@concurrent
func makeContainer() async throws -> ModelContainer {
    try ModelContainer(
        for: Crane.self,
        Part.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true)
    )
}

nonisolated protocol Priced {
    var price: Int { get }
}

@Model
final class Ticket: Priced {
    var price: Int

    init(price: Int) {
        self.price = price
    }
}

@ModelActor
actor TicketOffice {
    func sell(_ price: Int) throws -> Int {
        modelContext.insert(Ticket(price: price))
        try modelContext.save()
        let predicate = #Predicate<Ticket> { $0.price == price }
        return try modelContext.fetchCount(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.price)]))
    }

    func count<Model: PersistentModel>(_ type: Model.Type) throws -> Int {
        try modelContext.fetch(FetchDescriptor<Model>()).count
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

    @Test func `declares models with protocols of the module`() async throws {
        let container = try ModelContainer(
            for: Bus.self,
            Station.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = container.mainContext
        let bus = Bus(line: "7")
        bus.seats = [Seat(name: "1A")]
        bus.kilometres = 5
        bus.tags.append("red")
        context.insert(bus)
        context.insert(Vehicle(name: "bike", wheels: 2))
        context.insert(Station())
        try context.save()

        let other = ModelContext(container)
        let vehicles = try other.fetch(FetchDescriptor<Vehicle>()).sorted { $0.wheels < $1.wheels }
        #expect(vehicles.map(\.name) == ["bike", "bus"])
        let read = try #require(vehicles.last as? Bus)
        #expect((read.line, read.wheels, read.kilometres, read.tags, read.changes) == ("7", 6, 5, ["red"], 0))
        #expect(read.seats.map(\.name) == ["1A"])
        #expect(try other.fetch(FetchDescriptor<Station>()).map(\.name) == ["station"])
        let named: any Named = read
        #expect(named.name == "bus")
        #expect(Schema([Seat.self]).entity(for: Seat.self)?.uniquenessConstraints == [["name"]])
        #expect(try await TicketOffice(modelContainer: container).count(Vehicle.self) == 2)
    }

    @Test func `makes the schema and the objects of isolated classes in the background`() async throws {
        let container = try await makeContainer()
        let crane = Crane()
        crane.parts = [Part()]
        container.mainContext.insert(crane)
        try container.mainContext.save()
        let office = TicketOffice(modelContainer: container)
        #expect(try await office.count(Machine.self) == 1)
        #expect(try await office.count(Crane.self) == 1)
        #expect(try await office.count(Part.self) == 1)
    }

    @Test func `declares generic models with protocols of the module`() async throws {
        let container = try await makeGenericContainer()
        let context = container.mainContext
        let tank = TankWagon<Coal>(tonnes: 60)
        tank.load = Coal()
        context.insert(tank)
        context.insert(Wagon<Coal>(tonnes: 20))
        context.insert(Trailer<Coal>())
        context.insert(Container<Coal>())
        try context.save()
        let wagons = try ModelContext(container).fetch(FetchDescriptor<Wagon<Coal>>()).sorted { $0.tonnes < $1.tonnes }
        #expect(wagons.map(\.tonnes) == [20, 60])
        #expect(wagons.map { ($0 as? TankWagon<Coal>)?.pressure } == [nil, 1.5])
        #expect(wagons.map { $0.load?.grade } == [nil, "anthracite"])
        let office = TicketOffice(modelContainer: container)
        #expect(try await office.count(Wagon<Coal>.self) == 2)
        #expect(try await office.count(Trailer<Coal>.self) == 1)
        #expect(try await office.count(Container<Coal>.self) == 1)
    }

    @Test func `uses models with nonisolated protocols in the background`() async throws {
        let container = try ModelContainer(
            for: Ticket.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        #expect(try await TicketOffice(modelContainer: container).sell(3) == 1)
    }
}
