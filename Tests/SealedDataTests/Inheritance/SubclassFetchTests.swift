import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Fetching objects of subclasses")
struct SubclassFetchTests {
    /// A file with one object of each class.
    private final class Fleet {
        let folder = TemporaryFolder()
        let context: ModelContext

        init(_ types: [any PersistentModel.Type] = [Vehicle.self, Taxi.self, Truck.self, Bicycle.self]) throws {
            context = ModelContext(try Self.container(types, in: folder))
            let garage = Garage(city: "Kyoto")
            let car = Car(name: "a car", seats: 5, plate: "K")
            let taxi = Taxi(number: 7)
            car.drivers = [Driver(name: "one")]
            taxi.drivers = car.drivers
            let truck = Truck(name: "truck")
            truck.trailer = taxi
            garage.vehicles = [Vehicle(name: "vehicle"), car, taxi, truck, Bicycle(name: "bicycle")]
            taxi.parts = [Part(name: "motor"), Part(name: "door")]
            context.insert(garage)
            try context.save()
        }

        /// A context without registered objects.
        func reopened(_ types: [any PersistentModel.Type] = [Taxi.self, Truck.self, Bicycle.self]) throws
            -> ModelContext
        {
            ModelContext(try Self.container(types, in: folder))
        }

        private static func container(_ types: [any PersistentModel.Type], in folder: TemporaryFolder) throws
            -> ModelContainer
        {
            try ModelContainer(
                for: Schema(types),
                configurations: ModelConfiguration(
                    url: folder.file("fleet.sealed"),
                    key: .ofTests
                )
            )
        }
    }

    @Test func `objects are of their classes, also in a reopened file`() throws {
        let fleet = try Fleet()
        for context in [fleet.context, try fleet.reopened()] {
            let vehicles = try context.fetch(FetchDescriptor<Vehicle>(sortBy: [SortDescriptor(\.name)]))
            #expect(vehicles.map { "\(type(of: $0))" } == ["Taxi", "Car", "Bicycle", "Truck", "Vehicle"])
            #expect(vehicles.map(\.name) == ["Taxi 7", "a car", "bicycle", "truck", "vehicle"])
            let taxi = try #require(vehicles.first as? Taxi)
            #expect((taxi.number, taxi.shifts, taxi.seats, taxi.wheels) == (7, ["day"], 4, 3))
        }
    }

