import EncryptedSQLite
import Guarded
import TestSupport
import Testing

/// Snapshots of a database that are read beside writers.
@Suite struct SnapshotTests {
    private let folder = TemporaryFolder()
    private let database: Database

    init() throws {
        database = try openSample(folder.filePath("database"))
        try database.write { try insert(1...1, into: $0) }
    }

    private func count() throws -> Int64? { try database.read { try $0.itemCount() } }

    @Test func `a snapshot keeps its state`() throws {
        let snapshot = try #require(try database.snapshot())
        for number in 2...4 { try database.write { try insert(number...number, into: $0) } }
        #expect(try snapshot.perform(count) == 1)
        #expect(try count() == 4)
        let later = try #require(try database.snapshot())
        try database.write { try $0.execute("DELETE FROM item") }
        #expect(try later.perform(count) == 4)
        #expect(try snapshot.perform { try later.perform(count) } == 4, "the innermost is read")
        #expect(try snapshot.perform(count) == 1)
        #expect(try count() == 0)
    }

    @Test func `a transaction inside a snapshot reads the snapshot`() throws {
        let snapshot = try #require(try database.snapshot())
        try database.write { try $0.execute("DELETE FROM item") }
        let counted = try snapshot.perform { try database.read { _ in try count() } }
        #expect(counted == 1)
    }

    // one thread                  | another thread
    // opens a snapshot            |
    //                             | closes the database and the listed snapshots
    // lists the snapshot          |
    @Test func `a snapshot that is taken while the database is closed is closed or not made`() throws {
        for number in 0..<50 {
            let database = try openSample(folder.filePath("closed \(number)"))
            let snapshot = Guarded<DatabaseSnapshot?>(nil)
            let barrier = Barrier(count: 2)
            inThreads(2) { thread in
                barrier.arrive()
                if thread == 0 {
                    let taken = try? database.snapshot()
                    snapshot.withLock { $0 = taken }
                } else {
                    try? database.close()
                }
            }
            guard let snapshot = snapshot.withLock(\.self) else { continue }
            #expect(databaseError { try snapshot.perform {} } == .closed)
        }
    }

    @Test func `threads take turns with a snapshot`() throws {
        let snapshot = try #require(try database.snapshot())
        try database.write { try $0.execute("DELETE FROM item") }
        let database = database
        inThreads(8) { _ in
            for _ in 0..<20 {
                let count = try? snapshot.perform { try database.read { try $0.itemCount() } }
                #expect(count == 1)
            }
        }
    }

    @Test func `a closed database has no snapshots`() throws {
        let snapshot = try #require(try database.snapshot())
        try database.close()
        #expect(databaseError { try snapshot.perform(count) } == .closed)
        #expect(databaseError { try database.snapshot() } == .closed)
    }

    @Test func `a database in memory has no snapshots`() throws {
        let memory = try Database(.memory, key: nil)
        #expect(try memory.snapshot() == nil)
    }

    @Test func `the log can be checkpointed after the snapshot is released`() throws {
        var snapshot = try database.snapshot()
        try database.write { try insert(2...2, into: $0) }
        // The first column is 1 if readers blocked the checkpoint.
        func checkpoint() throws -> Int64? {
            try database.writeWithoutTransaction { try $0.integer("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
        #expect(try snapshot?.perform { try count() } == 1)
        #expect(try checkpoint() == 1)
        snapshot = nil
        #expect(try checkpoint() == 0)
    }
}
