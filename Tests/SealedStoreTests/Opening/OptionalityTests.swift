import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Files whose model differs from the program's in optional properties.
@Suite struct OptionalityTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("trips.store") }

    private static func model(notesAreOptional: Bool, tripIsOptional: Bool = true) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Trip",
                attributes: [.init("name", .string), .init("notes", .string, isOptional: notesAreOptional)]
            ),
            EntityDescription("Cruise", superentity: "Trip", attributes: [.init("ship", .string, isOptional: true)]),
            EntityDescription(
                "Stop",
                relationships: [.init("trip", to: "Trip", .one, isOptional: tripIsOptional)]
            ),
        ])
    }

    private func open(_ model: ManagedObjectModel, isReadOnly: Bool = false) throws -> ManagedObjectContext {
        SealedStore.register()
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                isReadOnly: isReadOnly,
                options: [SealedStore.keyOption: Library.key]
            )
        )
        return ManagedObjectContext(coordinator: coordinator)
    }

    /// Creates a file with two trips and a cruise, some with notes, and a stop with an optional trip.
    private func write(notes: [String?], stopHasTrip: Bool = true) throws {
        let context = try open(Self.model(notesAreOptional: true))
        let entities = context.model.entitiesByName
        for (number, notes) in notes.enumerated() {
            let entity = entities[number == 0 ? "Cruise" : "Trip"]!
            let trip = ManagedObject(entity: entity, insertInto: context)
            trip["name"] = .text("trip \(number)")
            trip["notes"] = notes.map(Value.text) ?? .null
            guard number == 0 else { continue }
            let stop = ManagedObject(entity: entities["Stop"]!, insertInto: context)
            if stopHasTrip { stop.setDestination(trip, forRelationship: "trip") }
        }
        try context.save()
        try context.coordinator.removeAllStores()
    }

    private static func differences(_ body: () throws -> Void) throws -> [String] {
        try MigratingStore.refusal(body).map(\.description)
    }

    @Test(arguments: [false, true])
    func `a property that became required needs a value in every row`(isReadOnly: Bool) throws {
        try write(notes: [nil, "a", nil])
        let before = try Data(contentsOf: url)
        let differences = try Self.differences {
            _ = try open(Self.model(notesAreOptional: false), isReadOnly: isReadOnly)
        }
        #expect(differences == ["Trip.notes: no value for a required property without a default value (2 row(s))"])
        #expect(try Data(contentsOf: url) == before)
    }

    @Test(arguments: [false, true])
    func `the store opens if every row has a value`(isReadOnly: Bool) throws {
        try write(notes: ["b", "a"])
        let context = try open(Self.model(notesAreOptional: false, tripIsOptional: false), isReadOnly: isReadOnly)
        let trips = try context.fetch(FetchRequest(context.model.entitiesByName["Trip"]!), as: ManagedObject.self)
        #expect(trips.map { $0["notes"] } == [.text("b"), .text("a")])
    }

    @Test func `missing required destinations are counted too`() throws {
        try write(notes: ["a"], stopHasTrip: false)
        let differences = try Self.differences {
            _ = try open(Self.model(notesAreOptional: true, tripIsOptional: false))
        }
        #expect(differences == ["Stop.trip: no value for a required property without a default value (1 row(s))"])
    }

    @Test func `the store records optionality, and counts rows only when it changes`() throws {
        try write(notes: ["a"])
        let required = try Self.model(notesAreOptional: false)
        try open(required).coordinator.removeAllStores()
        let isOptional = { () throws -> Bool? in
            let description = PersistentStoreDescription(
                type: SealedStore.storeType,
                url: url,
                options: [SealedStore.keyOption: Library.key]
            )
            return try SealedStore.model(of: description).entitiesByName["Trip"]?.propertiesByName["notes"]?.isOptional
        }
        #expect(try isOptional() == false)
        // Another program still has the earlier model.
        try write(notes: [nil])
        #expect(try isOptional() == true)
        #expect(try Self.differences { _ = try open(required) }.count == 1)
    }

    @Test func `NULL written by another program is reported, equals no value, and is not saved`() throws {
        try write(notes: ["a", "b"])
        let context = try open(Self.model(notesAreOptional: false))
        let trip = context.model.entitiesByName["Trip"]!
        let store = try #require(try context.coordinator.store(for: trip).store as? SealedStore)
        try store.opened.database.write { try $0.execute(#"UPDATE "Trip" SET "notes" = NULL WHERE "_id" = 1"#) }
        let failures = { () throws -> [String] in
            do {
                _ = try context.fetch(FetchRequest(trip), as: ManagedObject.self)
                return []
            } catch ObjectGraphError.unreadable(let values) {
                return values.map(\.description)
            }
        }
        #expect(try failures() == ["Cruise.notes: the property is not optional, and the store has no value for it"])
        #expect(try failures() == [])
        for comparison in ["notes == 'a'", "notes == ''", "notes > ''", "notes < 'z'"] {
            let request = FetchRequest(trip, predicate: try QueryExpression(format: comparison, entity: trip))
            #expect(try context.fetchIDs(request).contains { $0.key == 1 } == false, "\(comparison)")
        }
        let cruise = try #require(try context.fetch(FetchRequest(trip), as: ManagedObject.self).first)
        cruise["name"] = .text("renamed")
        #expect(throws: ObjectGraphError.self) { try context.save() }
        context.forgetReadFailures()
        do {
            try context.save()
            Issue.record("a row without a required value was saved")
        } catch ObjectGraphError.validation(let problems) {
            #expect(problems.map(\.property) == ["notes"])
            #expect(problems.map(\.reason) == [.missingValue])
        }
        cruise["notes"] = .text("found")
        try context.save()
        #expect(try store.check().isEmpty)
    }
}
