import Foundation
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The failure model: the process ends at any instant (SIGKILL) of a migration, the operating system does not.
@Suite struct KilledMigrationTests {
    // migrating process       | test
    // opens, writes "begun"   |
    // copies, drops, renames  | kills it
    //                         | opens with either version, without migrating: the old store or the new one
    @Test func `a killed migration leaves the old store or the new one, complete`() throws {
        let folder = TemporaryFolder()
        let url = folder.file("journal.store")
        var random = SeededGenerator()
        try MigratedJournal.create(url, count: 2000)
        let expected = try content(url, version: 1)
        var version = 1
        var outcomes: [Int: Int] = [:]
        for _ in 0..<30 {
            let next = 3 - version
            let process = try WriterProcess(url, "migrate", String(next))
            process.waitForLines(1)
            // Rounds of work instead of time, so that the kill falls into different places.
            var sum: UInt64 = 0
            for round in 0..<Int.random(in: 0...6_000_000, using: &random) { sum &+= UInt64(round) }
            _ = process.end()
            #expect(sum < .max)
            let isNew = (try? content(url, version: next)) != nil
            let found = isNew ? next : version
            #expect(try content(url, version: found) == expected, "\(random)")
            outcomes[found == next ? 1 : 0, default: 0] += 1
            version = found
        }
        print("killed migrations: \(outcomes) \(random)")
    }

    private func content(_ url: URL, version: Int) throws -> [String] {
        let context = try MigratedJournal.open(url, version: version, allowsMigration: false)
        let content = try MigratedJournal.content(of: context)
        let store = try context.coordinator.store(for: context.model.entities[0]).store
        #expect(try (store as? SealedStore)?.check() == [])
        try context.coordinator.removeAllStores()
        return content
    }
}
