import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Checks, copies, repairs and the removal of what is set aside.
@Suite struct SetAsideMaintenanceTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }
    private let key: EncryptionKey
    private static let smaller = Trips.without("Trip.rating", "Trip.next", of: Trips.withoutNotes)

    init() throws { key = try .raw(Array(repeating: 5, count: 32)) }

    /// Writes the full store and opens it with less.
    private func writeAndSetAside(_ options: [String: any Sendable] = [:]) throws {
        try Trips.write(url, options: options)
        try MigratingStore(url, Self.smaller, options: options).close()
    }

    @Test func `names what is set aside`() throws {
        try writeAndSetAside()
        let items = try SealedStore.setAside(in: MigratingStore.description(url))
        #expect(items.map(\.description) == ["Trip.rating", "Trip.next", "Note"])
        #expect(
            items.map(\.kind) == [.attribute(.double), .relationship(destination: "Trip", isToMany: false), .entity]
        )
    }

    @Test func `a preview names what would be set aside and what comes back`() throws {
        try Trips.write(url)
        let description = try MigratingStore.description(url)
        let smaller = try ManagedObjectModel(entities: Self.smaller)
        let preview = try SealedStore.migrationPreview(of: description, to: smaller)
        #expect(preview.setAside.map(\.description) == ["Trip.rating", "Trip.next", "Note"])
        #expect(preview.returning == [])
        #expect(
            preview.differences == [
                "property 'Trip.rating' is removed", "property 'Trip.next' is removed", "entity 'Note' is removed",
            ]
        )
        try MigratingStore(url, Self.smaller).close()
        let full = try ManagedObjectModel(entities: Trips.without("Trip.next"))
        let next = try SealedStore.migrationPreview(of: description, to: full)
        #expect(next.setAside == [])
        #expect(next.returning.map(\.description) == ["Trip.rating", "Note"])
    }

    @Test func `without permission to migrate the store is refused`() throws {
        try Trips.write(url)
        let before = try folder.contents()
        #expect(throws: SealedStoreError.self) { _ = try MigratingStore(url, Self.smaller, allowsMigration: false) }
        #expect(try folder.contents() == before)
        try MigratingStore(url, Self.smaller).close()
        try MigratingStore(url, Self.smaller, allowsMigration: false).close()
    }

    @Test func `a program that only reads has its properties`() throws {
        try writeAndSetAside()
        let before = try folder.contents()
        for model in [Trips.full, Self.smaller, Trips.names] {
            let store = try MigratingStore(url, model, isReadOnly: true)
            #expect(try store.values("Trip", "name").count == 2)
            #expect(try store.problems() == [])
            try store.close()
        }
        let store = try MigratingStore(url, Trips.full, isReadOnly: true)
        #expect(try store.values("Trip", "rating").count == 2)
        try store.close()
        #expect(try folder.contents()["a.store"] == before["a.store"])
    }

    @Test func `a check finds problems in what is set aside, and a repair removes them`() throws {
        try writeAndSetAside()
        let store = try MigratingStore(url, Self.smaller)
        try store.store().opened.database.write { connection in
            try connection.execute(#"UPDATE "Note" SET "trip" = 99; UPDATE "Trip" SET "next" = 98 WHERE "_id" = 1"#)
        }
        #expect(
            Set(try store.store().check().map { "\($0.entity ?? "").\($0.property ?? "")" }) == [
                "Trip.next", "Note.trip",
            ]
        )
        let report = try store.store().repair([.references, .derivedData])
        #expect(report.check.isSound)
        try store.close()
        #expect(try SealedStore.check(url, key: key).isSound)
        let full = try MigratingStore(url, Trips.full)
        #expect(try full.objects("Note").allSatisfy { $0.destination(forRelationship: "trip") == nil })
        try full.close()
    }

    @Test func `backups, compactions and changed keys keep what is set aside`() throws {
        try Trips.write(url)
        let before = try Trips.content(url, Trips.full)
        let (backup, compact) = (folder.file("backup.store"), folder.file("compact.store"))
        let store = try MigratingStore(url, Self.smaller)
        try store.store().backUp(to: backup)
        try store.store().compact(into: compact)
        _ = try store.store().compact()
        #expect(try store.problems() == [])
        try store.close()
        for file in [backup, compact, url] { #expect(try Trips.content(file, Trips.full) == before) }
    }

    @Test func `a salvage recovers what is set aside`() throws {
        try Trips.write(url)
        let before = try Trips.content(url, Trips.full)
        try MigratingStore(url, Self.smaller).close()
        let salvaged = folder.file("salvaged.store")
        let report = try SealedStore.salvage(url, key: key, to: salvaged)
        #expect(report.entities.map(\.recoveredCount) == [2, 3, 1, 2])
        #expect(try SealedStore.setAside(in: MigratingStore.description(salvaged)).count == 3)
        #expect(try Trips.content(salvaged, Self.smaller).count == 6)
        #expect(try Trips.content(salvaged, Trips.full) == before)
    }

    @Test func `a call removes what is set aside`() throws {
        try writeAndSetAside()
        let store = try MigratingStore(url, Self.smaller)
        let before = try store.content()
        #expect(try store.store().removeSetAside().map(\.description) == ["Trip.rating", "Trip.next", "Note"])
        #expect(try store.setAside() == [])
        #expect(try store.store().removeSetAside() == [])
        #expect(try store.content() == before)
        store.insert("Trip", ["name": .text("new"), "days": .integer(1)])
        try store.object("Trip", named: "Oslo").map(store.context.delete)
        try store.context.save()
        #expect(try store.problems() == [])
        #expect(try !store.definitions().contains { $0.contains("Note") || $0.contains("rating") })
        try store.close()
        let full = try MigratingStore(url, Trips.full)
        #expect(try full.objects("Note").isEmpty)
        #expect(try full.values("Trip", "rating") == [.null, .null])
        try full.close()
    }

    @Test(arguments: [
        Trips.Named("names", Trips.names), .without("Label.trips"), .without("Trip.labels"), .without("Trip.stops"),
    ])
    func `a compaction removes what is set aside if that is wanted`(_ smaller: Trips.Named) throws {
        try Trips.write(url)
        let store = try MigratingStore(url, smaller.entities)
        let before = try store.content()
        _ = try store.store().compact(removingSetAside: true)
        #expect(try store.setAside() == [])
        #expect(try store.content() == before)
        try store.object("Trip", named: "Rome")?["name"] = .text("Roma")
        try store.context.save()
        #expect(try store.problems() == [])
        try store.close()
        try MigratingStore(url, Trips.full).close()
    }

    @Test func `objects of removed subentities stay objects of the superentity`() throws {
        let people = [
            EntityDescription("Person", attributes: [Trips.name]),
            EntityDescription("Student", superentity: "Person", attributes: [.init("school", .string)]),
        ]
        let first = try MigratingStore(url, people)
        first.insert("Student", ["name": .text("s"), "school": .text("here")])
        try first.saveAndClose()
        let store = try MigratingStore(url, [people[0]])
        #expect(try store.store().removeSetAside().map(\.description) == ["Student"])
        #expect(try store.setAside() == [])
        #expect(try store.values("Person", "name") == [.text("s")])
        store.insert("Person", ["name": .text("p")])
        try store.context.save()
        #expect(try store.problems() == [])
        try store.close()
        let last = try MigratingStore(url, people)
        #expect(try last.objects("Student").isEmpty)
        #expect(try last.objects("Person").count == 2)
        last.insert("Student", ["name": .text("s"), "school": .text("here")])
        try last.saveAndClose()
    }

    @Test func `erasing a store deletes what is set aside`() throws {
        try writeAndSetAside([SealedStore.historyOption: HistoryOptions()])
        let store = try MigratingStore(url, Self.smaller)
        try store.coordinator.eraseStores()
        #expect(try store.problems() == [])
        try store.close()
        #expect(try Trips.content(url, Trips.full) == [])
    }

    @Test func `a stage of a plan removes what its version does not have`() throws {
        try Trips.write(url)
        // Set aside by another program, and unknown to the plan.
        try MigratingStore(url, Trips.without("Label.name")).close()
        let first = try ManagedObjectModel(entities: Trips.without("Label.name"))
        let second = Trips.without("Label.name", "Trip.rating", of: Trips.withoutNotes)
        let stages = [StoreMigrationStage(first), StoreMigrationStage(try ManagedObjectModel(entities: second))]
        let store = try MigratingStore(url, second, options: [SealedStore.migrationStagesOption: stages])
        #expect(try store.setAside() == ["Label.name"])
        #expect(try store.problems() == [])
        try store.close()
        let full = try MigratingStore(url, Trips.full)
        #expect(try full.objects("Note").isEmpty)
        #expect(try full.values("Trip", "rating") == [.null, .null])
        #expect(try full.values("Label", "name") == [.text("sea")])
        try full.close()
    }

    @Test func `a failing stage keeps everything`() throws {
        struct Interruption: Error {}
        try Trips.write(url)
        let before = try Trips.content(url, Trips.full)
        let last = StoreMigrationStage(try ManagedObjectModel(entities: Trips.names)) { _ in throw Interruption() }
        let stages = [StoreMigrationStage(try ManagedObjectModel(entities: Trips.full)), last]
        #expect(throws: Interruption.self) {
            _ = try MigratingStore(url, Trips.names, options: [SealedStore.migrationStagesOption: stages])
        }
        #expect(try Trips.content(url, Trips.full) == before)
    }
}
