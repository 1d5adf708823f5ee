import EncryptedSQLite
import Foundation
import Testing

/// Values survive a round trip through statements.
@Suite struct ValueTests {
    let database: Database

    init() throws {
        database = try Database(.memory, key: nil) { try $0.execute("CREATE TABLE value (value ANY) STRICT") }
    }

    /// Stores the value that `bind` binds, and passes the stored value to `read`.
    private func roundTrip<R>(
        _ bind: (borrowing Statement) throws -> Void,
        _ read: (borrowing Statement) throws -> R
    ) throws -> R {
        try database.write { connection in
            try connection.execute("DELETE FROM value")
            try connection.withStatement("INSERT INTO value VALUES (?)") { statement in
                try bind(statement)
                try statement.run()
            }
            return try connection.withStatement("SELECT value FROM value") { statement in
                let hasRow = try statement.step()
                #expect(hasRow)
                return try read(statement)
            }
        }
    }

    @Test(arguments: [0, 1, -1, .min, .max] as [Int64]) func `integers`(_ value: Int64) throws {
        let stored = try roundTrip({ try $0.bind(value, at: 1) }, { ($0.columnType(0), $0.integer(at: 0)) })
        #expect(stored == (.integer, value))
    }

    @Test(arguments: [0, -0.0, 0.1, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity] as [Double])
    func `floating-point numbers, bit for bit`(_ value: Double) throws {
        let stored = try roundTrip({ try $0.bind(value, at: 1) }, { ($0.columnType(0), $0.real(at: 0)) })
        #expect(stored.0 == .real)
        // SQLite stores an integral number as an integer and loses the sign of zero.
        #expect(stored.1.bitPattern == value.bitPattern || value == 0 && stored.1 == 0)
    }

    @Test func `NULL`() throws {
        let stored = try roundTrip(
            { try $0.bindNull(at: 1) },
            { ($0.columnType(0), $0.isNull(at: 0), $0.text(at: 0).count) }
        )
        #expect(stored == (.null, true, 0))
    }

    @Test(arguments: ["", "a", "a\0b", "it's 15 bytes ..", "Grüße, 世界 🌍", String(repeating: "long", count: 100_000)])
    func `texts`(_ value: String) throws {
        let read: (borrowing Statement) -> (ColumnType, String, Bool) = {
            ($0.columnType(0), $0.string(at: 0), $0.isNull(at: 0))
        }
        let bytes = Array(value.utf8)
        #expect(try roundTrip({ try $0.bind(text: value, at: 1) }, read) == (.text, value, false))
        let copied = try bytes.withUnsafeBytes { bytes in try roundTrip({ try $0.bind(text: bytes, at: 1) }, read) }
        #expect(copied == (.text, value, false))
        let fixed = try bytes.withUnsafeBytes { bytes in try roundTrip({ try $0.bind(staticText: bytes, at: 1) }, read)
        }
        #expect(fixed == (.text, value, false))
    }

    @Test(arguments: [0, 1, 4000, 300_000]) func `blobs`(_ count: Int) throws {
        let value = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let read: (borrowing Statement) -> (ColumnType, Data, Bool) = {
            ($0.columnType(0), Data($0.blob(at: 0)), $0.isNull(at: 0))
        }
        let copied = try value.withUnsafeBytes { bytes in try roundTrip({ try $0.bind(blob: bytes, at: 1) }, read) }
        #expect(copied == (.blob, value, false))
        let fixed = try value.withUnsafeBytes { bytes in try roundTrip({ try $0.bind(staticBlob: bytes, at: 1) }, read)
        }
        #expect(fixed == (.blob, value, false))
    }

    @Test func `buffers without an address are empty values, not NULL`() throws {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(try roundTrip({ try $0.bind(text: nothing, at: 1) }, { $0.columnType(0) }) == .text)
        #expect(try roundTrip({ try $0.bind(staticText: nothing, at: 1) }, { $0.columnType(0) }) == .text)
        #expect(try roundTrip({ try $0.bind(blob: nothing, at: 1) }, { $0.columnType(0) }) == .blob)
        #expect(try roundTrip({ try $0.bind(staticBlob: nothing, at: 1) }, { $0.columnType(0) }) == .blob)
    }

    @Test func `a parameter that does not exist`() {
        let error = databaseError { try roundTrip({ try $0.bind(1 as Int64, at: 2) }, { _ in }) }
        guard case .sqlite(code: 25, extendedCode: _, message: _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a statement has a column for each result`() throws {
        let count = try database.read { connection in
            try connection.withStatement("SELECT 1 AS one, 2 AS two") { $0.columnCount }
        }
        #expect(count == 2)
    }
}
