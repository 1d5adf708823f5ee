import Foundation
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The failure model: the process ends at any instant (SIGKILL) of a migration, the operating system does not.
///
/// `KILL_COUNT` is the number of kills in each test.
@Suite struct KilledMigrationTests {
    private let folder = TemporaryFolder()
    private var original: URL { folder.file("original.store") }
    private var url: URL { folder.file("journal.store") }

    private static let entryCount = 2000

    private func restoreOriginal() throws {
        for suffix in ["", "-wal", "-shm"] {
            let file = folder.file("journal.store\(suffix)")
            if FileManager.default.fileExists(atPath: file.path) { try FileManager.default.removeItem(at: file) }
        }
        try FileManager.default.copyItem(at: original, to: url)
    }

    private var logLength: Int {
        let log = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")
        return log?[.size] as? Int ?? 0
    }

    /// The points at which a migration can be killed: how often its log was seen with another length.
    private func observe(_ process: WriterProcess, until isReached: (Int) -> Bool) -> Int {
        var (seen, last) = (0, logLength)
        while process.isRunning, !isReached(seen) {
            let length = logLength
            if length != last { (seen, last) = (seen + 1, length) }
        }
        return seen
    }

    private func content(version: Int) throws -> (lines: [String], factor: Int?) {
        let context = try MigratedJournal.open(url, version: version, allowsMigration: false)
        let content = (try MigratedJournal.content(of: context), try MigratedJournal.wordFactor(of: context))
        let store = try context.coordinator.store(for: context.model.entities[0]).store
        #expect(try (store as? SealedStore)?.check() == [])
        try context.coordinator.removeAllStores()
        return content
    }

    // migrating process       | test
    // opens, writes "begun"   |
    // copies, drops, renames  | kills it
    //                         | opens with either version, without migrating: the old store or the new one
    @Test func `a killed migration leaves the old store or the new one, complete`() throws {
        var random = SeededGenerator()
        try MigratedJournal.create(original, count: Self.entryCount)
        try restoreOriginal()
        let expected = try content(version: 1).lines
        let points = observe(try WriterProcess(url, "migrate", "2")) { _ in false }
        try restoreOriginal()
        var version = 1
        var outcomes: [Int: Int] = [:]
        for _ in 0..<killCount(20) {
            let next = 3 - version
            let process = try WriterProcess(url, "migrate", String(next))
            let point = Int.random(in: 0...points, using: &random)
            _ = observe(process) { $0 >= point }
            _ = process.end()
            let isNew = (try? content(version: next)) != nil
            let found = isNew ? next : version
            #expect(try content(version: found).lines == expected, "\(random)")
            outcomes[found == next ? 1 : 0, default: 0] += 1
            version = found
        }
        print("killed migrations: \(outcomes) \(random)")
    }

    // migrating process              | test
    // takes stages, with their code  | kills it
    //                                | finds one version, complete, with the changes of its code
    // (again) takes the other stages | finds the last version
    @Test func `a killed staged migration leaves one of the versions, complete, and continues from it`() throws {
        var random = SeededGenerator()
        try MigratedJournal.create(original, count: Self.entryCount)
        try restoreOriginal()
        let expected = try content(version: 1).lines
        let points = observe(try WriterProcess(url, "stages")) { _ in false }
        let last = try content(version: MigratedJournal.lastVersion)
        #expect(last.lines == expected && last.factor == 2)
        var outcomes: [Int: Int] = [:]
        for _ in 0..<killCount(15) {
            try restoreOriginal()
            let process = try WriterProcess(url, "stages")
            let point = Int.random(in: 0...points, using: &random)
            _ = observe(process) { $0 >= point }
            _ = process.end()
            let found = try #require(
                (1...MigratedJournal.lastVersion).first { (try? content(version: $0)) != nil },
                "\(random)"
            )
            let (lines, factor) = try content(version: found)
            #expect(lines == expected, "\(random)")
            #expect(factor == [3: 1, 4: 2][found], "\(random)")
            outcomes[found, default: 0] += 1
            guard random.chance(30) else { continue }
            #expect(try WriterProcess(url, "stages").waitUntilExit() == 0)
            let end = try content(version: MigratedJournal.lastVersion)
            #expect(end.lines == expected && end.factor == 2, "\(random)")
        }
        print("killed staged migrations: \(outcomes) \(random)")
    }
}
