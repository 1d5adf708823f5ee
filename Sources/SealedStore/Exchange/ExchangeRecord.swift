import EncryptedSQLite
import Foundation
import ObjectGraph

/// The record of a store's exchange of changes with other stores, the row 1 of the table `_exchange`.
///
/// It is written in the same transaction as the changes that it describes. It is not in the table of metadata, whose
/// content every opening compares with known content.
///
/// The record contains the latest change sets that were made for the next position. Each earlier change set has a
/// separate row behind the record, so that the text of the record stays short, however many there are.
struct ExchangeRecord: Codable, Hashable, Sendable {
    /// The identity of the file in the exchange.
    var replica: UUID
    /// The sequence of the last change set that the store contains; 0 if it contains none.
    var position: Int64 = 0
    /// The number of the last transaction whose changes the common order contains, except for the marks with that
    /// number.
    private(set) var acknowledged: Int64
    /// The authors of earlier transactions whose changes are among the marks with that number; nil for none.
    private(set) var authors: [String]?
    /// The latest change sets that were made for the next position.
    private(set) var outstanding: [Outstanding] = []

    /// A change set that may be appended to the common order.
    struct Outstanding: Codable, Hashable, Sendable {
        /// The identifier of the change set.
        var id: UUID
        /// The number of the last transaction that it contains.
        var covered: Int64
        /// The ``ObjectGraph/ChangeSet/digest()`` of its content; nil if an earlier version of the package has made it.
        var digest: String?
        /// Whether the change set contains a part of the changes only; nil for all.
        var isPart: Bool?
    }

    /// The number of change sets in the record. Earlier change sets are in separate rows.
    private static let outstandingLimit = 32

