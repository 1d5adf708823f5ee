import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Stores of earlier models that are opened for reading only: they are read through the mapping, or refused with the
/// reason.
@Suite struct ReadOnlyMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let first = [
        EntityDescription(
            "Trip",
            attributes: [
                .init("name", .string), .init("days", .int16), .init("old", .string, isOptional: true),
                .init("height", .double), .init("score", .double, isOptional: true),
            ],
            relationships: [
                .init("stops", to: "Stop", .many, inverse: "trip", isOrdered: true),
                .init("tags", to: "Tag", .many, inverse: "trips"),
            ],
            indexes: [.init(["name"]), .init(["name"], kind: .fullText(.init()))]
        ),
        EntityDescription(
            "Stop",
            attributes: [.init("title", .string)],
            relationships: [.init("trip", to: "Trip", .one, inverse: "stops")]
        ),
        EntityDescription("Station", superentity: "Stop", attributes: [.init("platforms", .int64)]),
        EntityDescription("Halt", superentity: "Stop"),
        EntityDescription(
            "Tag",
            attributes: [.init("name", .string)],
            relationships: [.init("trips", to: "Trip", .many, inverse: "tags")]
        ),
    ]

    private static let second = [
        EntityDescription(
            "Journey",
            attributes: [
                .init("title", .string, renamingIdentifier: "name"), .init("days", .int64),
                .init("note", .string, isOptional: true),
                .init("rating", .int64, defaultValue: .integer(3)), .init("score", .double, isOptional: true),
                .init("height", .double),
            ],
            relationships: [
                .init("places", to: "Place", .many, inverse: "journey", isOrdered: true, renamingIdentifier: "stops"),
                .init("labels", to: "Label", .many, inverse: "journeys", renamingIdentifier: "tags"),
                .init("guests", to: "Guest", .many, inverse: "journey"),
                .init("friends", to: "Guest", .many),
            ],
            indexes: [.init(["title"]), .init(["note"])],
            uniquenessConstraints: [["title"]],
            renamingIdentifier: "Trip"
        ),
        EntityDescription(
            "Place",
            attributes: [.init("title", .string), .init("tip", .string, isOptional: true)],
            relationships: [.init("journey", to: "Journey", .one, inverse: "places", renamingIdentifier: "trip")],
            renamingIdentifier: "Stop"
        ),
        EntityDescription(
            "Terminal",
            superentity: "Place",
            attributes: [.init("platforms", .int64, isOptional: true)],
            renamingIdentifier: "Station"
        ),
        EntityDescription("Halt", superentity: "Place"),
        EntityDescription(
            "Label",
            attributes: [.init("name", .string)],
            relationships: [.init("journeys", to: "Journey", .many, inverse: "labels", renamingIdentifier: "trips")],
            renamingIdentifier: "Tag"
        ),
        EntityDescription(
            "Guest",
            attributes: [.init("name", .string)],
            relationships: [.init("journey", to: "Journey", .one, inverse: "guests")]
        ),
    ]

    private func write() throws {
        let store = try MigratingStore(url, Self.first)
        for number in 0..<4 {
            let trip = store.insert(
                "Trip",
                [
                    "name": .text(number < 2 ? "same" : "e\u{301} \(number)"), "days": .integer(Int64(number)),
                    "old": .text("x"), "height": .real(-0.0), "score": number == 1 ? .null : .real(-0.0),
                ]
            )
            let stops = ["Stop", "Station", "Halt"].map { name in
                let stop = store.insert(name, ["title": .text("\(name) \(number)")])
                if name == "Station" { stop["platforms"] = .integer(Int64(number)) }
                return stop
            }
            trip.setMembers(stops.reversed(), forRelationship: "stops")
            trip.addMember(store.insert("Tag", ["name": .text("tag \(number)")]), forRelationship: "tags")
        }
        try store.saveAndClose()
    }

    private func refusal(_ model: [EntityDescription]) throws -> [String] {
        let before = try folder.contents()
        do {
            _ = try MigratingStore(url, model, isReadOnly: true)
            return []
        } catch SealedStoreError.modelMismatch(let reasons) {
            #expect(try folder.contents()["a.store"] == before["a.store"])
            return reasons
        }
    }

    @Test func `the store has the content that a migrated one has, and the file is unchanged`() throws {
        try write()
        let migrated = folder.file("b.store")
        try FileManager.default.copyItem(at: url, to: migrated)
        var model = Self.second
        model[0].uniquenessConstraints = []
        let expected = try {
            let store = try MigratingStore(migrated, model)
            defer { try? store.close() }
            return try store.content()
        }()
        let before = try Data(contentsOf: url)
        let store = try MigratingStore(url, model, isReadOnly: true)
        #expect(try store.content() == expected)
        #expect(try store.problems() == [])
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `queries over renamed, added and constant properties have their results`() throws {
        try write()
        // Duplicates of a property that becomes unique do not prevent reading.
        let store = try MigratingStore(url, Self.second, isReadOnly: true)
        let journey = store.entity("Journey")
        let count = { (format: String) in
            try store.context.count(FetchRequest(journey, predicate: QueryExpression(format: format, entity: journey)))
        }
        #expect(try count("title == 'same'") == 2)
        #expect(try count("title BEGINSWITH 'é'") == 2)
        #expect(try count("title == 'é 3' AND rating == 3 AND note == nil") == 1)
        #expect(try count("ANY places.title == 'Station 2'") == 1)
        #expect(try count("ANY labels.name == 'tag 1'") == 1)
        #expect(try count("guests.@count == 0 AND friends.@count == 0") == 4)
        #expect(try count("title CONTAINS 'am'") == 2)
        let guests = try store.context.count(FetchRequest(store.entity("Guest")))
        #expect(guests == 0)
        let terminals = try store.objects("Terminal")
        #expect(terminals.map { $0["platforms"] } == (0..<4).map { .integer($0) })
        let sorted = FetchRequest(
            journey,
            sort: [QuerySort(.path(journey.propertiesByName["days"]!), ascending: false)]
        )
        let days = try store.context.fetch(sorted, as: ManagedObject.self).map { $0["days"] }
        #expect(days == [3, 2, 1, 0].map { .integer($0) })
        let first = try store.objects("Journey")[0]
        #expect(first["height"].text == "-0.0" && first["score"].text == "-0.0")
    }

    @Test func `a search uses the full-text index if its columns keep their names`() throws {
        try write()
        var model = Self.first
        model[0].attributes.append(.init("note", .string, isOptional: true))
        let store = try MigratingStore(url, model, isReadOnly: true)
        var request = FetchRequest(store.entity("Trip"))
        request.search = FullTextSearch(.words("same"), in: ["name"])
        #expect(try store.context.fetch(request, as: ManagedObject.self).count == 2)
    }

    @Test func `a plain index serves a renamed attribute`() throws {
        try write()
        let store = try MigratingStore(url, Self.second, isReadOnly: true)
        let opened = try store.store().opened
        let plan = try opened.database.read { connection in
            let table = opened.schema.table(of: store.entity("Journey"))
            let sql = "EXPLAIN QUERY PLAN SELECT t0.\"_id\" FROM \(table.name) AS t0 WHERE t0.\"title\" = 'same'"
            return try connection.withUncachedStatement(sql) { try $0.step() ? $0.string(at: 3) : "" }
        }
        #expect(plan.contains("USING COVERING INDEX") || plan.contains("USING INDEX"), "\(plan)")
    }

    @Test func `values that have to be converted prevent reading, and the error names the property`() throws {
        try write()
        var model = Self.first
        model[0].attributes[1] = .init("days", .string)
        let reasons = try refusal(model)
        #expect(reasons.contains("property 'Trip.days' has to be stored in another form"))
        #expect(reasons.last?.contains("reading only") ?? false)
    }

    @Test func `missing values of a required property without a default value prevent reading`() throws {
        try write()
        var model = Self.first
        model[0].attributes[4].isOptional = false
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, model, isReadOnly: true) }
                == [MigrationProblem(entity: "Trip", property: "score", kind: .missingValue, rows: 1)]
        )
    }

    @Test(arguments: [false, true])
    func `objects of a removed subentity are those of the superentity`(_ hasOther: Bool) throws {
        let family = [
            EntityDescription("Stop", attributes: [.init("title", .string)]),
            EntityDescription("Halt", superentity: "Stop"),
        ]
        let first = try MigratingStore(url, family)
        first.insert("Stop", ["title": .text("a")])
        first.insert("Halt", ["title": .text("b")])
        try first.saveAndClose()
        // Another entity prevents that the store fits the model.
        let other = hasOther ? [EntityDescription("Other", attributes: [.init("title", .string)])] : []
        let store = try MigratingStore(url, [family[0]] + other, isReadOnly: true)
        #expect(try store.values("Stop", "title") == [.text("a"), .text("b")])
        #expect(try store.problems() == [])
    }

    @Test func `a stage with code prevents reading`() throws {
        try write()
        var model = Self.first
        model[0].attributes.append(.init("note", .string, isOptional: true))
        let stages = { (code: StoreMigrationStage.Code?) in
            [
                StoreMigrationStage(try ManagedObjectModel(entities: Self.first)),
                StoreMigrationStage(try ManagedObjectModel(entities: model), didMigrate: code),
            ]
        }
        let open = { (code: StoreMigrationStage.Code?) in
            try MigratingStore(
                url,
                model,
                isReadOnly: true,
                options: [SealedStore.migrationStagesOption: try stages(code)]
            )
        }
        #expect(throws: SealedStoreError.self) { try open { _ in } }
        #expect(try open(nil).objects("Trip").count == 4)
    }

    // reader                 | writer
    // opens, reads           |
    //                        | migrates
    // reads: an error        |
    // opens, reads           |
    @Test func `a reader gets an error after another program has migrated the store`() throws {
        try write()
        var model = Self.first
        model[0].attributes.append(.init("note", .string, isOptional: true))
        let reader = try MigratingStore(url, model, isReadOnly: true)
        #expect(try reader.values("Trip", "note") == Array(repeating: .null, count: 4))
        let writer = try MigratingStore(url, model)
        writer.insert("Trip", ["name": .text("new"), "days": .integer(1), "height": .real(0), "note": .text("n")])
        try writer.context.save()
        #expect(throws: SealedStoreError.migratedByAnotherProgram(["the store has got the program's model"])) {
            try reader.values("Trip", "note")
        }
        try reader.close()
        let again = try MigratingStore(url, model, isReadOnly: true)
        #expect(try again.values("Trip", "note") == Array(repeating: .null, count: 4) + [.text("n")])
        #expect(try writer.problems() == [])
    }

    // reader                        | writer
    // opens, reads                  |
    //                               | makes a property optional, saves a null
    // reads: an error               |
    @Test func `a reader of the old model gets the differences of a migration`() throws {
        try write()
        var model = Self.first
        model[1].attributes[0].isOptional = true
        model[0].attributes.append(.init("note", .string, isOptional: true))
        let reader = try MigratingStore(url, Self.first, isReadOnly: true)
        #expect(try reader.objects("Trip").count == 4)
        let writer = try MigratingStore(url, model)
        writer.insert("Stop")
        try writer.context.save()
        #expect(
            throws: SealedStoreError.migratedByAnotherProgram([
                "property 'Trip.note' is removed", "property 'Stop.title' becomes required",
                "property 'Station.title' becomes required", "property 'Halt.title' becomes required",
            ])
        ) {
            try reader.objects("Trip")
        }
        try reader.close()
        try writer.close()
    }

    @Test func `without permission to migrate the store is refused`() throws {
        try write()
        #expect(throws: SealedStoreError.self) {
            try MigratingStore(url, Self.second, isReadOnly: true, allowsMigration: false)
        }
    }
}
