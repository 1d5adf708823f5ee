import EncryptedSQLite
import Foundation
import ObjectGraph

extension OpenStore {
    // MARK: Recording

    /// Begins to record the history, or to record values, if the options of the store require it and the file does not.
    func beginHistory() throws {
        guard !description.isReadOnly, let options = historyTrimming.options else { return }
        let recording = try database.read { try states.state(on: $0).schema.conditions.history }
        let isComplete = recording.map { known in
            (known.recordsValues || !options.recordsValues) && (known.identifiesObjects || !options.identifiesObjects)
        }
        guard !(isComplete ?? false) else { return }
        try writeTransaction { connection in
            // Another program may have begun to record since the file was opened.
            var settings = try HistorySettings.read(on: connection)
            if settings == nil {
                try connection.execute(HistoryTable.creation)
                settings = try HistorySettings(after: HistorySettings.takeEnd(on: connection), on: connection)
            }
            guard var settings else { return }
            settings.recordsValues = settings.recordsValues || options.recordsValues
            if options.identifiesObjects, !settings.identifiesObjects {
                settings.identifiesObjects = true
                try connection.execute(GlobalIdentifierTable.creation)
                let own = schema.model.entities.filter { description.entityNames?.contains($0.name) ?? true }
                try GlobalIdentifierTable.fill(schema, own, on: connection)
            }
            try settings.write(on: connection)
            try StoreMetadataTable.announceChange(on: connection)
        }
    }

