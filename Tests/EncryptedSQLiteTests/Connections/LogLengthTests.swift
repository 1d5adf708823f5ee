import Foundation
import Synchronization
import TestSupport
import Testing

@testable import EncryptedSQLite

/// Reading threads do not let the write-ahead log grow.
@Suite struct LogLengthTests {
    private static let pageByteCount = 4096
    private static let rounds = 6
    private static let transactionsPerRound = 20
    /// The least number of pages that a transaction changes.
    private static let pagesPerTransaction = 60

    /// Replaces all rows, some sixty pages, in consecutive transactions, with a checkpoint after each as far as readers
    /// permit.
    private static func rewrite(_ path: String) throws {
        let database = try openSample(path, options: sampleOptions { $0.busyTimeoutMilliseconds = 10_000 })
        for round in 0..<transactionsPerRound {
            try database.write { connection in
                try connection.execute("UPDATE item SET name = '\(round)' || substr(name, 3)")
            }
            try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(PASSIVE)") }
        }
    }

    private static func logPages(_ path: String) throws -> Int {
        try Data(contentsOf: URL(filePath: path + "-wal")).count / pageByteCount
    }

    private func makeFile(in folder: TestSupport.TemporaryFolder) throws -> String {
        let path = folder.filePath("store")
        try makeSample(path, rows: 2000)
        return path
    }

    // writer                        | reader (another database or process), without a pause
    // commits 60 pages              | reads, keeps its transaction
    // …                             | … at least twice in each round of the writer
    // the log has 1,000 pages       | reads, ends its transaction
    // restarts the log              | reads
    @Test(arguments: [false, true])
    func `a reader in another database or process does not let the log grow`(isOtherProcess: Bool) async throws {
        let folder = TestSupport.TemporaryFolder()
        let path = try makeFile(in: folder)
        let reader = try openSample(path)
        let isDone = Atomic(false)
        let reads = Atomic(0)
        let end = DispatchGroup()
        end.enter()
        Thread {
            while !isDone.load(ordering: .acquiring) {
                _ = try? reader.read { try $0.integer("SELECT max(_id) FROM item") }
                reads.wrappingAdd(1, ordering: .relaxed)
            }
            end.leave()
        }.start()
        for _ in 0..<Self.rounds {
            if isOtherProcess {
                await #expect(processExitsWith: .success) { [path = path as String] in try Self.rewrite(path) }
            } else {
                try Self.rewrite(path)
            }
            // On a busy machine the reader would otherwise sleep in a transaction all the time.
            let count = reads.load(ordering: .relaxed)
            while reads.load(ordering: .relaxed) < count + 2 { sched_yield() }
        }
        isDone.store(true, ordering: .releasing)
        end.wait()
        let written = Self.rounds * Self.transactionsPerRound * Self.pagesPerTransaction
        let count = reads.load(ordering: .relaxed)
        #expect(try Self.logPages(path) < written / 2, "\(count) reads")
        #expect(try reader.read { try $0.string("PRAGMA quick_check") } == "ok")
    }

    @Test func `a write ends the transactions that other databases keep`() throws {
        let folder = TestSupport.TemporaryFolder()
        let path = try makeFile(in: folder)
        let (reader, writer) = (try openSample(path), try openSample(path))
        try writer.write { try insert(3000...3001, into: $0) }
        #expect(try reader.read { try $0.itemCount() } == 2002)
        // The reader keeps its transaction, unless a timer was faster; either way the log can be emptied now.
        let isBusy = try writer.writeWithoutTransaction { connection in
            try connection.withStatement("PRAGMA wal_checkpoint(TRUNCATE)") { statement in
                try statement.step() ? statement.integer(at: 0) : 1
            }
        }
        #expect(isBusy == 0)
        #expect(try Self.logPages(path) == 0)
    }

