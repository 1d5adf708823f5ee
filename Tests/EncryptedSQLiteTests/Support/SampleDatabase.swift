import EncryptedSQLite
import Foundation
import Testing
import TestSupport

/// A raw key without a derivation: bytes counting up from `first`.
func rawKey(_ first: UInt8 = 1) throws -> EncryptionKey {
    try .raw((0..<32).map { first &+ $0 })
}

/// Options with the identifying numbers of the samples.
func sampleOptions(
    _ change: (inout Database.Options) -> Void = { _ in }
) -> Database.Options {
    var options = Database.Options(applicationID: 0x5EA1, newestUserVersion: 1, busyTimeoutMilliseconds: 0)
    change(&options)
    return options
}

/// Opens or creates a database with one table `item` of an ID and a text.
func openSample(
    _ path: String,
    key: EncryptionKey? = nil,
    options: Database.Options = sampleOptions()
) throws -> Database {
    let key = try key ?? rawKey()
    return try Database(.file(path), key: key, options: options) { connection in
        try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
    }
}

/// Creates a file with `count` rows of about 100 bytes, and closes it.
func makeSample(_ path: String, key: EncryptionKey? = nil, rows count: Int = 3) throws {
    let database = try openSample(path, key: key)
    try database.write { try insert(1...count, into: $0) }
    try database.close()
}

/// Inserts items with the given IDs.
func insert(_ identifiers: ClosedRange<Int>, into connection: Connection) throws {
    try connection.withStatement("INSERT INTO item VALUES (?, ?)") { statement in
        for identifier in identifiers {
            try statement.bind(Int64(identifier), at: 1)
            try statement.bind(text: String(repeating: "item \(identifier) ", count: 12), at: 2)
            try statement.run()
        }
    }
}

extension Connection {
    /// The number of items.
    func itemCount() throws -> Int64? { try integer("SELECT count(*) FROM item") }
}

/// The ``DatabaseError`` that a body throws.
func databaseError<R>(
    _ body: () throws -> R,
    sourceLocation: SourceLocation = #_sourceLocation
) -> DatabaseError? {
    do {
        _ = try body()
        Issue.record("No error was thrown.", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error as? DatabaseError
    }
}