    /// Ends the recording, and deletes the history.
    func removeHistory() throws {
        try writeTransaction { connection in
            guard let settings = try HistorySettings.read(on: connection) else { return }
            try ExchangeRecord.remove(on: connection)
            if settings.identifiesObjects { try connection.execute(#"DROP TABLE "_identity""#) }
            // One number is skipped: a reader of the last transaction may miss changes before a later history.
            try HistorySettings.noteEnd(HistoryTable.lastKey(on: connection) + 1, on: connection)
            try connection.execute(#"DROP TABLE "_history""#)
            try HistorySettings.remove(on: connection)
            try StoreMetadataTable.announceChange(on: connection)
        }
    }

    // MARK: Reading

    /// The extent of the history.
    func historyState() throws -> PersistentHistoryState {
        try database.read { connection in
            _ = try states.state(on: connection)
            guard let settings = try HistorySettings.read(on: connection) else {
                return PersistentHistoryState(isRecording: false, lastTransaction: 0, lastDeletedTransaction: 0)
            }
            let sql = """
                SELECT "_id", "timestamp" FROM "_history" WHERE "parts" IS NOT NULL ORDER BY "_id" DESC LIMIT 1
                """
            let last = try connection.withStatement(sql) { statement in
                try statement.step() ? (number: statement.integer(at: 0), timestamp: statement.real(at: 1)) : nil
            }
            var state = PersistentHistoryState(
                isRecording: true,
                lastTransaction: settings.lastDeleted,
                lastDeletedTransaction: settings.lastDeleted,
                lastTimestamp: settings.lastDeletedTimestamp.map(Date.init(timeIntervalSinceReferenceDate:)),
                lastDeletedTimestamp: settings.lastDeletedTimestamp.map(Date.init(timeIntervalSinceReferenceDate:))
            )
            if let last, last.number > settings.lastDeleted {
                state.lastTransaction = last.number
                state.lastTimestamp = Date(timeIntervalSinceReferenceDate: last.timestamp)
            }
            return state
        }
    }

    /// Returns transactions.
    ///
    /// - Throws: `PersistentHistoryError`; ``SealedStoreError/damagedRow(entity:property:)``.
    func history(_ request: HistoryFetchRequest) throws -> [PersistentHistoryTransaction] {
        try database.read { connection in
            _ = try states.state(on: connection)
            guard var settings = try HistorySettings.read(on: connection) else {
                throw PersistentHistoryError.notRecorded
            }
            try requireKnownTransactions(of: request, settings, on: connection)
            if let mapping = mappingFromFile() {
                settings.renamings.append(HistorySettings.Renaming(mapping, through: .max))
            }
            return try transactions(request, settings, on: connection)
        }
    }

    /// Checks that the history has, or has deleted, the transactions that the caller knows, and all later ones.
    ///
    /// - Throws: `PersistentHistoryError.expired(lastDeleted:)`.
    private func requireKnownTransactions(
        of request: HistoryFetchRequest,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws {
        let expired = PersistentHistoryError.expired(lastDeleted: settings.lastDeleted)
        let isChecked =
            switch request.expiry {
            case .never: false
            case .afterFirstTransaction: request.after > 0
            case .always: true
            }
        if isChecked {
            // A number that the history does not have yet belongs to a later state: the file is an earlier copy, whose
            // next transactions get numbers that the reader knows already.
            let last = max(try HistoryTable.lastKey(on: connection), settings.lastDeleted)
            guard (settings.lastDeleted...last).contains(max(request.after, 0)) else { throw expired }
        }
        var known = request.known
        if let timestamp = request.afterTimestamp { known.append(.init(number: request.after, timestamp: timestamp)) }
        for position in known where try !isOfThisLine(position, settings, on: connection) { throw expired }
    }

    /// Whether a transaction is, or may have been, a transaction of this history, and not of another copy of the file
    /// that has given the same number to another transaction.
    private func isOfThisLine(
        _ position: PersistentHistoryPosition,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws -> Bool {
        guard let timestamp = position.timestamp?.timeIntervalSinceReferenceDate, position.number > 0 else {
            return true
        }
        guard position.number > settings.lastDeleted else {
            guard position.number == settings.lastDeleted, let own = settings.lastDeletedTimestamp else { return true }
            return own == timestamp
        }
        let sql = #"SELECT 1 FROM "_history" WHERE "_id" = ? AND "parts" IS NOT NULL AND "timestamp" = ?"#
        return try connection.withStatement(sql) { statement in
            try statement.bind(position.number, at: 1)
            try statement.bind(timestamp, at: 2)
            return try statement.step()
        }
    }

    /// Returns transactions of a history with the given settings.
    func transactions(
        _ request: HistoryFetchRequest,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws -> [PersistentHistoryTransaction] {
        let changes = request.includesChanges ? #""changes""# : "NULL"
        let others = request.excludesOwn ? #" AND "store" IS NOT ?4"# : ""
        let made = request.excludesApplied ? " AND \(ExchangeMarks.isNotApplied)" : ""
        let times = request.times == nil ? "" : #" AND "timestamp" BETWEEN ?5 AND ?6"#
        let numbers = request.numbers == nil ? "" : #" AND "_id" IN (SELECT value FROM json_each(?7))"#
        let sql = """
            SELECT "_id", "parts", "timestamp", "author", "bundle", "process", "store", \(changes), \
            length("changes") FROM "_history" \
            WHERE "_id" > ?1 AND "_id" <= ?2 AND "parts" IS NOT NULL\(others)\(made)\(times)\(numbers) \
            ORDER BY "_id"\(request.isDescending ? " DESC" : "") LIMIT ?3
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(max(request.after, 0), at: 1)
            try statement.bind(request.through ?? .max, at: 2)
            try statement.bind(Int64(request.fetchLimit.map { max($0, 0) } ?? -1), at: 3)
            if request.excludesOwn { try statement.bind(historyOrigin, at: 4) }
            if let times = request.times {
                try statement.bind(times.lowerBound.timeIntervalSinceReferenceDate, at: 5)
                try statement.bind(times.upperBound.timeIntervalSinceReferenceDate, at: 6)
            }
            if let numbers = request.numbers { try statement.bind(text: HistoryTable.list(numbers), at: 7) }
            var transactions: [PersistentHistoryTransaction] = []
            let first = max(request.after, 0)
            var walk = KeyWalk(request.isDescending ? .descending(before: .max) : .ascending(after: first))
            while try statement.step() {
                let number = statement.integer(at: 0)
                guard number > first else { throw statement.damage() }
                try walk.visit(number, of: statement)
                let parts = statement.integer(at: 1)
                var groups: [PersistentHistoryTransaction.Group] = []
                if request.includesChanges {
                    if parts > 0 { groups += try self.parts(parts, before: number, request, settings, on: connection) }
                    var decoder = HistoryDecoder(
                        statement.blob(at: 7),
                        row: number,
                        model: model,
                        renamings: settings.renamings,
                        includesValues: request.includesValues
                    )
                    groups += try decoder.groups()
                }
                var transaction = PersistentHistoryTransaction(
                    number: number,
                    storeUUID: uuid,
                    timestamp: Date(timeIntervalSinceReferenceDate: statement.real(at: 2)),
                    author: statement.isNull(at: 3) ? nil : statement.string(at: 3),
                    bundleIdentifier: statement.string(at: 4),
                    processIdentifier: statement.string(at: 5),
                    isOwn: statement.integer(at: 6) == historyOrigin,
                    groups: groups
                )
                let rest = parts.multipliedReportingOverflow(by: Int64(HistoryEncoder.rowSize))
                transaction.byteCount = Int(
                    clamping: statement.integer(at: 8) &+ (rest.overflow ? 0 : rest.partialValue)
                )
                transactions.append(transaction)
            }
            return transactions
        }
    }

    /// The changes in the rows before the row of a transaction.
    private func parts(
        _ count: Int64,
        before number: Int64,
        _ request: HistoryFetchRequest,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws -> [PersistentHistoryTransaction.Group] {
        guard count < number else { throw HistoryReader.damage }
        let sql = #"SELECT "_id", "parts", "changes" FROM "_history" WHERE "_id" BETWEEN ?1 AND ?2 ORDER BY "_id""#
        return try connection.withStatement(sql) { statement in
            try statement.bind(number - count, at: 1)
            try statement.bind(number - 1, at: 2)
            var groups: [PersistentHistoryTransaction.Group] = []
            var found: Int64 = 0
            var walk = KeyWalk(.ascending(after: number - count - 1))
            while try statement.step() {
                let row = statement.integer(at: 0)
                try walk.visit(row, of: statement)
                guard statement.isNull(at: 1) else { throw HistoryReader.damage }
                var decoder = HistoryDecoder(
                    statement.blob(at: 2),
                    row: row,
                    model: model,
                    renamings: settings.renamings,
                    includesValues: request.includesValues
                )
                groups += try decoder.groups()
                found += 1
            }
            guard found == count else { throw HistoryReader.damage }
            return groups
        }
    }

    // MARK: Deleting

    /// Deletes transactions.
    ///
    /// - Returns: their number.
    func deleteHistory(_ request: HistoryDeletionRequest) throws -> Int {
        try writeTransaction { connection in
            guard let settings = try HistorySettings.read(on: connection) else {
                throw PersistentHistoryError.notRecorded
            }
            return try deleteHistory(request.selection, settings, on: connection)
        }
    }

    func deleteHistory(
        _ selection: HistoryDeletionRequest.Selection,
        _ settings: HistorySettings,
        on connection: Connection
    ) throws -> Int {
        let condition: String
        let parameter: Value
        switch selection {
        case .through(let number): (condition, parameter) = (#""_id" <= ?"#, .integer(number))
        case .before(let date):
            (condition, parameter) = (#""timestamp" < ?"#, .real(date.timeIntervalSinceReferenceDate))
        case .numbers(let numbers):
            (condition, parameter) = (
                #""_id" IN (SELECT value FROM json_each(?))"#, .text(HistoryTable.list(numbers))
            )
        }
        // Transactions that were not exchanged stay in the history.
        let limit = try ExchangeRecord.lastExchanged(on: connection) ?? .max
        let sql = """
            SELECT "_id" - "parts", "_id", "timestamp" FROM "_history" \
            WHERE "parts" IS NOT NULL AND \(condition) AND "_id" <= \(limit) ORDER BY "_id"
            """
        var ranges: [ClosedRange<Int64>] = []
        var count = 0
        var timestamp: Double?
        try connection.withStatement(sql) { statement in
            try statement.bind([parameter])
            var walk = KeyWalk(.ascending(after: .min))
            while try statement.step() {
                let (first, last) = (statement.integer(at: 0), statement.integer(at: 1))
                try walk.visit(last, of: statement)
                guard first > 0, first <= last else { throw HistoryReader.damage }
                count += 1
                timestamp = statement.real(at: 2)
                if let previous = ranges.last, previous.upperBound + 1 >= first, previous.lowerBound <= first {
                    ranges[ranges.count - 1] = previous.lowerBound...last
                } else {
                    ranges.append(first...last)
                }
            }
        }
        guard let last = ranges.last?.upperBound else { return 0 }
        try HistoryTable.delete(ranges, on: connection)
        var settings = settings
        settings.noteDeletion(through: last, timestamp: timestamp)
        settings.renamings.removeAll { renaming in
            // Only transactions in front of a renaming have the old names. Differences from the common order may be
            // recorded under the number of the limit.
            if case .through(let number) = selection {
                renaming.through <= number && (renaming.through < limit || limit == .max)
            } else {
                false
            }
        }
        try settings.write(on: connection)
        return count
    }
}

extension HistorySettings {
    /// The key of the last number of a removed history in the table of metadata.
    static let endKey = "historyEnd"
    /// The recorded last number is smaller. As many numbers again remain for the later history.
    static let endLimit: Int64 = 1 << 42

    /// The record of a new history whose transactions get numbers after a given number.
    init(after number: Int64, on connection: Connection) throws {
        self.init()
        guard number > 0 else { return }
        noteDeletion(through: number, timestamp: nil)
        try HistoryTable.insertEmptyRow(number, on: connection)
    }

    /// Records the last number of a history that is removed, so that a later history continues behind it.
    static func noteEnd(_ number: Int64, on connection: Connection) throws {
        try MetadataRows(connection: connection).set(endKey, String(min(max(number, 0), endLimit - 1)))
    }

    /// Records that objects have changed without a transaction: readers of the last transaction get an error, which
    /// shows them that they may have missed changes.
    mutating func noteUnrecordedChanges(on connection: Connection) throws {
        noteDeletion(through: try HistoryTable.skipNumber(on: connection), timestamp: nil)
        try write(on: connection)
    }

    /// Returns the last number of an earlier history, and removes its record; 0 if there was none.
    static func takeEnd(on connection: Connection) throws -> Int64 {
        guard let text = try MetadataRows(connection: connection).remove(endKey) else { return 0 }
        guard let number = Int64(text), (0..<endLimit).contains(number) else {
            throw SealedStoreError.damagedMetadata(endKey)
        }
        return number
    }
}

extension SealedStore {
    /// Ends the recording of the store's history, in all programs that have the file open, and deletes it, together
    /// with the global identifiers of objects. Readers that know a transaction of it get an error, also if a later
    /// opening begins to record again.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly`; `DatabaseError`.
    /// - Complexity: O(*n*) in the size of the history.
    public func removeHistory() throws { try opened.removeHistory() }
}
