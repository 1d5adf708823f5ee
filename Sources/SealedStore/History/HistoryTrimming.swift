import EncryptedSQLite
import Foundation
import ObjectGraph
import Synchronization

/// Deletes the transactions beyond the limits of a program's ``HistoryOptions``, from time to time after saves.
final class HistoryTrimming: Sendable {
    /// The number of transactions of this store after which the history is trimmed again.
    static let interval = 256

    /// The options of the program; nil if it gave none.
    let options: HistoryOptions?
    /// The number of transactions since the last trimming. The first one trims.
    private let count = Atomic<Int>(interval)

    init(_ options: HistoryOptions?) {
        self.options = options
    }

    /// Records that the store has written a transaction.
    func noteTransaction() {
        if options?.hasLimits ?? false { count.wrappingAdd(1, ordering: .relaxed) }
    }

    /// Whether the history is to be trimmed now. The next call returns false.
    func takeTurn() -> Bool {
        guard let options, options.hasLimits, count.load(ordering: .relaxed) > Self.interval else { return false }
        return count.exchange(0, ordering: .relaxed) > Self.interval
    }
}

extension OpenStore {
    /// Trims the history after a save, if it is time. A failure is no failure of the save: a later save trims again.
    func trimHistoryIfDue() {
        if historyTrimming.takeTurn() { _ = try? trimHistory() }
    }

    /// Deletes the transactions beyond the limits of the options.
    ///
    /// - Returns: the number of deleted transactions.
    func trimHistory() throws -> Int {
        guard let options = historyTrimming.options, options.hasLimits else { return 0 }
        return try writeTransaction { connection in
            guard let settings = try HistorySettings.read(on: connection) else { return 0 }
            let through = [
                try options.maximumAge.map { try Self.lastTransaction(olderThan: $0, on: connection) },
                try options.maximumCount.map { try Self.lastTransaction(beyond: $0, on: connection) },
                try options.maximumByteCount.map { try Self.lastTransaction(beyondBytes: $0, on: connection) },
            ]
            guard let last = through.compactMap(\.self).max(), last > 0 else { return 0 }
            return try deleteHistory(.through(last), settings, on: connection)
        }
    }

    private static func lastTransaction(olderThan age: TimeInterval, on connection: Connection) throws -> Int64 {
        // From the oldest on: the scan ends at the first transaction that is kept. A time in the future comes from a
        // wrong clock: such a transaction counts as old as the next transaction with a plausible time.
        let sql = """
            SELECT max("_id") FROM "_history" WHERE "_id" > 0 AND "parts" IS NOT NULL AND "timestamp" < ?1 \
            AND "_id" < ifnull((SELECT "_id" FROM "_history" WHERE "_id" > 0 AND "parts" IS NOT NULL \
            AND "timestamp" BETWEEN ?1 AND ?2 ORDER BY "_id" LIMIT 1), ?3)
            """
        let now = Date().timeIntervalSinceReferenceDate
        return try connection.withStatement(sql) { statement in
            try statement.bind(now - age, at: 1)
            try statement.bind(now, at: 2)
            try statement.bind(Int64.max, at: 3)
            return try statement.step() ? statement.integer(at: 0) : 0
        }
    }

    private static func lastTransaction(beyond count: Int, on connection: Connection) throws -> Int64 {
        let sql = """
            SELECT "_id" FROM "_history" WHERE "parts" IS NOT NULL ORDER BY "_id" DESC LIMIT 1 OFFSET ?
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(Int64(max(0, count)), at: 1)
            return try statement.step() ? statement.integer(at: 0) : 0
        }
    }

    /// The size of a row without its texts and changes: the key, the header and the numbers.
    private static let rowOverhead = 40

    private static func lastTransaction(beyondBytes limit: Int, on connection: Connection) throws -> Int64 {
        let sizes = ["changes", "author", "bundle", "process"].map { #"ifnull(octet_length("\#($0)"), 0)"# }
        let sql = """
            SELECT "_id", "parts", \(rowOverhead) + \(sizes.joined(separator: " + ")) FROM "_history" \
            ORDER BY "_id" DESC
            """
        return try connection.withStatement(sql) { statement in
            var size: Int64 = 0
            var transaction: Int64 = 0
            while try statement.step() {
                if !statement.isNull(at: 1) { transaction = statement.integer(at: 0) }
                size += statement.integer(at: 2)
                if size > limit { return transaction }
            }
            return 0
        }
    }
}

extension SealedStore {
    /// Deletes the transactions that exceed the limits of the store's ``HistoryOptions``. Saves do so from time to
    /// time.
    ///
    /// - Returns: the number of deleted transactions.
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    /// - Complexity: O(*n*) in the number of deleted transactions; with a limit of size, in the number of kept
    ///   transactions.
    @discardableResult
    public func trimHistory() throws -> Int { try opened.trimHistory() }
}
