import Foundation
import ObjectGraph
import TestSupport
import Testing

@testable import SealedData

@Suite("Encoding of schemas")
struct SchemaCodingTests {
    @Test func `a decoded file equals the schema`() throws {
        let schema = Schema([Travels.Trip.self, Kinds.Everything.self], version: Schema.Version(1, 2, 3))
        let folder = TemporaryFolder()
        let url = folder.file("schema.json")
        try schema.save(to: url)
        let loaded = try Schema.load(from: url)
        #expect(loaded == schema)
        #expect(loaded.hashValue == schema.hashValue)
        #expect(loaded.version == Schema.Version(1, 2, 3))
        #expect(loaded.encodingVersion == Schema.schemaEncodingVersion)
        let declarations = try schema.makeModel().model.declarations
        #expect(try loaded.makeModel().model.declarations == declarations)
    }

    @Test func `decoding finds classes and types by name`() throws {
        let loaded = try roundTrip(Schema([Travels.Trip.self]))
        #expect(loaded.entity(for: Travels.Trip.self)?.name == "Trip")
        #expect(loaded.entitiesByName["Trip"]?.attributesByName["photo"]?.valueType == Data?.self)
        #expect(try loaded.makeModel().classes["Stop"] == Travels.Stop.self)
    }

    @Test func `a type that is not found keeps the form of its values`() throws {
        struct Local: Codable {}
        let schema = Schema(
            Schema.Entity("Note", properties: Schema.Attribute(name: "place", valueType: Local?.self))
        )
        let loaded = try roundTrip(schema)
        let attribute = try #require(loaded.entitiesByName["Note"]?.attributesByName["place"])
        #expect(attribute.isOptional)
        #expect(loaded == schema)
        #expect(try loaded.makeModel().model.entitiesByName["Note"]?.attribute(named: "place")?.type == .composite)
    }

    @Test func `Codable default values are encoded`() throws {
        struct Opaque {}
        let note = Schema.Entity(
            "Note",
            properties: Schema.Attribute(name: "text", valueType: String.self, defaultValue: "new"),
            Schema.Attribute(name: "when", valueType: Date?.self, defaultValue: Date(timeIntervalSince1970: 5)),
            Schema.Attribute(name: "place", valueType: Kinds.Place?.self, defaultValue: nil),
            Schema.Attribute(name: "other", valueType: Int.self, defaultValue: Opaque())
        )
        let attributes = try #require(try roundTrip(Schema(note)).entitiesByName["Note"]).attributesByName
        #expect(attributes["text"]?.defaultValue as? String == "new")
        #expect(attributes["when"]?.defaultValue as? Date == Date(timeIntervalSince1970: 5))
        #expect(attributes["place"]?.defaultValue == nil)
        #expect(attributes["other"]?.defaultValue == nil)
    }

    @Test func `a relationship survives encoding`() throws {
        let stops = Schema.Relationship(
            .unique,
            deleteRule: .deny,
            minimumModelCount: 1,
            maximumModelCount: 9,
            originalName: "places",
            hashModifier: "h"
        )
        stops.name = "stops"
        stops.valueType = [Travels.Stop]?.self
        stops.inverseName = "trip"
        let loaded = try roundTrip(stops)
        #expect(loaded == stops)
        #expect(loaded.hashValue == stops.hashValue)
        #expect(loaded.destination == "Stop")
        #expect(loaded.valueType == [Travels.Stop]?.self)
        #expect(!loaded.isToOneRelationship && loaded.isOptional && loaded.isUnique)
        #expect((loaded.minimumModelCount, loaded.maximumModelCount) == (1, 9))
        #expect(loaded.deleteRule == .deny && loaded.originalName == "places" && loaded.hashModifier == "h")
    }

    @Test func `decoding restores superentities`() throws {
        let leaf = Schema.Entity("Leaf", properties: Schema.Attribute(name: "size", valueType: Int.self))
        let base = Schema.Entity(
            "Base",
            subentities: leaf,
            properties: Schema.Attribute(name: "name", valueType: String.self)
        )
        let loaded = try roundTrip(Schema(base, leaf))
        #expect(loaded.entitiesByName["Leaf"]?.superentity === loaded.entitiesByName["Base"])
        #expect(loaded.entitiesByName["Leaf"]?.properties.map(\.name) == ["name", "size"])
        #expect(loaded.entitiesByName["Base"]?.subentities.map(\.name) == ["Leaf"])
    }

    @Test func `parts of a composite attribute are encoded`() throws {
        let place = Schema.CompositeAttribute(name: "place", valueType: Kinds.Place.self)
        place.properties = [Schema.Attribute(name: "latitude", valueType: Double.self)]
        let loaded = try roundTrip(Schema(Schema.Entity("Note", properties: place)))
        let read = try #require(loaded.entitiesByName["Note"]?.storedProperties.first as? Schema.CompositeAttribute)
        #expect(read == place)
        #expect(read.properties.map(\.name) == ["latitude"])
    }

    @Test func `indexes and constraints of a class are encoded by name`() throws {
        let index = Schema.Index<Travels.Trip>(
            .rtree([\.latitude, \.longitude]),
            .binary([\.name]),
            .fullText([\.name], tokenizer: .trigram),
            .fullText([\.name], prefixLengths: [2, 3])
        )
        let unique = Schema.Unique<Travels.Trip>([\.name, \.code])
        #expect(try roundTrip(index) == index)
        #expect(try roundTrip(unique) == unique)
        #expect(throws: EncodingError.self) {
            try JSONEncoder().encode(Schema.Index<Travels.Trip>([\.isSelected]))
        }
    }

    @Test func `every option of an attribute survives encoding`() throws {
        let options: [Schema.Attribute.Option] = [
            .unique, .transformable(by: "Name"), .externalStorage, .allowsCloudEncryption, .preserveValueOnDeletion,
            .ephemeral, .spotlight, .codable,
        ]
        #expect(try roundTrip(options) == options)
        #expect(Set(options.map(\.debugDescription)).count == options.count)
    }

    private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }
}