    @Test func `a fetch of a subclass finds its own objects and those of its subclasses`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        #expect(
            try context.fetch(FetchDescriptor<Car>(sortBy: [SortDescriptor(\.name)])).map(\.name) == [
                "Taxi 7", "a car",
            ]
        )
        #expect(try context.fetch(FetchDescriptor<Taxi>()).map(\.number) == [7])
        #expect(try context.fetchCount(FetchDescriptor<Truck>()) == 1)
    }

    @Test func `inherited properties are found in predicates and sorting`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        let cars = try context.fetch(
            FetchDescriptor<Car>(
                predicate: #Predicate { $0.garage?.city == "Kyoto" && $0.seats > 1 },
                sortBy: [SortDescriptor(\.garage?.city), SortDescriptor(\.wheels)]
            )
        )
        #expect(cars.map(\.wheels) == [3, 4])
        let taxis = try context.fetch(
            FetchDescriptor<Taxi>(
                predicate: #Predicate { taxi in taxi.parts.contains { $0.name == "door" } },
                sortBy: [SortDescriptor(\.seats), SortDescriptor(\.name)]
            )
        )
        #expect(taxis.map(\.number) == [7])
    }

    @Test func `predicates can test the class`() throws {
        let fleet = try Fleet()
        for context in [fleet.context, try fleet.reopened()] {
            func names(_ predicate: Predicate<Vehicle>) throws -> [String] {
                try context.fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
            }
            #expect(try names(#Predicate { $0 is Car }) == ["Taxi 7", "a car"])
            #expect(try names(#Predicate { !($0 is Car) && $0.name != "truck" }) == ["bicycle", "vehicle"])
            #expect(try names(#Predicate { ($0 as? Car)?.seats == 5 }) == ["a car"])
            #expect(try names(#Predicate { ($0 as? Taxi)?.number == 7 || $0 is Bicycle }) == ["Taxi 7", "bicycle"])
            #expect(try names(#Predicate { ($0 as? Car)?.plate != nil }) == ["a car"])
            #expect(try names(#Predicate { ($0 as! Car).seats == 4 && $0 is Car }) == ["Taxi 7"])
        }
    }

    @Test func `predicates can test the class of a relationship's destination`() throws {
        let fleet = try Fleet()
        for context in [fleet.context, try fleet.reopened()] {
            let trucks = try context.fetch(
                FetchDescriptor<Truck>(predicate: #Predicate { $0.trailer is Taxi })
            )
            #expect(trucks.map(\.name) == ["truck"])
            let pulling = try context.fetch(
                FetchDescriptor<Truck>(
                    predicate: #Predicate { ($0.trailer as? Car)?.seats == 4 && !($0.trailer is Bicycle) }
                )
            )
            #expect(pulling.map(\.name) == ["truck"])
            let none = try context.fetch(
                FetchDescriptor<Truck>(predicate: #Predicate { ($0.trailer as? Bicycle)?.name == "Taxi 7" })
            )
            #expect(none.isEmpty)
            let parked = try context.fetch(
                FetchDescriptor<Vehicle>(
                    predicate: #Predicate { ($0 as? Car)?.garage?.city == "Kyoto" },
                    sortBy: [SortDescriptor(\.name)]
                )
            )
            #expect(parked.map(\.name) == ["Taxi 7", "a car"])
            let garages = try context.fetch(
                FetchDescriptor<Garage>(predicate: #Predicate { $0.vehicles.contains { $0 is Bicycle } })
            )
            #expect(garages.map(\.city) == ["Kyoto"])
        }
    }

    @Test func `relationships have objects of their classes`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        let truck = try #require(try context.fetch(FetchDescriptor<Truck>()).first)
        #expect((truck.trailer as? Taxi)?.number == 7)
        let garage = try #require(truck.garage)
        #expect(Set(garage.vehicles.map { "\(type(of: $0))" }) == ["Vehicle", "Car", "Taxi", "Truck", "Bicycle"])
        let driver = try #require(try context.fetch(FetchDescriptor<Driver>()).first)
        #expect(driver.cars.map(\.name).sorted() == ["Taxi 7", "a car"])
        #expect(driver.cars.contains { $0 is Taxi })
    }

    @Test func `inherited relationships can be prefetched`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        var descriptor = FetchDescriptor<Taxi>()
        descriptor.relationshipKeyPathsForPrefetching = [\.garage, \.parts, \.drivers]
        descriptor.propertiesToFetch = [\.name, \.number]
        let taxi = try #require(try context.fetch(descriptor).first)
        #expect(taxi.parts.map(\.name) == ["motor", "door"])
        #expect((taxi.garage?.city, taxi.drivers.map(\.name), taxi.seats) == ("Kyoto", ["one"], 4))
    }

    @Test func `a deletion of a class can exclude its subclasses`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        try context.delete(model: Car.self, includeSubclasses: false)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Car>()).map(\.name) == ["Taxi 7"])
        try context.delete(model: Vehicle.self, where: #Predicate { $0.name == "Taxi 7" })
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Part>()) == 0)
        try context.delete(model: Vehicle.self)
        try context.save()
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 0)
        #expect(try fleet.reopened().fetchCount(FetchDescriptor<Garage>()) == 1)
    }

    @Test func `a constraint of a subclass applies to its objects only`() throws {
        let fleet = try Fleet()
        let context = try fleet.reopened()
        let again = Taxi(number: 7, shifts: ["night"])
        context.insert(again)
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Taxi>()).map(\.shifts) == [["night"]])
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 5)
    }

    @Test(arguments: [[Vehicle.self], [Car.self]] as [[any PersistentModel.Type]])
    func `a container includes the superclasses of its classes`(types: [any PersistentModel.Type]) throws {
        let container = try ModelContainer(
            for: Schema(types),
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        let context = ModelContext(container)
        context.insert(Vehicle(name: "v"))
        try context.save()
        #expect(try context.fetch(FetchDescriptor<Vehicle>()).map(\.name) == ["v"])
        #expect(container.schema.entitiesByName["Vehicle"] != nil)
        #expect((container.schema.entitiesByName["Car"] != nil) == (types.first == Car.self))
    }
}
