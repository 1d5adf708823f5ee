import Foundation
@testable import ObjectGraph
@testable import SealedStore
import Testing

/// Models of which one has less than the other.
enum Trips {
    static let name = AttributeDescription("name", .string)

    /// Trips with stops, labels and notes.
    static let full = [
        EntityDescription(
            "Trip",
            attributes: [
                name, .init("rating", .double, isOptional: true), .init("days", .int64, defaultValue: .integer(7)),
                .init("map", .data, isOptional: true, allowsExternalStorage: true),
            ],
            relationships: [
                .init("stops", to: "Stop", .many, inverse: "trip", isOrdered: true),
                .init("labels", to: "Label", .many, inverse: "trips"),
                .init("next", to: "Trip", .one),
            ],
            indexes: [.init(["rating"]), .init(["name"], kind: .fullText(FullTextOptions()))]
        ),
        EntityDescription(
            "Stop",
            attributes: [name],
            relationships: [.init("trip", to: "Trip", .one, inverse: "stops")]
        ),
        EntityDescription(
            "Label",
            attributes: [name],
            relationships: [.init("trips", to: "Trip", .many, inverse: "labels")]
        ),
        EntityDescription(
            "Note",
            attributes: [name],
            relationships: [.init("trip", to: "Trip", .one), .init("others", to: "Trip", .many)]
        ),
    ]

    /// Trips and stops with their names only.
    static let names = [
        EntityDescription("Trip", attributes: [name]), EntityDescription("Stop", attributes: [name]),
        EntityDescription("Label", attributes: [name]), EntityDescription("Note", attributes: [name]),
    ]

    /// A model with a name for the failures of tests.
    struct Named: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let entities: [EntityDescription]

        init(_ name: String, _ entities: [EntityDescription]) {
            testDescription = name
            self.entities = entities
        }

        /// The full model without some properties.
        static func without(_ names: String...) -> Named {
            Named("without \(names.joined(separator: ", "))", Trips.without(names, of: full))
        }
    }

    /// The entities of ``full`` without notes, to which nothing leads.
    static let withoutNotes = Array(full.dropLast())

    /// The model without some properties.
    static func without(_ names: String..., of model: [EntityDescription] = full) -> [EntityDescription] {
        without(names, of: model)
    }

    private static func without(_ names: [String], of model: [EntityDescription]) -> [EntityDescription] {
        model.map { entity in
            let name = entity.name
            let isRemoved = { (property: String) in names.contains("\(name).\(property)") }
            var entity = entity
            entity.attributes.removeAll { isRemoved($0.name) }
            entity.relationships.removeAll { isRemoved($0.name) }
            entity.indexes.removeAll { $0.properties.contains(where: isRemoved) }
            for position in entity.relationships.indices {
                let relationship = entity.relationships[position]
                if let inverse = relationship.inverse, names.contains("\(relationship.destination).\(inverse)") {
                    entity.relationships[position].inverse = nil
                }
            }
            return entity
        }
    }

    /// Writes two trips with all properties.
    static func write(_ url: URL, options: [String: any Sendable] = [:]) throws {
        let store = try MigratingStore(url, full, options: options)
        let map = Value.blob(Data(repeating: 7, count: 10_000))
        let rome = store.insert(
            "Trip",
            ["name": .text("Rome"), "rating": .real(-0.0), "days": .integer(3), "map": map]
        )
        let oslo = store.insert("Trip", ["name": .text("Oslo"), "rating": .real(2.5), "days": .integer(5)])
        let stops = ["a", "b", "c"].map { store.insert("Stop", ["name": .text($0)]) }
        rome.setMembers(stops.reversed(), forRelationship: "stops")
        let label = store.insert("Label", ["name": .text("sea")])
        label.setMembers([rome, oslo], forRelationship: "trips")
        rome.setDestination(oslo, forRelationship: "next")
        for (name, trip) in [("n", rome), ("m", oslo)] {
            let note = store.insert("Note", ["name": .text(name)])
            note.setDestination(trip, forRelationship: "trip")
            note.setMembers([rome, oslo], forRelationship: "others")
        }
        try store.saveAndClose()
    }

    /// The content with a model, after a check.
    static func content(_ url: URL, _ model: [EntityDescription], options: [String: any Sendable] = [:]) throws
        -> [String]
    {
        let store = try MigratingStore(url, model, options: options)
        defer { try? store.close() }
        return try store.content() + store.problems()
    }
}

extension MigratingStore {
    /// The first object with a name.
    func object(_ entity: String, named name: String) throws -> ManagedObject? {
        try objects(entity).first { $0["name"] == .text(name) }
    }

    /// What the store has set aside.
    func setAside() throws -> [String] { try store().setAside().map(\.description) }
}

extension MigratingStore {
    /// Opens a store with a model, runs `body`, saves, and requires that the check finds no problem.
    static func using(
        _ url: URL,
        _ model: [EntityDescription],
        _ body: (MigratingStore) throws -> Void
    ) throws {
        let store = try MigratingStore(url, model)
        try body(store)
        try store.context.save()
        let problems = try store.problems()
        #expect(problems == [])
        try store.close()
    }
}
