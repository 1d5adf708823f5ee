import EncryptedSQLite
import Foundation
import Testing
import TestSupport

@Suite struct MemoryDatabaseTests {
    let database: Database

    init() throws {
        database = try Database(.memory, key: nil, options: sampleOptions()) { connection in
            try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
        }
    }

    @Test func `a database in memory needs no key`() throws {
        try database.write { try insert(1...3, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 3)
        #expect(database.statistics.keyDerivations == 0)
    }

    @Test func `each database in memory is separate`() throws {
        try database.write { try insert(1...3, into: $0) }
        let other = try Database(.memory, key: nil, options: sampleOptions()) { connection in
            try connection.execute("CREATE TABLE item (name TEXT)")
        }
        #expect(try other.read { try $0.itemCount() } == 0)
    }

    @Test func `reads and writes nest`() throws {
        try database.read { _ in
            try database.read { _ in
                try database.write { try insert(1...2, into: $0) }
                #expect(try database.read { try $0.itemCount() } == 2)
            }
        }
    }

    @Test func `threads take turns`() throws {
        let database = database
        inThreads(8) { number in
            do {
                try database.write { try insert(number * 10 + 1...number * 10 + 10, into: $0) }
                _ = try database.read { try $0.itemCount() }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try database.read { try $0.itemCount() } == 80)
    }

    @Test func `attaching a file is refused`() {
        #expect(databaseError { try database.write { try $0.execute("ATTACH 'x' AS y") } } == .notAuthorized)
    }
}
