import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

@Suite struct TransactionTests {
    struct Refusal: Error {}

    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"))
    }

    @Test func `a write is committed when it returns`() throws {
        try database.write { try insert(1...3, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 3)
    }

    @Test func `a write that throws changes nothing`() throws {
        #expect(throws: Refusal.self) {
            try database.write { connection in
                try insert(1...3, into: connection)
                throw Refusal()
            }
        }
        #expect(try database.read { try $0.itemCount() } == 0)
        try database.write { try insert(1...1, into: $0) }
    }

    @Test func `a write inside a write of another database with the same file is an error at once`() throws {
        let other = try openSample(folder.filePath("store"))
        let refusal = DatabaseError.nestedWrite(path: folder.filePath("store"))
        try database.write { connection in
            try insert(1...3, into: connection)
            #expect(databaseError { try other.write { try insert(4...6, into: $0) } } == refusal)
            #expect(databaseError { try other.compact() } == refusal)
            #expect(try other.read { try $0.itemCount() } == 0)
        }
        try other.write { connection in
            try insert(4...6, into: connection)
            try other.write { try insert(7...9, into: $0) }
            #expect(databaseError { try database.writeWithoutTransaction { _ in } } == refusal)
        }
        #expect(try database.read { try $0.itemCount() } == 9)
    }

    @Test func `a nested write is rolled back alone`() throws {
        try database.write { connection in
            try insert(1...3, into: connection)
            #expect(throws: Refusal.self) {
                try database.write { connection in
                    try insert(4...6, into: connection)
                    throw Refusal()
                }
            }
            try database.write { try insert(7...7, into: $0) }
        }
        #expect(try database.read { try $0.itemCount() } == 4)
        #expect(database.statistics.transactionsCommitted == 2, "the creation and the outer one")
    }

    @Test func `after SQLite rolls a transaction back, the rest of the write does not run`() throws {
        try database.write { try insert(1...1, into: $0) }
        let error = databaseError {
            try database.write { connection in
                try insert(2...2, into: connection)
                _ = try? connection.execute("INSERT OR ROLLBACK INTO item VALUES (1, 'again')")
                try insert(3...3, into: connection)
            }
        }
        #expect(error == .transactionRolledBack)
        #expect(try database.read { try $0.itemCount() } == 1)
    }

    @Test func `after SQLite rolls a transaction back, the write throws`() throws {
        try database.write { try insert(1...1, into: $0) }
        let error = databaseError {
            try database.write { connection in
                try insert(2...2, into: connection)
                _ = try? connection.execute("INSERT OR ROLLBACK INTO item VALUES (1, 'again')")
            }
        }
        #expect(error == .transactionRolledBack)
    }

    @Test func `a read keeps its state while a writer commits, and the next one sees the commit`() throws {
        try database.read { reader in
            #expect(try reader.itemCount() == 0)
            try database.write { try insert(1...3, into: $0) }
            #expect(try reader.itemCount() == 0)
            #expect(try database.read { try $0.itemCount() } == 0)
        }
        #expect(try database.read { try $0.itemCount() } == 3)
    }

    @Test func `a read sees the commits of another database of the same file`() throws {
        let other = try openSample(folder.filePath("store"))
        for count in 1...20 {
            try other.write { try insert(count...count, into: $0) }
            #expect(try database.read { try $0.itemCount() } == Int64(count))
            #expect(try database.read { try $0.itemCount() } == Int64(count))
        }
    }

    @Test func `completed reads do not block checkpoints`() throws {
        // SQLite waits up to this time for readers to end.
        let other = try openSample(
            folder.filePath("store"),
            options: sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
        )
        try database.write { try insert(1...3, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 3)
        // The database's own writer ends idle read transactions immediately.
        try database.write { try insert(4...4, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
        #expect(try database.checkpointIsComplete())
        // Other databases wait for a moment.
        #expect(try database.read { try $0.itemCount() } == 4)
        try other.write { try insert(5...5, into: $0) }
        #expect(try other.checkpointIsComplete())
    }

    @Test func `a read inside a write sees its changes`() throws {
        try database.write { connection in
            try insert(1...3, into: connection)
            #expect(try database.read { try $0.itemCount() } == 3)
            #expect(try database.read { try $0.itemCount() } == 3)
        }
    }

    @Test func `a writer of another database waits no longer than its timeout`() throws {
        let other = try openSample(folder.filePath("store"))
        try database.write { connection in
            try insert(1...1, into: connection)
            let busy = Guarded<DatabaseError?>(nil)
            inThreads(1) { _ in
                let error = databaseError { try other.write { try insert(2...2, into: $0) } }
                busy.withLock { $0 = error }
            }
            #expect(busy.withLock { $0 } == .busy)
            #expect(try other.read { try $0.itemCount() } == 0)
        }
        try other.write { try insert(2...2, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 2)
    }
}

extension Database {
    /// Checkpoints and truncates the log; returns false if a reader uses it.
    fileprivate func checkpointIsComplete() throws -> Bool {
        try writeWithoutTransaction { connection in
            try connection.withStatement("PRAGMA wal_checkpoint(TRUNCATE)") { statement in
                try statement.step() && statement.integer(at: 0) == 0
            }
        }
    }
}
