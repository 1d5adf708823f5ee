import Foundation
import ObjectGraph
import Testing

@testable import SealedData

@Suite("Schemas of model classes")
struct SchemaReadingTests {
    @Test func `the type of a property determines its attribute type`() throws {
        let entity = try entity(of: Kinds.Everything.self)
        let types = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.name, $0.type) })
        #expect(
            types == [
                "text": .string, "count": .int64, "small": .uint8, "ratio": .double, "flag": .bool, "date": .date,
                "id": .uuid, "link": .url, "bytes": .data, "price": .decimal, "mood": .string, "maybeMood": .string,
                "level": .int64, "rights": .int64, "place": .composite, "maybePlace": .composite, "tags": .composite,
                "scores": .composite, "maybe": .int64, "shape": .composite,
            ]
        )
    }

    @Test func `properties keep the order of their declaration and their optionality`() throws {
        let entity = try entity(of: Kinds.Everything.self)
        let metadata = Kinds.Everything.schemaMetadata
        #expect(entity.properties.map(\.name) == metadata.map(\.name))
        #expect(entity.properties.map(\.slot) == Array(metadata.indices))
        #expect(Set(entity.attributes.filter(\.isOptional).map(\.name)) == ["maybe", "maybeMood", "maybePlace"])
    }

    @Test func `models and arrays of models are relationships, optional or not`() throws {
        let entity = try entity(of: Travels.Trip.self)
        let stops = try #require(entity.relationship(named: "stops"))
        #expect(stops.isToMany)
        #expect(stops.destination.name == "Stop")
        let planned = try #require(entity.relationship(named: "planned"))
        #expect(planned.isToMany)
        let guide = try #require(entity.relationship(named: "guide"))
        #expect(!guide.isToMany && guide.isOptional)
        let start = try #require(entity.relationship(named: "start"))
        #expect(!start.isToMany && !start.isOptional)
    }

    @Test func `the options of properties reach the model`() throws {
        let entity = try entity(of: Travels.Trip.self)
        let name = try #require(entity.attribute(named: "name"))
        #expect(name.description.renamingIdentifier == "title")
        #expect(try #require(entity.attribute(named: "code")).description.renamingIdentifier == nil)
        #expect(try #require(entity.attribute(named: "photo")).description.allowsExternalStorage)
        let stops = try #require(entity.relationship(named: "stops")).description
        #expect(stops.deleteRule == .cascade)
        #expect((stops.minimumCount, stops.maximumCount) == (1, 9))
        #expect(stops.renamingIdentifier == "places")
        let guide = try #require(entity.relationship(named: "guide")).description
        #expect(guide.deleteRule == .nullify)
        #expect((guide.minimumCount, guide.maximumCount) == (0, 0))
    }

    @Test func `unique options, #Unique and #Index become constraints and indexes of the entity, each once`() throws {
        let description = try entity(of: Travels.Trip.self).description
        #expect(description.uniquenessConstraints == [["code"], ["name", "start"]])
        #expect(
            description.indexes == [
                FetchIndexDescription(["name"]), FetchIndexDescription(["name", "code"]),
                FetchIndexDescription(["latitude", "longitude"], kind: .rtree),
            ]
        )
    }

    @Test func `classes reached through relationships belong to the schema`() throws {
        let schema = Schema([Travels.Trip.self])
        #expect(schema.entities.map(\.name) == ["Trip", "Stop", "Guide"])
        let linked = try schema.makeModel()
        #expect(linked.model.entities.map(\.name) == ["Trip", "Stop", "Guide"])
        #expect(linked.classes["Guide"] == Travels.Guide.self)
    }

    @Test func `schemas of the same classes share a model, until the entities of one are changed`() throws {
        let first = try Schema([Travels.Trip.self]).makeModel().model
        let second = Schema([Travels.Trip.self])
        #expect(try second.makeModel().model === first)
        #expect(try Schema([Travels.Guide.self]).makeModel().model !== first)

        let changed = Schema([Travels.Trip.self])
        let guide = try #require(changed.entitiesByName["Guide"])
        guide.uniquenessConstraints = [["name"]]
        let entity = try changed.makeModel().model.entitiesByName["Guide"]
        #expect(entity?.uniquenessConstraints == [[0]])
        let unchanged = try Schema([Travels.Trip.self]).makeModel().model.entitiesByName["Guide"]
        #expect(unchanged?.uniquenessConstraints == [])
    }

    @Test func `a class listed twice is in the schema once`() {
        #expect(Schema([Travels.Guide.self, Travels.Guide.self]).entities.count == 1)
        #expect(Schema(Travels.Guide.self, Travels.Trip.self).entities.map(\.name) == ["Guide", "Trip", "Stop"])
    }

    @Test func `entities are found by class and by name`() throws {
        let schema = Schema([Travels.Trip.self], version: Schema.Version(2, 1, 0))
        #expect(Schema.entityName(for: Travels.Trip.self) == "Trip")
        #expect(schema.entity(for: Travels.Stop.self) === schema.entitiesByName["Stop"])
        #expect(schema.entity(for: Kinds.Everything.self) == nil)
        #expect(schema.version == Schema.Version(2, 1, 0))
    }

    @Test func `the schema can be inspected`() throws {
        let entity = try #require(Schema([Travels.Trip.self]).entity(for: Travels.Trip.self))
        let code = try #require(entity.attributesByName["code"])
        #expect(code.isUnique && code.isAttribute && !code.isRelationship && !code.isOptional)
        #expect(code.valueType == String.self)
        #expect(code.defaultValue as? String == "none")
        #expect(entity.attributesByName["name"]?.originalName == "title")
        #expect(code.originalName == "code")
        let stops = try #require(entity.relationshipsByName["stops"])
        #expect(stops.destination == "Stop")
        #expect(stops.inverseName == "trip")
        #expect(stops.inverseKeyPath == \Travels.Stop.trip)
        #expect(stops.keypath == \Travels.Trip.stops)
        #expect(!stops.isToOneRelationship && stops.isRelationship)
        #expect(entity.indices == [["name"], ["name", "code"], ["latitude", "longitude"]])
        #expect(entity.debugDescription.contains("Relationship(stops: [Stop], inverse: trip, deleteRule: .cascade)"))
    }

    @Test func `two classes of one name are refused with both their names`() {
        let error = failure(of: Schema([Travels.Guide.self, OtherTravels.Guide.self]))
        #expect(error?.contains("two classes have this name") == true, "\(error ?? "")")
        #expect(error?.contains("OtherTravels.Guide") == true, "\(error ?? "")")
    }

    @Test func `all problems are reported at once`() {
        let error = failure(of: Schema([Faults.Report.self])) ?? ""
        #expect(error.contains("Report: #Index names"), "\(error)")
        #expect(error.contains("Report.pages: its minimum count is above"), "\(error)")
    }

    @Test func `a schema with a handwritten entity makes a model`() throws {
        let schema = Schema(
            Schema.Entity(
                "Note",
                properties: Schema.Attribute(name: "text", options: [.unique], valueType: String?.self),
                Schema.CompositeAttribute(name: "place", valueType: Kinds.Place.self)
            )
        )
        let entity = try #require(schema.makeModel().model.entitiesByName["Note"])
        #expect(entity.attribute(named: "text")?.isOptional == true)
        #expect(entity.attribute(named: "place")?.type == .composite)
        #expect(entity.description.uniquenessConstraints == [["text"]])
    }

    private func entity(of type: any PersistentModel.Type) throws -> Entity {
        try #require(Schema([type]).makeModel().model.entitiesByName[String(describing: type)])
    }
}

