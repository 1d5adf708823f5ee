import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Properties that a program does not have stay in the file, and come back.
@Suite struct SetAsidePropertyTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    /// Opens the store with a model, and runs `body` before it is saved.
    private func using(_ model: [EntityDescription], _ body: (MigratingStore) throws -> Void = { _ in }) throws {
        try MigratingStore.using(url, model, body)
    }

    @Test(arguments: [
        Trips.Named("names", Trips.names), .without("Trip.rating"), .without("Trip.days", "Trip.map"),
        .without("Trip.stops"), .without("Trip.stops", "Stop.trip"), .without("Trip.labels"), .without("Label.trips"),
        .without("Trip.labels", "Label.trips", "Trip.next"), .without("Note.trip"),
        .without("Stop.trip"),
        Trips.Named("no notes", Trips.withoutNotes),
        Trips.Named("no notes, no rating", Trips.without("Trip.rating", of: Trips.withoutNotes)),
    ])
    func `everything comes back that a model does not have`(_ smaller: Trips.Named) throws {
        try Trips.write(url)
        let before = try Trips.content(url, Trips.full)
        for _ in 0..<2 {
            try using(smaller.entities)
            #expect(try Trips.content(url, Trips.full) == before)
        }
    }

    @Test(arguments: ["Person.passport", "Passport.owner"])
    func `one side of a one-to-one relationship comes back from the other one`(_ removed: String) throws {
        let people = [
            EntityDescription(
                "Person",
                attributes: [Trips.name],
                relationships: [.init("passport", to: "Passport", .one, inverse: "owner")]
            ),
            EntityDescription(
                "Passport",
                attributes: [Trips.name],
                relationships: [.init("owner", to: "Person", .one, inverse: "passport")]
            ),
        ]
        try using(people) { store in
            for number in 0..<3 {
                let person = store.insert("Person", ["name": .text("\(number)")])
                let passport = store.insert("Passport", ["name": .text("\(number)")])
                if number > 0 { person.setDestination(passport, forRelationship: "passport") }
            }
        }
        let before = try Trips.content(url, people)
        try using(Trips.without(removed, of: people)) { store throws in #expect(try store.setAside() == []) }
        #expect(try Trips.content(url, people) == before)
    }

    @Test func `a model that has less does not change the tables`() throws {
        try Trips.write(url)
        let description = try MigratingStore.description(url)
        let smaller = try ManagedObjectModel(entities: Trips.without("Trip.rating", of: Trips.withoutNotes))
        #expect(
            try SealedStore.migrationPreview(of: description, to: smaller).steps.map(\.description) == ["record model"]
        )
        try using(Trips.without("Trip.rating", of: Trips.withoutNotes))
        let full = try ManagedObjectModel(entities: Trips.full)
        #expect(
            try SealedStore.migrationPreview(of: description, to: full).steps.map(\.description) == ["record model"]
        )
    }

    @Test func `objects that were inserted without the property have default values`() throws {
        try Trips.write(url)
        try using(Trips.names) { $0.insert("Trip", ["name": .text("Bonn")]) }
        try using(Trips.full) { store throws in
            let bonn = try #require(try store.object("Trip", named: "Bonn"))
            #expect(bonn["days"] == .integer(7))
            #expect(bonn["rating"] == .null)
            #expect(try store.object("Trip", named: "Rome")?["days"] == .integer(3))
        }
    }

    @Test func `objects that were inserted without the property and miss a required value are counted`() throws {
        var required = Trips.full
        required[0].attributes[2].defaultValue = nil
        try Trips.write(url)
        try using(Trips.names) { $0.insert("Trip", ["name": .text("Bonn")]) }
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, required) }
                == [MigrationProblem(entity: "Trip", property: "days", kind: .missingValue, rows: 1)]
        )
        #expect(try Trips.content(url, Trips.names).count == 9)
    }

    @Test func `negative zero stays when another property of the object changes`() throws {
        try Trips.write(url)
        try using(Trips.names) { try $0.object("Trip", named: "Rome")?["name"] = .text("Roma") }
        try using(Trips.full) { store throws in
            guard case .real(let rating)? = try store.object("Trip", named: "Roma")?["rating"] else {
                Issue.record("no value")
                return
            }
            #expect(rating.bitPattern == (-0.0).bitPattern)
        }
    }

    @Test(arguments: [
        Trips.Named("names", Trips.names),
        Trips.Named("less", Trips.without("Trip.next", "Trip.stops", "Trip.labels", of: Trips.withoutNotes)),
    ])
    func `references to deleted objects become nil`(_ smaller: Trips.Named) throws {
        try Trips.write(url)
        try using(smaller.entities) { store throws in
            try store.object("Trip", named: "Oslo").map(store.context.delete)
        }
        try using(Trips.full) { store throws in
            let rome = try #require(try store.object("Trip", named: "Rome"))
            #expect(rome.destination(forRelationship: "next") == nil)
            #expect(rome.members(forRelationship: "stops").count == 3)
            let label = try #require(try store.object("Label", named: "sea"))
            #expect(label.members(forRelationship: "trips").map { ($0 as? ManagedObject)?["name"] } == [.text("Rome")])
            let note = try #require(try store.object("Note", named: "m"))
            #expect(note.destination(forRelationship: "trip") == nil)
            #expect(note.members(forRelationship: "others").count == 1)
        }
    }

    @Test func `a batch deletion clears references, too`() throws {
        try Trips.write(url)
        try using(Trips.withoutNotes) { store throws in
            _ = try store.context.execute(BatchDeleteRequest(store.entity("Trip")))
        }
        try using(Trips.full) { store throws in
            for note in try store.objects("Note") {
                #expect(note.destination(forRelationship: "trip") == nil)
                #expect(note.members(forRelationship: "others").isEmpty)
            }
        }
    }

    @Test func `keys are not used again`() throws {
        try Trips.write(url)
        try using(Trips.names) { store throws in for trip in try store.objects("Trip") { store.context.delete(trip) } }
        try using(Trips.full) { store throws in
            let trip = store.insert("Trip", ["name": .text("new"), "days": .integer(1)])
            try store.context.save()
            #expect(trip.managedObjectID.key > 2)
        }
    }

    @Test func `a list keeps its order while its members change`() throws {
        try Trips.write(url)
        try using(Trips.without("Trip.stops")) { store throws in
            let oslo = try store.object("Trip", named: "Oslo")
            try store.object("Stop", named: "c")?.setDestination(oslo, forRelationship: "trip")
            let stop = store.insert("Stop", ["name": .text("d")])
            stop.setDestination(try store.object("Trip", named: "Rome"), forRelationship: "trip")
        }
        try using(Trips.without("Trip.stops")) { store throws in
            try store.object("Stop", named: "a")?.setDestination(
                try store.object("Trip", named: "Oslo"),
                forRelationship: "trip"
            )
        }
        try using(Trips.full) { store throws in
            let names = { (trip: String) in
                try store.object("Trip", named: trip)?.members(forRelationship: "stops")
                    .map { ($0 as? ManagedObject)?["name"] }
            }
            #expect(try names("Rome") == [.text("b"), .text("d")])
            #expect(try names("Oslo").map(Set.init) == [.text("a"), .text("c")])
        }
    }

    @Test func `an index of words is current when its attribute comes back`() throws {
        try Trips.write(url)
        let smaller = [
            EntityDescription("Trip", attributes: [.init("days", .int64, defaultValue: .integer(7))]),
            Trips.names[1], Trips.names[2], Trips.names[3],
        ]
        var full = Trips.full
        full[0].attributes[0] = .init("name", .string, isOptional: true)
        try using(full)
        try using(smaller) { store throws in
            store.insert("Trip", ["days": .integer(1)])
            let last = try #require(try store.objects("Trip").last)
            store.context.delete(last)
        }
        try using(full)
    }

    // MARK: Uniqueness

    private static let codes = [
        EntityDescription(
            "Trip",
            attributes: [
                Trips.name, .init("code", .string, isOptional: true), .init("year", .int64, isOptional: true),
            ],
            uniquenessConstraints: [["code"], ["name", "year"]]
        )
    ]

    @Test func `a uniqueness constraint of what is set aside stays`() throws {
        try using(Self.codes) {
            $0.insert("Trip", ["name": .text("a"), "code": .text("x"), "year": .integer(1)])
            $0.insert("Trip", ["name": .text("b"), "code": .text("y"), "year": .integer(1)])
        }
        let smaller = [EntityDescription("Trip", attributes: [Trips.name])]
        try using(smaller) { store throws in
            for name in ["c", "c", "c"] { store.insert("Trip", ["name": .text(name)]) }
        }
        let store = try MigratingStore(url, smaller)
        try store.object("Trip", named: "b")?["name"] = .text("a")
        #expect(throws: ObjectGraphError.self) { try store.context.save() }
        try store.close()
        try using(Self.codes) { store throws in #expect(try store.values("Trip", "code").count == 5) }
    }

    @Test func `default values that are not unique are counted when the attribute comes back`() throws {
        let required = [
            EntityDescription(
                "Trip",
                attributes: [Trips.name, .init("code", .string, defaultValue: .text("-"))],
                uniquenessConstraints: [["code"]]
            )
        ]
        try using(required) { $0.insert("Trip", ["name": .text("a"), "code": .text("x")]) }
        try using([EntityDescription("Trip", attributes: [Trips.name])]) { store throws in
            for name in ["b", "c"] { store.insert("Trip", ["name": .text(name)]) }
        }
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, required) }
                == [MigrationProblem(entity: "Trip", property: nil, kind: .duplicates(properties: ["code"]), rows: 1)]
        )
    }

    // MARK: Other types

    private static func trip(_ type: AttributeType) -> [EntityDescription] {
        [EntityDescription("Trip", attributes: [Trips.name, .init("length", type, isOptional: true)])]
    }

    @Test func `a name that comes back with another type converts its values or is refused`() throws {
        try using(Self.trip(.string)) { store throws in
            store.insert("Trip", ["name": .text("a"), "length": .text("12")])
        }
        try using([EntityDescription("Trip", attributes: [Trips.name])])
        try using(Self.trip(.int64)) { store throws in #expect(try store.values("Trip", "length") == [.integer(12)]) }
        try using([EntityDescription("Trip", attributes: [Trips.name])])
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, Self.trip(.uuid)) }.map(\.kind)
                == [.notConvertible(from: .int64, to: .uuid)]
        )
        try using(Self.trip(.int64)) { store throws in #expect(try store.values("Trip", "length") == [.integer(12)]) }
    }

    @Test func `a name that comes back as a relationship is refused`() throws {
        try using(Self.trip(.string)) { store throws in
            store.insert("Trip", ["name": .text("a"), "length": .text("12")])
        }
        try using([EntityDescription("Trip", attributes: [Trips.name])])
        let other = [
            EntityDescription(
                "Trip",
                attributes: [Trips.name],
                relationships: [.init("length", to: "Trip", .one)]
            )
        ]
        #expect(try MigratingStore.refusal { _ = try MigratingStore(url, other) }.map(\.kind) == [.otherKind])
        try using(Self.trip(.string)) { store throws in #expect(try store.values("Trip", "length") == [.text("12")]) }
    }

    @Test func `members that leave the hierarchy of a removed relationship's destination are lost`() throws {
        let person = EntityDescription("Person", attributes: [Trips.name])
        let guides = RelationshipDescription("guides", to: "Person", .many)
        let trip = EntityDescription("Trip", attributes: [Trips.name])
        var tripWithGuides = trip
        tripWithGuides.relationships = [guides]
        let robot = EntityDescription("Robot", superentity: "Person")
        try using([person, robot, tripWithGuides]) { store in
            let guides = [store.insert("Person", ["name": .text("a")]), store.insert("Robot", ["name": .text("b")])]
            store.insert("Trip", ["name": .text("Rome")]).setMembers(guides, forRelationship: "guides")
        }
        let other = EntityDescription("Robot", attributes: [Trips.name])
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, [person, other, trip]) }
                == [MigrationProblem(entity: "Trip", property: "guides", kind: .lost, rows: 1)]
        )
        // A plan removes the relationship.
        let plan = try MigratingStore.plan([person, robot, tripWithGuides], [person, other, trip])
        let store = try MigratingStore(url, [person, other, trip], options: plan)
        #expect(try store.values("Robot", "name") == [.text("b")])
        #expect(try store.problems() == [])
        try store.close()
    }

    @Test func `what is set aside follows an entity that gets another name`() throws {
        try using(Self.trip(.string)) { $0.insert("Trip", ["name": .text("a"), "length": .text("12")]) }
        try using([EntityDescription("Tour", attributes: [Trips.name], renamingIdentifier: "Trip")])
        let tour = [
            EntityDescription(
                "Tour",
                attributes: [Trips.name, .init("length", .string, isOptional: true)],
                renamingIdentifier: "Trip"
            )
        ]
        try using(tour) { store throws in #expect(try store.values("Tour", "length") == [.text("12")]) }
    }

    @Test func `a new property beside what is set aside changes both models`() throws {
        try Trips.write(url)
        var other = Trips.names
        other[0].attributes.append(.init("color", .string, isOptional: true))
        try using(other) { try $0.object("Trip", named: "Rome")?["color"] = .text("red") }
        try using(Trips.full) { store throws in
            let rome = try store.object("Trip", named: "Rome")
            #expect(rome?["days"] == .integer(3))
            #expect(try store.setAside() == ["Trip.color"])
        }
        try using(other) { store throws in #expect(try store.object("Trip", named: "Rome")?["color"] == .text("red")) }
    }
}