    /// The name of the table.
    static let name = "_exchange"

    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE "_exchange" ("_id" INTEGER PRIMARY KEY NOT NULL, "state" TEXT NOT NULL) STRICT
        """

    static let table = SystemTable(name: name, creation: creation)

    /// Reads the record; nil before the first exchange.
    ///
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)``; ``SealedStoreError/foreignSchema(object:)`` if one of the two
    ///   tables of an exchange is missing.
    static func read(on connection: Connection) throws -> ExchangeRecord? {
        let hasMarks = try ExchangeMarks.table.exists(on: connection)
        guard try table.exists(on: connection) == hasMarks else {
            throw SealedStoreError.foreignSchema(object: hasMarks ? name : ExchangeMarks.name)
        }
        guard hasMarks else { return nil }
        let text = try storedText(on: connection)
        guard let record = try? JSONDecoder().decode(ExchangeRecord.self, from: Data(text.utf8)),
            (0..<Int64.max).contains(record.position), record.acknowledged >= 0
        else { throw SealedStoreError.damagedMetadata(name) }
        return record
    }

    /// The text of the record, which each commit of an exchange changes; nil before the first exchange.
    static func text(on connection: Connection) throws -> String? {
        try table.exists(on: connection) ? storedText(on: connection) : nil
    }

    private static func storedText(on connection: Connection) throws -> String {
        try connection.withStatement(#"SELECT "state" FROM "_exchange" WHERE "_id" = 1"#) { statement in
            try statement.step() ? statement.string(at: 0) : ""
        }
    }

    /// Reads the record, or begins the exchange: all objects of the store are changes that the common order does not
    /// contain.
    ///
    /// - Throws: `ExchangeError.noIdentifiers`; the errors of ``read(on:)``.
    static func begin(_ store: OpenStore, on connection: Connection) throws -> ExchangeRecord {
        guard let settings = try HistorySettings.read(on: connection), settings.identifiesObjects else {
            throw ExchangeError.noIdentifiers
        }
        if let record = try read(on: connection) { return record }
        try connection.execute(creation)
        try connection.execute(ExchangeMarks.creation)
        let last = max(try HistoryTable.lastKey(on: connection), settings.lastDeleted)
        var identifiers = GlobalIdentifierSequence()
        let record = ExchangeRecord(replica: identifiers.next(), acknowledged: last)
        try record.write(on: connection)
        try ExchangeMarks.insertAllObjects(of: store, last, on: connection)
        return record
    }

    /// Removes the tables of an exchange, if there are any.
    static func remove(on connection: Connection) throws {
        // Also if the record cannot be read: removing the tables is the remedy.
        for table in ExchangeFeature.tables where try table.exists(on: connection) {
            try connection.execute("DROP TABLE \(SQL.quoted(table.name))")
        }
    }

    /// Writes the record.
    func write(on connection: Connection) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(self), as: UTF8.self)
        let sql = #"INSERT OR REPLACE INTO "_exchange" ("_id", "state") VALUES (1, ?)"#
        try connection.withStatement(sql) { statement in
            try statement.bind(text: text, at: 1)
            try statement.run()
        }
    }

    // MARK: Change sets for the next position

    /// Records a change set that was made for the next position.
    mutating func note(_ changeSet: Outstanding, on connection: Connection) throws {
        outstanding.removeAll { $0.id == changeSet.id }
        outstanding.append(changeSet)
        guard outstanding.count > Self.outstandingLimit else { return }
        let text = String(decoding: try JSONEncoder().encode(outstanding.removeFirst()), as: UTF8.self)
        try connection.withStatement(#"INSERT INTO "_exchange" ("state") VALUES (?)"#) { statement in
            try statement.bind(text: text, at: 1)
            try statement.run()
        }
    }

    /// The change sets in separate rows, which were made before the change sets in the record.
    ///
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)``.
    static func earlierOutstanding(on connection: Connection) throws -> [Outstanding] {
        let sql = #"SELECT "state" FROM "_exchange" WHERE "_id" > 1 ORDER BY "_id""#
        return try connection.withStatement(sql) { statement in
            var found: [Outstanding] = []
            while try statement.step() {
                let text = Data(statement.string(at: 0).utf8)
                guard let changeSet = try? JSONDecoder().decode(Outstanding.self, from: text) else {
                    throw SealedStoreError.damagedMetadata(name)
                }
                found.append(changeSet)
            }
            return found
        }
    }

    /// The record of a change set that the store has made for the next position; nil for a change set of another store.
    ///
    /// An identifier proves nothing: a reader of a change set can give its identifier to other content. For this store
    /// and all others, such content is a change set of another store. The other stores apply it, so this store must
    /// apply it, too, to stay equal; its own changes remain pending, and are sent with its next change set.
    func outstanding(_ changeSet: ChangeSet, on connection: Connection) throws -> Outstanding? {
        let known =
            try outstanding.first { $0.id == changeSet.id }
            ?? Self.earlierOutstanding(on: connection).first { $0.id == changeSet.id }
        guard let known, let digest = known.digest else { return known }
        return try changeSet.digest() == digest ? known : nil
    }

    /// Advances to the position of a change set that the store contains now. No change set is made for it any more.
    mutating func advance(to sequence: Int64, on connection: Connection) throws {
        position = sequence
        outstanding = []
        try connection.execute(#"DELETE FROM "_exchange" WHERE "_id" > 1"#)
    }

    /// Records that the common order contains the changes of the transactions up to a number.
    mutating func acknowledge(through number: Int64, on connection: Connection) throws {
        acknowledged = max(acknowledged, number)
        authors = nil
        try ExchangeMarks.delete(through: number, on: connection)
    }

    /// Records the pending changes that are left after a change set.
    ///
    /// - Parameters:
    ///   - number: The last transaction of the store.
    ///   - isTransaction: Whether that transaction has applied the change set.
    mutating func note(
        _ differences: ExchangeDifferences,
        _ pending: UnexchangedChanges,
        through number: Int64,
        isTransaction: Bool,
        on connection: Connection
    ) throws {
        if differences.areNone {
            try acknowledge(through: number, on: connection)
        } else if differences.isSnapshotDue {
            let remaining = differences.encodedSnapshot()
            try replaceDifferences(through: number, remaining, authors: pending.authors, on: connection)
        } else {
            try ExchangeMarks.insert(number, isTransaction: isTransaction, differences.encoded(), on: connection)
        }
    }

    /// Records the remaining differences from the common order after a transaction, in place of the transactions and
    /// marks up to it.
    private mutating func replaceDifferences(
        through number: Int64,
        _ differences: [[UInt8]],
        authors: [String],
        on connection: Connection
    ) throws {
        try acknowledge(through: number, on: connection)
        self.authors = authors.isEmpty ? nil : authors
        try ExchangeMarks.insert(number, isTransaction: false, differences, on: connection)
    }

    /// The last transaction that may be deleted from the history: the exchange still reads the changes of later
    /// transactions. Nil if all may be deleted.
    static func lastExchanged(on connection: Connection) throws -> Int64? { try read(on: connection)?.acknowledged }
}
