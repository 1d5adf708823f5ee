import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Entities that gain or lose a superentity, and properties that move between them.
@Suite struct InheritanceMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static func separate() -> [EntityDescription] {
        [
            EntityDescription(
                "Car",
                attributes: [.init("name", .string), .init("doors", .int64)],
                relationships: [.init("owner", to: "Person", .one, inverse: "cars")]
            ),
            EntityDescription(
                "Boat",
                attributes: [.init("name", .string), .init("length", .double)],
                relationships: [.init("crew", to: "Person", .many)]
            ),
            EntityDescription(
                "Person",
                attributes: [.init("name", .string)],
                relationships: [.init("cars", to: "Car", .many, inverse: "owner"), .init("boat", to: "Boat", .one)]
            ),
        ]
    }

    /// The same with a common superentity.
    private static func joined() -> [EntityDescription] {
        [
            EntityDescription("Vehicle", isAbstract: true, attributes: [.init("name", .string)]),
            EntityDescription(
                "Car",
                superentity: "Vehicle",
                attributes: [.init("doors", .int64)],
                relationships: [.init("owner", to: "Person", .one, inverse: "cars")]
            ),
            EntityDescription(
                "Boat",
                superentity: "Vehicle",
                attributes: [.init("length", .double)],
                relationships: [.init("crew", to: "Person", .many)]
            ),
            EntityDescription(
                "Person",
                attributes: [.init("name", .string)],
                relationships: [.init("cars", to: "Car", .many, inverse: "owner"), .init("boat", to: "Boat", .one)]
            ),
        ]
    }

    private func write() throws {
        let store = try MigratingStore(url, Self.separate())
        for number in 0..<3 {
            let person = store.insert("Person", ["name": .text("p\(number)")])
            let car = store.insert("Car", ["name": .text("c\(number)"), "doors": .integer(Int64(number))])
            let boat = store.insert("Boat", ["name": .text("b\(number)"), "length": .real(-0.0)])
            car.setDestination(person, forRelationship: "owner")
            person.setDestination(boat, forRelationship: "boat")
            boat.setMembers([person], forRelationship: "crew")
            try store.context.save()
        }
        try store.close()
    }

    /// The objects by their names, with the names of the objects that they lead to.
    private func graph(_ store: MigratingStore) throws -> [String] {
        let name = { (object: (any GraphObject)?) in (object as? ManagedObject)?["name"].text ?? "-" }
        let names = { (objects: [any GraphObject]) in objects.map(name).joined(separator: " ") }
        let cars = try store.objects("Car").map {
            "\(name($0)) \($0["doors"].text) \(name($0.destination(forRelationship: "owner")))"
        }
        let boats = try store.objects("Boat").map { boat in
            "\(name(boat)) \(boat["length"].text) \(names(boat.members(forRelationship: "crew")))"
        }
        let people = try store.objects("Person").map { person in
            "\(name(person)) \(names(person.members(forRelationship: "cars"))) "
                + name(person.destination(forRelationship: "boat"))
        }
        return cars + boats + people
    }

    private static let expected = [
        "'c0' 0 'p0'", "'c1' 1 'p1'", "'c2' 2 'p2'", "'b0' -0.0 'p0'", "'b1' -0.0 'p1'",
        "'b2' -0.0 'p2'",
        "'p0' 'c0' 'b0'", "'p1' 'c1' 'b1'", "'p2' 'c2' 'b2'",
    ]

    @Test func `entities come under one superentity, and leave it again`() throws {
        try write()
        let joined = try MigratingStore(url, Self.joined())
        let joinedGraph = try graph(joined)
        #expect(joinedGraph == Self.expected)
        // The first table keeps its keys; those of the second one follow.
        #expect(try joined.objects("Car").map(\.managedObjectID.key) == [1, 2, 3])
        let boats = try joined.objects("Boat").map(\.managedObjectID.key)
        #expect(boats.allSatisfy { $0 > 3 })
        #expect(try joined.problems() == [])
        let car = joined.insert("Car", ["name": .text("new"), "doors": .integer(5)])
        try joined.context.save()
        #expect(car.managedObjectID.key > boats.max() ?? 0)
        joined.context.delete(car)
        try joined.saveAndClose()
        let separate = try MigratingStore(url, Self.separate())
        let separateGraph = try graph(separate)
        #expect(separateGraph == Self.expected)
        #expect(try separate.objects("Boat").map(\.managedObjectID.key) == boats)
        #expect(try separate.problems() == [])
    }

    @Test func `an entity gets a subentity without a change of its rows`() throws {
        let base = EntityDescription("Base", attributes: [.init("name", .string)])
        let first = try MigratingStore(url, [base])
        first.insert("Base", ["name": .text("a")])
        try first.saveAndClose()
        let next = [
            base,
            EntityDescription(
                "Special",
                superentity: "Base",
                attributes: [.init("more", .int64, defaultValue: .integer(1))]
            ),
        ]
        let preview = try SealedStore.migrationPreview(
            of: MigratingStore.description(url),
            to: ManagedObjectModel(entities: next)
        )
        #expect(!preview.steps.contains { $0.kind == .rebuildTable })
        let store = try MigratingStore(url, next)
        store.insert("Special", ["name": .text("b"), "more": .integer(2)])
        store.insert("Base", ["name": .text("c")])
        try store.context.save()
        #expect(try store.values("Base", "name") == [.text("a"), .text("c")])
        #expect(try store.values("Special", "more") == [.integer(2)])
        #expect(try store.problems() == [])
    }

    @Test func `a property moves to the superentity and back`() throws {
        let models = [false, true].map { isAbove in
            [
                EntityDescription("Base", attributes: isAbove ? [.init("note", .string, isOptional: true)] : []),
                EntityDescription(
                    "One",
                    superentity: "Base",
                    attributes: isAbove ? [] : [.init("note", .string, isOptional: true)]
                ),
                EntityDescription(
                    "Two",
                    superentity: "Base",
                    attributes: isAbove ? [] : [.init("note", .string, isOptional: true)]
                ),
            ]
        }
        let first = try MigratingStore(url, models[0])
        first.insert("Base")
        first.insert("One", ["note": .text("one")])
        first.insert("Two", ["note": .text("two")])
        try first.saveAndClose()
        for model in [models[1], models[0], models[1]] {
            let store = try MigratingStore(url, model)
            #expect(try store.values("One", "note") == [.text("one")])
            #expect(try store.values("Two", "note") == [.text("two")])
            #expect(try store.objects("Base").count == 1)
            #expect(try store.problems() == [])
            try store.close()
        }
    }

    @Test func `an entity with objects does not become abstract`() throws {
        let first = try MigratingStore(url, [EntityDescription("Base"), EntityDescription("One", superentity: "Base")])
        first.insert("Base")
        first.insert("One")
        try first.saveAndClose()
        let next = [EntityDescription("Base", isAbstract: true), EntityDescription("One", superentity: "Base")]
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, next) }
                == [MigrationProblem(entity: "Base", property: nil, kind: .abstractEntity, rows: 1)]
        )
    }
}
