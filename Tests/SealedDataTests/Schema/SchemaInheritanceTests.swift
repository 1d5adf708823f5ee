import ObjectGraph
import Testing

@testable import SealedData

@Suite("Schemas of class hierarchies")
struct SchemaInheritanceTests {
    @Test func `a superclass belongs to the schema of its subclass`() throws {
        let schema = Schema([Car.self])
        #expect(schema.entities.map(\.name) == ["Car", "Vehicle", "Driver", "Garage", "Part"])
        let car = try #require(schema.entity(for: Car.self))
        #expect(car.superentityName == "Vehicle")
        #expect(car.superentity === schema.entity(for: Vehicle.self))
        #expect(schema.entity(for: Vehicle.self)?.subentities == [car])
        #expect(car.storedProperties.map(\.name) == ["seats", "plate", "kind", "drivers"])
        #expect(car.inheritedProperties.map(\.name) == ["name", "wheels", "garage", "parts"])
    }

    @Test func `inherited properties have the first slots`() throws {
        let model = try Schema([Vehicle.self, Taxi.self]).makeModel().model
        let taxi = try #require(model.entitiesByName["Taxi"])
        #expect(
            taxi.properties.map(\.name) == [
                "name", "wheels", "garage", "parts", "seats", "plate", "kind", "drivers", "number", "shifts",
            ]
        )
        #expect(taxi.superentity?.name == "Car")
        #expect(taxi.relationship(named: "garage")?.inverse?.name == "vehicles")
        #expect((Vehicle._$slotCount, Car._$slotCount, Taxi._$slotCount) == (4, 8, 10))
    }

    @Test func `all key paths of an inherited property are found`() {
        #expect(PropertyLookup.slot(of: \Vehicle.name, in: Taxi.self) == 0)
        #expect(PropertyLookup.slot(of: \Car.name, in: Taxi.self) == 0)
        #expect(PropertyLookup.slot(of: \Taxi.name, in: Taxi.self) == 0)
        #expect(PropertyLookup.slot(of: \Taxi.garage, in: Taxi.self) == 2)
        #expect(PropertyLookup.slot(of: \Car.seats, in: Taxi.self) == 4)
        #expect(PropertyLookup.slot(of: \Taxi.seats, in: Taxi.self) == 4)
        #expect(PropertyLookup.slot(of: \Taxi.number, in: Taxi.self) == 8)
        #expect(PropertyLookup.name(of: \Taxi.garage, in: Taxi.self) == "garage")
        #expect(PropertyLookup.slot(of: \Taxi.number, in: Car.self) == nil)
    }

    @Test func `a class that repeats its superclass's properties has them once`() throws {
        let entity = try #require(Schema([Again.self]).makeModel().model.entitiesByName["Again"])
        #expect(entity.properties.map(\.name) == ["name", "wheels", "garage", "parts"])
    }

    @Test func `a class without own properties has its superclass's properties only`() throws {
        for type in [Bicycle.self, Plain.self] as [any PersistentModel.Type] {
            let entity = try #require(Schema([type]).makeModel().model.entitiesByName["\(type)"])
            #expect(entity.properties.map(\.name) == ["name", "wheels", "garage", "parts"])
        }
    }
}

/// Written by hand.
private final class Again: Vehicle {
    override class var schemaMetadata: [Schema.PropertyMetadata] { super.schemaMetadata }
}

/// Without `@Model`.
private final class Plain: Vehicle {}
