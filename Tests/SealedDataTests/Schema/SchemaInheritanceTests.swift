import ObjectGraph
import Testing

@testable import SealedData

@Suite("Model classes that inherit from model classes")
struct SchemaInheritanceTests {
    @Test func `a superclass belongs to the schema of its subclass`() throws {
        let schema = Schema([Car.self])
        #expect(schema.entities.map(\.name) == ["Car", "Vehicle", "Garage"])
        let car = try #require(schema.entity(for: Car.self))
        #expect(car.superentityName == "Vehicle")
        #expect(car.superentity === schema.entity(for: Vehicle.self))
        #expect(schema.entity(for: Vehicle.self)?.subentities == [car])
        #expect(car.storedProperties.map(\.name) == ["seats"])
        #expect(car.inheritedProperties.map(\.name) == ["name", "garage"])
    }

    @Test func `inherited properties have the first slots`() throws {
        let model = try Schema([Vehicle.self, Car.self]).makeModel().model
        let car = try #require(model.entitiesByName["Car"])
        #expect(car.properties.map(\.name) == ["name", "garage", "seats"])
        #expect(car.superentity?.name == "Vehicle")
        #expect(car.relationship(named: "garage")?.inverse?.name == "vehicles")
    }

    @Test func `an inherited property is found in both of its forms`() {
        #expect(PropertyLookup.slot(of: \Vehicle.name, in: Car.self) == 0)
        #expect(PropertyLookup.slot(of: \Car.name, in: Car.self) == 0)
        #expect(PropertyLookup.slot(of: \Car.garage, in: Car.self) == 1)
        #expect(PropertyLookup.slot(of: \Car.seats, in: Car.self) == 2)
        #expect(PropertyLookup.name(of: \Car.garage, in: Car.self) == "garage")
        #expect(PropertyLookup.slot(of: \Car.seats, in: Vehicle.self) == nil)
    }

    @Test func `a class that lists its superclass's properties again does not have them twice`() throws {
        let truck = try #require(Schema([Truck.self]).makeModel().model.entitiesByName["Truck"])
        #expect(truck.properties.map(\.name) == ["name", "garage", "load"])
    }

    @Test func `a class that adds nothing has its superclass's properties only`() throws {
        let van = try #require(Schema([Van.self]).makeModel().model.entitiesByName["Van"])
        #expect(van.properties.map(\.name) == ["name", "garage"])
    }
}

// Written by hand: what the schema needs to know of classes that inherit, whichever way their metadata is put together.

private class Vehicle: PersistentModel, _InheritableModel {
    var _$state: _ObjectState
    var name: String { "" }
    var garage: Garage? { nil }

    class var schemaMetadata: [Schema.PropertyMetadata] {
        [
            Schema.PropertyMetadata(name: "name", keypath: \Vehicle.name),
            Schema.PropertyMetadata(name: "garage", keypath: \Vehicle.garage),
        ]
    }
    class var _$slotCount: Int { 2 }
    class func _$applyDefaults(to state: inout _ObjectState) {}
    class func _$keyPaths(from type: any PersistentModel.Type) -> [AnyKeyPath] {
        func keyPaths<M: Vehicle>(_: M.Type) -> [AnyKeyPath] { [\M.name, \M.garage] }
        return (type as? any (Vehicle & PersistentModel).Type).map { keyPaths($0) } ?? []
    }

    required init(_materializing: _Materialization) { _$state = _ObjectState(Vehicle.self) }
}

private class Car: Vehicle {
    var seats: Int { 4 }

    override class var schemaMetadata: [Schema.PropertyMetadata] {
        [Schema.PropertyMetadata(name: "seats", keypath: \Car.seats)]
    }
    override class var _$slotCount: Int { 3 }
}

private final class Truck: Vehicle {
    var load: Int { 0 }

    override class var schemaMetadata: [Schema.PropertyMetadata] {
        super.schemaMetadata + [Schema.PropertyMetadata(name: "load", keypath: \Truck.load)]
    }
    override class var _$slotCount: Int { 3 }
}

private final class Van: Vehicle {}

private final class Garage: PersistentModel {
    var _$state: _ObjectState
    var vehicles: [Vehicle] { [] }

    static var schemaMetadata: [Schema.PropertyMetadata] {
        [
            Schema.PropertyMetadata(
                name: "vehicles",
                keypath: \Garage.vehicles,
                metadata: Schema.Relationship(inverse: \Vehicle.garage)
            )
        ]
    }
    static var _$slotCount: Int { 1 }
    static func _$applyDefaults(to state: inout _ObjectState) {}

    init(_materializing: _Materialization) { _$state = _ObjectState(Garage.self) }
}
