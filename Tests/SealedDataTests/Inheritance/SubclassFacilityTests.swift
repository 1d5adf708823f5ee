import Foundation
import Guarded
import SealedData
import Testing

@Suite("Further features of subclasses")
struct SubclassFacilityTests {
    private func context() throws -> ModelContext {
        ModelContext(
            try ModelContainer(
                for: Taxi.self,
                Ranked.self,
                configurations: ModelConfiguration(isStoredInMemoryOnly: true)
            )
        )
    }

    @Test func `properties of all classes are observed`() throws {
        let saved = try Saved(Taxi(number: 1))
        let taxi = saved.model
        let changeCount = Guarded(0)
        func observe(_ read: () -> Void) {
            withObservationTracking(read) { changeCount.withLock { $0 += 1 } }
        }
        observe { _ = taxi.name }
        observe { _ = taxi.seats }
        observe { _ = taxi.shifts }
        taxi.name = "other"
        taxi.seats = 9
        taxi.shifts.append("night")
        #expect(changeCount.withLock { $0 } == 3)
    }

    @Test func `changes of all classes are undone`() throws {
        let saved = try Saved(Car(name: "C", seats: 5))
        let (car, context) = (saved.model, saved.context)
        context.undoManager = UndoManager()
        (car.name, car.seats) = ("D", 2)
        context.processPendingChanges()
        context.undoManager?.undo()
        #expect((car.name, car.seats) == ("C", 5))
        context.undoManager?.redo()
        #expect((car.name, car.seats) == ("D", 2))
    }

    @Test func `backing data has the values of all classes`() throws {
        let taxi = Taxi(number: 3)
        #expect(taxi.persistentBackingData.getValue(forKey: \.name) == "Taxi 3")
        #expect(taxi.persistentBackingData.getValue(forKey: \.seats) == 4)
        let data: some BackingData<Truck> = Truck.createBackingData()
        #expect(data.getValue(forKey: \.load) == 7.5)
        data.setValue(forKey: \.name, to: "T")
        data.setValue(forKey: \.load, to: 1)
        let truck = Truck(backingData: data)
        #expect((truck.name, truck.wheels, truck.load) == ("T", 4, 1))
        let copy = Car(backingData: Car(name: "C", seats: 5, plate: "P").persistentBackingData)
        #expect((copy.name, copy.seats, copy.plate) == ("C", 5, "P"))
    }

    @Test func `an object is found by its identifier, whatever its class`() throws {
        let context = try context()
        let taxi = Taxi(number: 1)
        context.insert(taxi)
        try context.save()
        let id = taxi.persistentModelID
        #expect(id.entityName == "Taxi")
        let other = ModelContext(context.container)
        #expect((other.model(for: id) as? Taxi)?.number == 1)
        let vehicle: Vehicle? = other.registeredModel(for: id)
        #expect(vehicle is Taxi)
    }

    @Test func `batched fetches and enumerations return objects of their classes`() throws {
        let context = try context()
        for number in 0..<10 { context.insert(number.isMultiple(of: 2) ? Taxi(number: number) : Vehicle(name: "v")) }
        try context.save()
        let reader = ModelContext(context.container)
        let batches = try reader.fetch(FetchDescriptor<Vehicle>(), batchSize: 3)
        #expect(batches.map { $0 is Taxi } == (0..<10).map { $0.isMultiple(of: 2) })
        var numbers: [Int] = []
        try reader.enumerate(FetchDescriptor<Vehicle>(), batchSize: 4) { vehicle in
            if let taxi = vehicle as? Taxi { numbers.append(taxi.number) }
        }
        #expect(numbers == [0, 2, 4, 6, 8])
    }

    /// With constraints and indexes over inherited properties.
    @Model final class Ranked: Vehicle {
        #Unique<Ranked>([\.name, \.rank])
        #Index<Ranked>([\.wheels, \.rank])
        var rank: Int

        init(name: String, rank: Int) {
            self.rank = rank
            super.init(name: name)
        }
    }

    @Test func `constraints of a subclass may name inherited properties`() throws {
        let context = try context()
        for (name, rank) in [("a", 1), ("a", 2), ("b", 1)] { context.insert(Ranked(name: name, rank: rank)) }
        context.insert(Vehicle(name: "a"))
        try context.save()
        let again = Ranked(name: "a", rank: 2)
        again.wheels = 8
        context.insert(again)
        try context.save()
        let reader = ModelContext(context.container)
        #expect(try reader.fetch(FetchDescriptor<Ranked>()).map(\.wheels) == [4, 8, 4])
        #expect(try reader.fetchCount(FetchDescriptor<Vehicle>()) == 4)
    }

    @Test func `a new unsaved object can be rolled back`() throws {
        let context = try context()
        let taxi = Taxi(number: 1)
        context.insert(taxi)
        context.rollback()
        #expect(try context.fetchCount(FetchDescriptor<Vehicle>()) == 0)
        #expect(taxi.number == 1)
    }

    @Model class Base {
        var name: String
        init(_ name: String = "base") { self.name = name }
    }

    /// Inherits its initializers.
    @Model final class Heir: Base {
        @Transient var helper = Base("helper")
    }

    @Test func `an initial value may be an object of the superclass with inherited initializers too`() throws {
        let saved = try Saved(Heir("heir"))
        #expect((saved.model.name, saved.model.helper.name) == ("heir", "helper"))
        #expect(saved.model.helper.modelContext == nil)
        #expect(!saved.context.hasChanges)
    }
}
