import EncryptedSQLite
import ObjectGraph

/// The table `_history`.
///
/// A transaction is a row with the changes in a blob, see ``HistoryEncoder``. Changes that are too many for one row are
/// in further rows before it, which have only the blob: ``parts`` is their number. A save thus writes to the end of one
/// table. The row with the largest key is never deleted but emptied, so that no number is used twice.
enum HistoryTable {
    /// The name of the table.
    static let name = "_history"

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE "_history" ("_id" INTEGER PRIMARY KEY NOT NULL, "parts" INTEGER, "timestamp" REAL, \
        "author" TEXT, "bundle" TEXT, "process" TEXT, "store" INTEGER, "changes" BLOB) STRICT
        """

    /// The keys of rows are smaller: the changes of a row are numbered from 2²⁰ times its key on.
    private static let numberLimit: Int64 = 1 << 43

    static let table = SystemTable(name: name, creation: creation, ownsName: true)

    private static let part: SQLText = #"INSERT INTO "_history" ("changes") VALUES (?)"#
    private static let transaction: SQLText = """
        INSERT INTO "_history" ("parts", "timestamp", "author", "bundle", "process", "store", "changes") \
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """

    /// A list of numbers for `json_each`.
    static func list(_ numbers: [Int64]) -> String { "[\(numbers.map(String.init).joined(separator: ","))]" }

    /// The origin of a transaction.
    struct Origin {
        let timestamp: Double
        let author: String?
        let bundle: String
        let process: String
        /// The open store that writes the transaction.
        let store: Int64
    }

    /// Writes a transaction, and returns its number.
    ///
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` if rows that the store has not written give the
    ///   transaction a number that no reader expects.
    static func insert(_ parts: [[UInt8]], _ origin: Origin, on connection: Connection) throws -> Int64 {
        for bytes in parts.dropLast() {
            try connection.withStatement(part) { statement in
                try bytes.withUnsafeBytes { bytes in
                    try statement.bind(staticBlob: bytes, at: 1)
                    try statement.run()
                }
            }
        }
        return try connection.withStatement(transaction) { statement in
            try statement.bind(Int64(parts.count - 1), at: 1)
            try statement.bind(origin.timestamp, at: 2)
            if let author = origin.author { try statement.bind(text: author, at: 3) }
            try statement.bind(text: origin.bundle, at: 4)
            try statement.bind(text: origin.process, at: 5)
            try statement.bind(origin.store, at: 6)
            try (parts.last ?? []).withUnsafeBytes { bytes in
                try statement.bind(staticBlob: bytes, at: 7)
                try statement.run()
            }
            guard connection.changes == 1 else { throw SealedStoreError.notWritten(entity: name) }
            let number = connection.lastInsertedKey
            guard (max(1, Int64(parts.count))..<numberLimit).contains(number) else { throw HistoryReader.damage }
            return number
        }
    }

    /// Uses the next number for a row without a transaction, and returns it.
    static func skipNumber(on connection: Connection) throws -> Int64 {
        let number = try lastKey(on: connection) + 1
        try insertEmptyRow(number, on: connection)
        return number
    }

    /// Writes a row without a transaction.
    static func insertEmptyRow(_ number: Int64, on connection: Connection) throws {
        try connection.withStatement(#"INSERT INTO "_history" ("_id") VALUES (?)"#) { statement in
            try statement.bind(number, at: 1)
            try statement.run()
        }
    }

    /// The largest key; 0 for an empty table, and for a table with invalid keys only.
    ///
    /// - Throws: ``SealedStoreError/damagedRow(entity:property:)`` if no key can follow.
    static func lastKey(on connection: Connection) throws -> Int64 {
        let sql = #"SELECT max("_id") FROM "_history""#
        let last = try connection.withStatement(sql) { try $0.step() ? $0.integer(at: 0) : 0 }
        guard last < .max else { throw HistoryReader.damage }
        return max(0, last)
    }

    /// The number of transactions after a number.
    static func count(after number: Int64, on connection: Connection) throws -> Int {
        let sql = #"SELECT count(*) FROM "_history" WHERE "_id" > ? AND "parts" IS NOT NULL"#
        return try connection.withStatement(sql) { statement in
            try statement.bind(number, at: 1)
            return try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// Deletes rows with keys in ranges. The last row of the table is emptied.
    static func delete(_ ranges: [ClosedRange<Int64>], on connection: Connection) throws {
        let last = try lastKey(on: connection)
        for range in ranges {
            try connection.withStatement(#"DELETE FROM "_history" WHERE "_id" BETWEEN ?1 AND ?2 AND "_id" < ?3"#) {
                try $0.bind(range.lowerBound, at: 1)
                try $0.bind(range.upperBound, at: 2)
                try $0.bind(last, at: 3)
                try $0.run()
            }
            guard range.contains(last) else { continue }
            let sql = """
                UPDATE "_history" SET "parts" = NULL, "timestamp" = NULL, "author" = NULL, "bundle" = NULL, \
                "process" = NULL, "store" = NULL, "changes" = NULL WHERE "_id" = ?
                """
            try connection.withStatement(sql) {
                try $0.bind(last, at: 1)
                try $0.run()
            }
        }
    }
}
