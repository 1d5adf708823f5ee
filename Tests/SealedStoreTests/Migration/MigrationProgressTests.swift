import EncryptedSQLite
import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The progress of migrations, their cancellation, and the checks before them.
@Suite struct MigrationProgressTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    /// A progress that records the steps with the numbers of rows.
    ///
    /// `@unchecked Sendable`: its only stored property is guarded.
    private final class RecordingProgress: Progress, @unchecked Sendable {
        let steps = Guarded<[String]>([])

        override func setUserInfoObject(_ object: Any?, forKey key: ProgressUserInfoKey) {
            super.setUserInfoObject(object, forKey: key)
            guard key == SealedStore.migrationRowsKey, let rows = object as? Int else { return }
            let step = userInfo[SealedStore.migrationStepKey] as? String ?? "-"
            let entity = userInfo[SealedStore.migrationEntityKey] as? String ?? "-"
            steps.withLock { $0.append("\(step), \(entity): \(rows)") }
        }
    }

    private static func model(_ type: AttributeType) -> [EntityDescription] {
        [EntityDescription("Trip", attributes: [.init("name", type)])]
    }

    private func write(_ names: [String]) throws {
        let store = try MigratingStore(url, Self.model(.string))
        for name in names { store.insert("Trip", ["name": .text(name)]) }
        try store.saveAndClose()
    }

    private func options(_ progress: Progress) -> [String: any Sendable] {
        [SealedStore.migrationProgressOption: progress]
    }

    @Test func `the progress has the step, the entity and the number of rows`() throws {
        try write((0..<50).map(String.init))
        let progress = RecordingProgress(parent: nil)
        try MigratingStore(url, Self.model(.int64), options: options(progress)).close()
        #expect(progress.fractionCompleted == 1)
        // The check does not run a second time before the rows are copied.
        #expect(
            progress.steps.withLock(\.self) == [
                "check Trip.name, Trip: 0", "rebuild table Trip, Trip: 0", "rebuild table Trip, Trip: 50",
                "remove table Trip, Trip: 0", "rename table Trip, Trip: 0", "record model, -: 0",
            ]
        )
    }

    @Test func `a migration can be cancelled while its data are checked`() throws {
        try write(["1", "no number"])
        let before = try folder.contents()
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        #expect(throws: CancellationError.self) {
            try MigratingStore(url, Self.model(.int64), options: options(progress))
        }
        #expect(try folder.contents() == before)
    }

    // reader            | writer            | another container
    // counts rows       |                   |
    //                   | takes the result  |
    //                   | writes: counts    |
    // counts rows       |                   |
    //                   |                   | commits
    //                   | counts            |
    @Test func `the result of a check holds until the file changes`() throws {
        try write(["1"])
        let store = try MigratingStore(url, Self.model(.string))
        let database = try store.store().opened.database
        let results = MigrationCheckResults()
        let check = MigrationCheck(
            entity: "Trip",
            property: nil,
            kind: .missingValue,
            sql: "SELECT 1 + abs(random() % 1000000000000)"
        )
        let count = { (connection: Connection) in
            try results.problems([check], on: connection, progress: nil).map(\.rows)
        }
        let first = try database.read(count)
        #expect(try database.read(count) == first)
        try database.write { connection in
            try results.adopt(for: connection, of: database)
            #expect(try count(connection) == first)
            try connection.execute(#"UPDATE "Trip" SET "name" = '2'"#)
            #expect(try count(connection) != first)
        }
        let second = try database.read(count)
        let other = try MigratingStore(url, Self.model(.string))
        other.insert("Trip", ["name": .text("3")])
        try other.saveAndClose()
        try database.write { connection in
            try results.adopt(for: connection, of: database)
            #expect(try count(connection) != second)
        }
    }
}