    // writer                          | checkpointer              | log
    // commits 1,000 pages             |                           | 1,000 pages
    // begins, writes                  | writes 1,000 pages back   | 1,000 pages
    // commits, writes the rest back   |                           | some pages more
    // commits                         |                           | starts again
    @Test func `a log starts again although commits follow each other without a pause`() throws {
        let folder = TestSupport.TemporaryFolder()
        let path = try makeFile(in: folder)
        let database = try openSample(path)
        let checkpointer = try #require(database.checkpointer)
        // On a busy machine the checkpoint of an idle database comes between the commits.
        var before = Data()
        var isContinued = false
        for _ in 0..<100 where !isContinued {
            try fillLog(of: database)
            before = try Self.logStart(path)
            try database.write { connection in
                try connection.execute("UPDATE item SET name = 'second' WHERE _id = 1")
                checkpointer.run()
            }
            isContinued = try Self.logStart(path) == before
        }
        #expect(isContinued)
        try database.write { try $0.execute("UPDATE item SET name = 'third' WHERE _id = 1") }
        #expect(try Self.logStart(path) != before)
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
        #expect(try database.read { try $0.string("SELECT name FROM item WHERE _id = 1") } == "third")
    }

    // readers                                        | writer
    // one begins, and runs a query of many milliseconds |
    // the other one begins before that ends …        | commits, runs a checkpoint, commits
    @Test func `a log starts again although there is always a reader`() throws {
        let folder = TestSupport.TemporaryFolder()
        let path = try makeFile(in: folder)
        let database = try openSample(path, options: sampleOptions { $0.busyTimeoutMilliseconds = 10_000 })
        let checkpointer = try #require(database.checkpointer)
        let isDone = Atomic(false)
        let turns = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
        let begun = DispatchSemaphore(value: 0)
        let group = DispatchGroup()
        for number in 0..<2 {
            group.enter()
            Thread {
                defer { group.leave() }
                if number == 1 { turns[1].wait() }
                while !isDone.load(ordering: .relaxed) {
                    do {
                        try database.read { connection in
                            _ = try connection.itemCount()
                            begun.signal()
                            _ = try connection.integer(
                                """
                                WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000) \
                                SELECT count(*) FROM c
                                """
                            )
                            turns[1 - number].signal()
                            turns[number].wait()
                        }
                    } catch {
                        Issue.record(error)
                        isDone.store(true, ordering: .relaxed)
                        for _ in 0..<4 { begun.signal() }
                    }
                }
                turns[1 - number].signal()
            }.start()
        }
        defer {
            isDone.store(true, ordering: .relaxed)
            for turn in turns { turn.signal() }
            group.wait()
        }
        for _ in 0..<4 { begun.wait() }
        // No reader continues an earlier transaction on a long log.
        try fillLog(of: database)
        let before = try Self.logStart(path)
        // On a loaded machine, a reader may take longer than a checkpoint waits.
        for round in 0..<30 where try Self.logStart(path) == before {
            checkpointer.waitingLength.store(1, ordering: .relaxed)
            try database.write { try $0.execute("UPDATE item SET name = 'round \(round)' WHERE _id = 1") }
            checkpointer.run()
            try database.write { try $0.execute("UPDATE item SET name = 'round \(round)' WHERE _id = 2") }
        }
        #expect(try Self.logStart(path) != before)
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    /// Commits more pages than start a checkpoint.
    private func fillLog(of database: Database) throws {
        try database.write { connection in
            while try connection.integer("PRAGMA page_count") ?? 0 < 2 * Checkpointer.threshold {
                try connection.execute("INSERT INTO item (name) SELECT name FROM item LIMIT 2000")
            }
            // Also if the file is long enough already.
            try connection.execute("UPDATE item SET name = name")
        }
    }

    /// The header of the log, which changes when the log starts again.
    private static func logStart(_ path: String) throws -> Data {
        try Data(contentsOf: URL(filePath: path + "-wal")).prefix(LogFormat.headerByteCount)
    }
}