/// The error that a schema is refused with, or nil.
func failure(of schema: Schema) -> String? {
    do {
        _ = try schema.makeModel()
        return nil
    } catch {
        return "\(error)"
    }
}

enum Kinds {
    enum Mood: String, Codable { case good, bad }
    enum Level: Int { case low, high }
    enum Shape: Codable, Hashable { case circle(Double), point }
    struct Rights: OptionSet, Codable { let rawValue: Int }
    struct Place: Codable, Hashable { var latitude = 0.0 }

    @Model final class Everything {
        var text: String
        var count: Int
        var small: UInt8
        var ratio: Double
        var flag: Bool
        var date: Date
        var id: UUID
        var link: URL
        var bytes: Data
        var price: Decimal
        var mood: Mood
        var maybeMood: Mood?
        var level: Level
        var rights: Rights
        var place: Place
        var maybePlace: Place?
        var tags: [String]
        var scores: [String: Int]
        var maybe: Int?
        var shape: Shape

        init() {
            text = ""
            count = 0
            small = 0
            ratio = 0
            flag = false
            date = .distantPast
            id = UUID()
            link = URL(filePath: "/")
            bytes = Data()
            price = 0
            mood = .good
            level = .low
            rights = []
            place = Place()
            tags = []
            scores = [:]
            shape = .point
        }
    }
}

enum Travels {
    @Model final class Trip {
        #Index<Trip>([\.name], [\.name, \.code])
        #Index<Trip>(.rtree([\.latitude, \.longitude]), .binary([\.name]))
        #Unique<Trip>([\.name, \.start], [\.code])
        @Attribute(originalName: "title") var name = ""
        @Attribute(.unique, .spotlight) var code = "none"
        @Attribute(.externalStorage) var photo: Data?
        var latitude = 0.0
        var longitude = 0.0
        @Relationship(
            deleteRule: .cascade,
            minimumModelCount: 1,
            maximumModelCount: 9,
            originalName: "places",
            inverse: \Stop.trip
        ) var stops: [Stop] = []
        var planned: [Stop]?
        var guide: Guide?
        var start: Stop
        @Transient var isSelected = false

        init(start: Stop) { self.start = start }
    }

    @Model final class Stop {
        var trip: Trip?
        init() {}
    }

    @Model final class Guide {
        var name = ""
        init() {}
    }
}

enum OtherTravels {
    @Model final class Guide {
        var name = ""
        init() {}
    }
}

enum Faults {
    @Model final class Report {
        #Index<Report>([\.size])
        @Relationship(minimumModelCount: 3, maximumModelCount: 2) var pages: [Page] = []
        var size: Int { 0 }
        init() {}
    }

    @Model final class Page {
        var number = 0
        init() {}
    }
}
