import Observation
import SealedData
import Testing
import TestSupport

/// The changes of inherited properties that observers are notified of.
@Suite("Observation of inherited properties")
struct InheritedObservationTests {
    private let container: ModelContainer
    private let context: ModelContext
    private let garage = Garage(city: "Kyoto")
    private let taxi = Taxi(number: 7)

    /// Creates a saved taxi in a garage, with one part.
    init() throws {
        container = try ModelContainer(
            for: Vehicle.self,
            Car.self,
            Taxi.self,
            Truck.self,
            Bicycle.self,
            Garage.self,
            Part.self,
            Driver.self,
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        context = ModelContext(container)
        taxi.garage = garage
        taxi.parts = [Part(name: "wheel")]
        context.insert(taxi)
        try context.save()
    }

    /// The way in which an observer reads a property.
    private enum Reading: CaseIterable {
        /// Through the class of the object.
        case leaf
        /// Through an intermediate class.
        case middle
        /// Through the class that declares the property.
        case declaring
        /// Through a key path, in generic code.
        case generic
    }

    private func read<Value>(
        _ reading: Reading,
        _ leaf: KeyPath<Taxi, Value>,
        _ declaring: KeyPath<Vehicle, Value>
    ) -> Value {
        func generic<Model: PersistentModel>(_ model: Model, _ keyPath: KeyPath<Model, Value>) -> Value {
            model[keyPath: keyPath]
        }
        return switch reading {
        case .leaf: taxi[keyPath: leaf]
        case .middle: (taxi as Car)[keyPath: declaring]
        case .declaring: (taxi as Vehicle)[keyPath: declaring]
        case .generic: generic(taxi, leaf)
        }
    }

    @Test func `a setter notifies, and a setter of another property does not`() throws {
        for reading in Reading.allCases {
            #expect(notifications(of: { read(reading, \.wheels, \.wheels) }) { taxi.wheels += 1 } == 1, "\(reading)")
            #expect(notifications(of: { read(reading, \.wheels, \.wheels) }) { taxi.seats += 1 } == 0, "\(reading)")
        }
        #expect(notifications(of: { taxi.seats }) { (taxi as Car).seats += 1 } == 1)
    }

    @Test func `a rollback notifies`() throws {
        for reading in Reading.allCases {
            taxi.name = "changed"
            #expect(notifications(of: { read(reading, \.name, \.name) }) { context.rollback() } == 1, "\(reading)")
        }
        taxi.garage = nil
        #expect(notifications(of: { taxi.garage }) { context.rollback() } == 1)
        #expect(taxi.garage === garage)
    }

    @Test func `an undo and a redo notify`() throws {
        let undoManager = UndoManager()
        context.undoManager = undoManager
        for reading in Reading.allCases {
            taxi.name = "changed"
            context.processPendingChanges()
            #expect(notifications(of: { read(reading, \.name, \.name) }) { undoManager.undo() } == 1, "\(reading)")
            #expect(notifications(of: { read(reading, \.name, \.name) }) { undoManager.redo() } == 1, "\(reading)")
            undoManager.undo()
        }
    }

    @Test func `merging a save of another context notifies`() throws {
        let other = ModelContext(container)
        let counterpart = try #require(other.model(for: taxi.persistentModelID) as? Taxi)
        for reading in Reading.allCases {
            counterpart.wheels += 1
            counterpart.seats += 1
            try other.save()
            let count = notifications(of: { read(reading, \.wheels, \.wheels) }) { context.processPendingChanges() }
            #expect(count == 1, "\(reading)")
        }
        counterpart.garage = nil
        try other.save()
        #expect(notifications(of: { taxi.garage }) { context.processPendingChanges() } == 1)
    }

    @Test func `a change of the inverse side notifies`() throws {
        #expect(notifications(of: { taxi.garage }) { garage.vehicles = [] } == 1)
        #expect(notifications(of: { (taxi as Car).garage }) { garage.vehicles = [taxi] } == 1)
        #expect(notifications(of: { garage.vehicles }) { taxi.garage = nil } == 1)
        let part = try #require(taxi.parts.first)
        #expect(notifications(of: { taxi.parts }) { part.vehicle = nil } == 1)
        let driver = Driver(name: "Ann")
        context.insert(driver)
        #expect(notifications(of: { taxi.drivers }) { driver.cars = [taxi] } == 1)
    }

    @Test func `a deletion of a related object notifies`() throws {
        let part = try #require(taxi.parts.first)
        #expect(notifications(of: { taxi.parts }) { context.delete(part) } == 1)
        #expect(notifications(of: { (taxi as Vehicle).garage }) { context.delete(garage) } == 1)
        context.rollback()
        #expect(taxi.garage === garage)
        #expect(notifications(of: { garage.vehicles }) { context.delete(taxi) } == 1)
    }

    @Test func `merging a deletion of another context notifies`() throws {
        let other = ModelContext(container)
        other.delete(try #require(other.model(for: garage.persistentModelID) as? Garage))
        try other.save()
        #expect(notifications(of: { taxi.garage?.city }) { context.processPendingChanges() } == 1)
        #expect(taxi.garage == nil)
    }

    @Test func `access and withMutation identify an inherited property from every class`() {
        let vehicle: Vehicle = taxi
        #expect(notifications(of: { taxi.access(keyPath: \.wheels) }) { vehicle.wheels += 1 } == 1)
        #expect(notifications(of: { vehicle.access(keyPath: \.wheels) }) { taxi.wheels += 1 } == 1)
        #expect(notifications(of: { vehicle.wheels }) { taxi.withMutation(keyPath: \.wheels) {} } == 1)
        #expect(notifications(of: { taxi.wheels }) { vehicle.withMutation(keyPath: \.wheels) {} } == 1)
    }
}
