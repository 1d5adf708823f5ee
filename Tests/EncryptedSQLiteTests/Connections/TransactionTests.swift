import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@Suite struct TransactionTests {
    struct Refusal: Error {}

    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"))
    }

    @Test func `what a write does is there when it returns`() throws {
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

    @Test func `a write inside a write is undone alone`() throws {
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

    @Test func `when SQLite rolls back on its own, the rest of the write does not run`() throws {
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

    @Test func `when SQLite rolls back on its own, the write does not seem to succeed`() throws {
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

    @Test func `a read sees what another database of the same file has committed`() throws {
        let other = try openSample(folder.filePath("store"))
        for count in 1...20 {
            try other.write { try insert(count...count, into: $0) }
            #expect(try database.read { try $0.itemCount() } == Int64(count))
            #expect(try database.read { try $0.itemCount() } == Int64(count))
        }
    }

    @Test func `reads that are over are in the way of no checkpoint`() throws {
        // SQLite waits for as long, if need be, until nobody reads.
        let other = try openSample(
            folder.filePath("store"),
            options: sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
        )
        try database.write { try insert(1...3, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 3)
        // The own writer ends them at once.
        try database.write { try insert(4...4, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
        #expect(try database.checkpointIsComplete())
        // Others have to wait for a moment.
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
            #expect(databaseError { try other.write { try insert(2...2, into: $0) } } == .busy)
            #expect(try other.read { try $0.itemCount() } == 0)
        }
        try other.write { try insert(2...2, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 2)
    }
}

extension Database {
    /// Writes the log back and empties it; false where somebody reads from it.
    fileprivate func checkpointIsComplete() throws -> Bool {
        try writeWithoutTransaction { connection in
            try connection.withStatement("PRAGMA wal_checkpoint(TRUNCATE)") { statement in
                try statement.step() && statement.integer(at: 0) == 0
            }
        }
    }
}
