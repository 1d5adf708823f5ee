import Foundation
import SealedData
import TestSupport
import Testing

@Suite("Schemas without classes") struct HandMadeSchemaTests {
    /// A trip with its stops, without a class.
    private func schema() -> Schema {
        let stops = Schema.Relationship(deleteRule: .cascade)
        stops.name = "stops"
        stops.valueType = [Travels.Stop].self
        stops.destination = "Leg"
        stops.inverseName = "journey"
        let journey = Schema.Relationship()
        journey.name = "journey"
        journey.valueType = Travels.Trip?.self
        journey.destination = "Journey"
        journey.inverseName = "stops"
        return Schema(
            Schema.Entity(
                "Journey",
                properties: Schema.Attribute(name: "name", options: [.unique], valueType: String.self),
                Schema.Attribute(name: "length", originalName: "size", valueType: Double?.self),
                stops
            ),
            Schema.Entity("Leg", properties: journey),
            version: Schema.Version(2, 0, 0)
        )
    }

    @Test func `entities list their properties`() throws {
        let journey = try #require(schema().entitiesByName["Journey"])
        #expect(journey.properties.map(\.name) == ["name", "length", "stops"])
        #expect(journey.attributesByName["name"]?.isUnique == true)
        #expect(journey.attributesByName["length"]?.originalName == "size")
        #expect(journey.attributesByName["length"]?.isOptional == true)
        #expect(journey.relationshipsByName["stops"]?.isToOneRelationship == false)
        #expect(journey.storedPropertiesByName["stops"]?.isRelationship == true)
        #expect(journey.attributes.count == 2 && journey.relationships.count == 1)
        #expect(journey.inheritedProperties.isEmpty && journey.inheritedPropertiesByName.isEmpty)
        #expect(journey.superentity == nil && journey.superentityName == nil && journey.subentities.isEmpty)
    }

    @Test func `it equals another schema of the same form, and its decoded file`() throws {
        #expect(schema() == schema())
        #expect(Set([schema(), schema()]).count == 1)
        let changed = schema()
        changed.entities[0].attributesByName["name"]?.options = []
        #expect(changed != schema())
        let folder = TemporaryFolder()
        let url = folder.file("schema.json")
        try schema().save(to: url)
        #expect(try Schema.load(from: url) == schema())
        try Data("[]".utf8).write(to: url)
        #expect(throws: DecodingError.self) { try Schema.load(from: url) }
    }

    @Test func `it describes itself`() {
        let text = schema().debugDescription
        for part in [
            "Schema(2.0.0)", "Entity(Journey)", "Attribute(name: Swift.String, .unique)", "Relationship(stops: [Leg]",
        ] {
            #expect(text.contains(part), "\(part) is not in \(text)")
        }
    }

    @Test func `a container opens it`() throws {
        let container = try ModelContainer(
            for: schema(),
            configurations: ModelConfiguration(isStoredInMemoryOnly: true)
        )
        #expect(container.schema == schema())
        // Without a class there are no models.
        #expect(throws: SwiftDataError.unknownSchema) {
            try ModelContext(container).fetch(FetchDescriptor<Travels.Trip>())
        }
    }

    @Test func `a container reports the problems of a schema`() throws {
        let broken = schema()
        broken.entities[0].relationshipsByName["stops"]?.inverseName = "missing"
        let error = #expect(throws: SwiftDataError.modelValidationFailure) {
            try ModelContainer(for: broken, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        }
        #expect("\(error!)".contains("stops"))
    }

    @Test func `an index and a constraint among the properties belong to the entity`() {
        let entity = Schema.Entity(
            "Trip",
            properties: Schema.Attribute(name: "name", valueType: String.self),
            Schema.Index<Travels.Trip>([\.name], [\.name, \.code]),
            Schema.Unique<Travels.Trip>([\.code])
        )
        #expect(entity.properties.map(\.name) == ["name"])
        #expect(entity.indices == [["name"], ["name", "code"]])
        #expect(entity.uniquenessConstraints == [["code"]])
    }

    @Test func `a schema of a version equals that of its classes`() {
        enum Version: VersionedSchema {
            static let versionIdentifier = Schema.Version(3, 1, 4)
            static var models: [any PersistentModel.Type] { [Travels.Trip.self] }
        }
        let schema = Schema(versionedSchema: Version.self)
        #expect(schema.version == Schema.Version(3, 1, 4))
        #expect(schema == Schema(Travels.Trip.self, version: Schema.Version(3, 1, 4)))
        #expect(schema.entity(for: Travels.Trip.self)?.name == Schema.entityName(for: Travels.Trip.self))
        #expect(Schema().entities.isEmpty)
    }
}
