import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// The read transaction in which an opening examines a file stays open for the first read, where it does no harm.
@Suite struct OpeningTransactionTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    private func open(verify: (Connection) throws -> Void = { _ in }) throws -> Database {
        try Database(.file(path), key: rawKey(), options: sampleOptions(), create: { _ in }, verify: verify)
    }

    private func keepsTransaction(_ database: Database) throws -> Bool {
        var keeps = false
        try #require(database.readers).connections.forEachConnection { if $0?.keptTransaction != nil { keeps = true } }
        return keeps
    }

    /// Empties the log, and returns whether a reader prevented that.
    private func emptyLog(_ database: Database) throws -> Bool {
        try database.writeWithoutTransaction { connection in
            try connection.withStatement("PRAGMA wal_checkpoint(TRUNCATE)") { statement in
                try statement.step() ? statement.integer(at: 0) != 0 : true
            }
        }
    }

    @Test func `the first read continues the transaction of the opening`() throws {
        try makeSample(path)
        // A timer ends an unused transaction, and may be faster on a busy machine, but not each time.
        let continues = try (0..<100).contains { _ in
            var examined = 0
            let database = try open { examined = $0.stateNumber }
            return try database.read { $0.stateNumber } == examined
        }
        #expect(continues)
    }

    // A                       | B
    // opens the file          |
    //                         | opens the file, commits
    // reads: sees the commit  |
    @Test func `the first read sees a commit after the opening`() throws {
        try makeSample(path)
        let (first, second) = (try open(), try open())
        try second.write { try insert(100...101, into: $0) }
        #expect(try first.read { try $0.itemCount() } == 5)
    }

    @Test func `a database that was only opened does not keep others from emptying the log`() throws {
        try makeSample(path)
        let (first, second) = (try open(), try open())
        try second.write { try insert(100...101, into: $0) }
        #expect(try !emptyLog(second))
        withExtendedLifetime(first) {}
    }

    @Test(.timeLimit(.minutes(10)))
    func `the transaction of an opening ends without use`() throws {
        try makeSample(path)
        let database = try open()
        while try keepsTransaction(database) { sched_yield() }
        #expect(try database.read { try $0.itemCount() } == 3)
    }

    // A                                  | B
    // takes a snapshot                   |
    //                                    | commits 1,200 pages, which cannot be written back
    //                                    | opens the file again: keeps no transaction
    @Test func `an opening beside a long log keeps no transaction`() throws {
        try makeSample(path, rows: 2000)
        let (reader, writer) = (try open(), try open())
        let snapshot = try #require(try reader.snapshot())
        for round in 0..<20 {
            try writer.write { try $0.execute("UPDATE item SET name = '\(round)' || substr(name, 3)") }
        }
        let opened = try open()
        #expect(try !keepsTransaction(opened))
        #expect(try opened.read { try $0.itemCount() } == 2000)
        withExtendedLifetime(snapshot) {}
    }

    @Test func `a file without a log gets one, and keeps its content`() throws {
        try makeSample(path)
        var handle: OpaquePointer?
        try #require(sqlite3_open(path, &handle) == SQLITE_OK)
        let key = "x'" + (1...32).map { String(format: "%02x", $0) }.joined() + "'"
        sqlite3_key_v2(handle, "main", key, Int32(key.utf8.count))
        try #require(sqlite3_exec(handle, "PRAGMA journal_mode = DELETE", nil, nil, nil) == SQLITE_OK)
        sqlite3_close(handle)
        let database = try open()
        #expect(try database.read { try $0.string("PRAGMA journal_mode") } == "wal")
        #expect(try database.read { try $0.itemCount() } == 3)
        try database.write { try insert(100...100, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
    }

    @Test func `the first connection of a database cannot write, and its settings are fixed`() throws {
        let database = try openSample(path)
        let isRefused = try database.read { connection in
            databaseError { try connection.execute("DELETE FROM item") } != nil
        }
        #expect(isRefused)
        let isFixed = try database.read { connection in
            databaseError { _ = try connection.string("PRAGMA query_only = OFF") } != nil
        }
        #expect(isFixed)
    }
}
