import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The permission to migrate a store, and the view of other containers and processes during a migration.
@Suite struct OpeningMigrationTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let first = [
        EntityDescription("Trip", attributes: [.init("name", .string)], indexes: [.init(["name"])])
    ]
    private static let second = [
        EntityDescription("Trip", attributes: [.init("name", .string), .init("days", .int64, isOptional: true)])
    ]

    private func write(_ options: [String: any Sendable] = [:]) throws {
        let store = try MigratingStore(url, Self.first, options: options)
        store.insert("Trip", ["name": .text("a")])
        try store.saveAndClose()
    }

    private static func differences(_ body: () throws -> Void) throws -> [String] {
        do {
            try body()
            return []
        } catch SealedStoreError.modelMismatch(let differences) {
            return differences
        }
    }

    /// Whether another program's migration is the error.
    private static func isRefused(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch SealedStoreError.migratedByAnotherProgram {
            return true
        }
    }

    @Test func `a description that does not allow migration refuses with the differences`() throws {
        try write()
        let before = try folder.contents()
        #expect(
            try Self.differences { _ = try MigratingStore(url, Self.second, allowsMigration: false) }
                == ["property 'Trip.days' is new"]
        )
        #expect(try folder.contents() == before)
    }

    @Test func `a store that has no entity of the model is refused`() throws {
        try write()
        let before = try folder.contents()
        let other = [EntityDescription("Other", attributes: [.init("name", .string)])]
        #expect(
            try Self.differences { _ = try MigratingStore(url, other) }
                == [
                    "the store has none of the program's entities", "entity 'Other' is new", "entity 'Trip' is removed",
                ]
        )
        #expect(try folder.contents() == before)
    }

    // old container      | new container
    // opens, reads       |
    //                    | opens and migrates
    // reads: an error    |
    // saves: an error    |
    //                    | reads and saves
    @Test func `a container that has the store open gets an error at its next use`() throws {
        try write()
        let old = try MigratingStore(url, Self.first)
        #expect(try old.values("Trip", "name") == [.text("a")])
        let new = try MigratingStore(url, Self.second)
        #expect(try Self.isRefused { _ = try old.values("Trip", "name") })
        old.insert("Trip", ["name": .text("b")])
        #expect(try Self.isRefused { try old.context.save() })
        new.insert("Trip", ["name": .text("c"), "days": .integer(1)])
        try new.context.save()
        #expect(try new.values("Trip", "days") == [.null, .integer(1)])
        #expect(try new.problems() == [])
    }

    // one thread         | another thread
    // opens: migrates    | opens: waits, or migrates itself
    // reads              | reads
    @Test func `of containers that open a store at the same time one migrates and the others open the result`()
        async throws
    {
        let store = try MigratingStore(url, [EntityDescription("Trip", attributes: [.init("name", .int64)])])
        for number in 0..<500 { store.insert("Trip", ["name": .integer(Int64(number))]) }
        try store.saveAndClose()
        let url = url
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = try MigratingStore(
                        url,
                        [EntityDescription("Trip", attributes: [.init("name", .string)])]
                    )
                    return try store.values("Trip", "name").count { if case .text = $0 { true } else { false } }
                }
            }
            for try await count in group { #expect(count == 500) }
        }
    }

    @Test func `a store of a later version of the model is refused`() throws {
        let option = { (version: String) in [SealedStore.modelVersionOption: version] }
        try write(option("1.10"))
        let before = try folder.contents()
        #expect(throws: SealedStoreError.newerModel(found: "1.10", supported: "1.9.3")) {
            try MigratingStore(url, Self.second, options: option("1.9.3"))
        }
        let invalid = SealedStoreError.invalidOption(
            SealedStore.modelVersionOption,
            reason: "a version has the form 1.2.3"
        )
        #expect(throws: invalid) { try MigratingStore(url, Self.second, options: option("new")) }
        #expect(try folder.contents() == before)
        try MigratingStore(url, Self.second, options: option("2.0.0")).close()
        #expect(throws: SealedStoreError.newerModel(found: "2.0.0", supported: "1.10")) {
            try MigratingStore(url, Self.first, options: option("1.10"))
        }
        try MigratingStore(url, Self.second, options: option("2")).close()
    }

    @Test func `a program without a version does not migrate a store of a later version`() throws {
        try write()
        let second = try MigratingStore(url, Self.second, options: [SealedStore.modelVersionOption: "2.0.0"])
        second.insert("Trip", ["name": .text("b"), "days": .integer(3)])
        try second.saveAndClose()
        let before = try folder.contents()
        for isReadOnly in [false, true] {
            #expect(throws: SealedStoreError.newerModel(found: "2.0.0", supported: "1")) {
                try MigratingStore(url, Self.first, isReadOnly: isReadOnly)
            }
        }
        #expect(throws: SealedStoreError.newerModel(found: "2.0.0", supported: "1")) {
            try SealedStore.migrationPreview(
                of: MigratingStore.description(url),
                to: ManagedObjectModel(entities: Self.first)
            )
        }
        #expect(try folder.contents() == before)
        // A program without a version that has the same model may open the store.
        #expect(try MigratingStore(url, Self.second).values("Trip", "days") == [.null, .integer(3)])
    }

    // opening                 | another program
    //                         | begins to build an index
    // waits: busy             |
    // waits: busy             |
    //                         | commits
    // opens                   |
    @Test func `opening waits while another program makes a change that keeps the tables`() throws {
        try write([SealedStore.modelVersionOption: "1.0"])
        let store = try MigratingStore(url, Self.first)
        func migrator(_ options: [String: any Sendable] = [:]) throws -> StoreMigrator {
            let description = try MigratingStore.description(url, options: options)
            let model = try ManagedObjectModel(entities: Self.first)
            let program = try StoreReading(model, StoreConfiguration(description))
            return try StoreMigrator(
                staged: StagedMigration(program: program),
                database: store.store().opened.database,
                progress: nil
            )
        }
        var attempts = 0
        try migrator([SealedStore.modelVersionOption: "2.0"]).waitingForOtherPrograms {
            attempts += 1
            if attempts < 5 { throw DatabaseError.busy }
        }
        #expect(attempts == 5)
        // A store that needs no change is only written, which ends soon.
        #expect(throws: DatabaseError.busy) {
            try migrator().waitingForOtherPrograms { throw DatabaseError.busy }
        }
    }

    @Test(arguments: [false, true]) func `a row with a key below 1 is an error`(hasProgress: Bool) throws {
        try write()
        do {
            let store = try MigratingStore(url, Self.first)
            try store.store().opened.database.write { connection in
                try connection.execute(
                    #"INSERT INTO "Trip" ("_id", "_version", "name") SELECT -5, "_version", "name" FROM "Trip""#
                )
            }
            try store.close()
        }
        let options: [String: any Sendable] =
            hasProgress ? [SealedStore.migrationProgressOption: Progress(totalUnitCount: 1)] : [:]
        let rebuilt = [EntityDescription("Trip", attributes: [.init("name", .data)])]
        #expect(throws: SealedStoreError.damagedRow(entity: "Trip", property: "_id")) {
            try MigratingStore(url, rebuilt, options: options)
        }
    }

    @Test func `a cancelled migration leaves the old store`() throws {
        try write()
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        #expect(throws: CancellationError.self) {
            try MigratingStore(url, Self.second, options: [SealedStore.migrationProgressOption: progress])
        }
        let store = try MigratingStore(url, Self.first, allowsMigration: false)
        #expect(try store.values("Trip", "name") == [.text("a")])
        try store.close()
        let other = Progress(totalUnitCount: 1)
        let next = try MigratingStore(url, Self.second, options: [SealedStore.migrationProgressOption: other])
        #expect(other.fractionCompleted == 1)
        #expect(try next.problems() == [])
    }

    @Test func `rules that need no change of data are recorded`() throws {
        try write()
        var next = Self.first
        next[0].renamingIdentifier = "Journey"
        try MigratingStore(url, next).close()
        #expect(
            try SealedStore.model(of: MigratingStore.description(url)).entities[0].description.renamingIdentifier
                == "Journey"
        )
    }

    @Test func `the log is short after a migration`() throws {
        let text = String(repeating: "text ", count: 100)
        let first = try MigratingStore(url, Self.first)
        for number in 0..<2000 { first.insert("Trip", ["name": .text("\(number) \(text)")]) }
        try first.saveAndClose()
        let store = try MigratingStore(
            url,
            [EntityDescription("Trip", attributes: [.init("name", .data)])]
        )
        let log = try FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int
        #expect(log == 0)
        #expect(try store.problems() == [])
    }

    @Test func `duplicates of values that become unique are counted`() throws {
        let first = try MigratingStore(url, Self.first)
        for name in ["a", "b", "a", "a", "c", "b"] { first.insert("Trip", ["name": .text(name)]) }
        try first.saveAndClose()
        let unique = [
            EntityDescription("Trip", attributes: [.init("name", .string)], uniquenessConstraints: [["name"]])
        ]
        #expect(
            try MigratingStore.refusal { _ = try MigratingStore(url, unique) }
                == [MigrationProblem(entity: "Trip", property: nil, kind: .duplicates(properties: ["name"]), rows: 3)]
        )
        let again = try MigratingStore(url, Self.first)
        for trip in try again.objects("Trip") where [3, 4, 6].contains(trip.managedObjectID.key) {
            again.context.delete(trip)
        }
        try again.saveAndClose()
        let store = try MigratingStore(url, unique)
        #expect(try store.problems() == [])
        try store.close()
        // The rule goes again, and with it its index.
        let without = try MigratingStore(url, Self.first)
        without.insert("Trip", ["name": .text("a")])
        try without.context.save()
        #expect(try without.problems() == [])
    }
}
