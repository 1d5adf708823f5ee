import EncryptedSQLite
import Foundation
import ObjectGraph

/// Continues the history of a damaged store in the new store, which has the same UUID.
///
/// Its transactions are not recovered. No number of a transaction is used again: readers of the old history get an
/// error, which shows them that they may have missed changes. Objects keep their global identifiers.
struct SalvagedHistory {
    /// The first page of the table of transactions; nil if the schema has no entry for it.
    let rootPage: Int?
    /// Whether all leaves of the table of transactions were read.
    let areLeavesKnown: Bool
    private let source: DamagedStore
    private let file: DamagedFile
    /// The record of the history; nil if the store has none, or if it is lost.
    private let settings: HistorySettings?
    /// A number behind the numbers of all transactions; nil if the store has certainly never had a history.
    private let end: Int64?

    /// Reads the table of transactions.
    ///
    /// - Parameter didRead: Called now and then. An error ends the work.
    init(_ source: DamagedStore, _ file: DamagedFile, _ didRead: () throws -> Void) throws {
        self.source = source
        self.file = file
        let texts = source.metadata.compactMapValues(\.string)
        settings = HistorySettings.text(in: texts).flatMap(HistorySettings.decoded)
        rootPage = source.table(named: HistoryTable.name)?.rootPage
        let isRecorded = source.metadata[HistorySettings.key] != nil
        let recordedEnd = texts[HistorySettings.endKey].flatMap { Int64($0) }
        var last = max(settings?.lastDeleted ?? 0, recordedEnd ?? 0)
        // The removal of a history leaves only the record of its end.
        var isLastKnown =
            source.isMetadataComplete && !isRecorded
            && (recordedEnd != nil || source.metadata[HistorySettings.endKey] == nil)
        var losses = DamagedFile.Losses()
        if let rootPage {
            var count = 0
            losses = try file.readTable(at: rootPage) { key, _ in
                last = max(last, key)
                count += 1
                if count % 256 == 0 { try didRead() }
            }
            // The last row is never deleted.
            isLastKnown = losses.unreadableRowCount == 0 && !losses.ranges.contains { $0.through == .max }
        }
        areLeavesKnown = losses.ranges.isEmpty
        let hasEnd = source.metadata[HistorySettings.endKey] != nil
        if rootPage == nil, !isRecorded, !hasEnd, source.isMetadataComplete {
            end = nil
        } else {
            // Lost transactions may have had larger numbers.
            let isExact = isLastKnown && !file.mayHaveLostCommits
            end = Self.number(behind: last, isExact: isExact)
        }
    }

    /// A number behind a known number: the next number if the known number is the last, otherwise the next multiple of
    /// 2³².
    private static func number(behind last: Int64, isExact: Bool) -> Int64 {
        let last = min(last, HistorySettings.endLimit - 1)
        let next = isExact ? last + 1 : ((last >> 32) + 1) << 32
        return min(next, HistorySettings.endLimit - 1)
    }

    /// Writes the history of the new store, which has all of its objects. If the record of the history is lost, the
    /// history begins when a program asks for it.
    ///
    /// - Returns: The number of objects whose global identifiers are lost; nil if all are.
    func write(_ schema: StoreSchema, on connection: Connection) throws -> Int? {
        guard let end else { return 0 }
        guard let settings else {
            try HistorySettings.noteEnd(end, on: connection)
            return source.table(named: GlobalIdentifierTable.name) == nil ? 0 : nil
        }
        try connection.execute(HistoryTable.creation)
        var new = try HistorySettings(after: end, on: connection)
        new.recordsValues = settings.recordsValues
        new.identifiesObjects = settings.identifiesObjects
        try new.write(on: connection)
        guard settings.identifiesObjects else { return 0 }
        try connection.execute(GlobalIdentifierTable.creation)
        try copyIdentifiers(schema, on: connection)
        return try GlobalIdentifierTable.fill(schema, schema.model.entities, on: connection)
    }

    /// Copies the global identifiers, also the identifiers of deleted objects. If the numbers of entities are lost, the
    /// identifiers are, too.
    private func copyIdentifiers(_ schema: StoreSchema, on connection: Connection) throws {
        guard source.hasKnownNames, let table = source.table(named: GlobalIdentifierTable.name) else { return }
        let roots = Set(schema.model.entities.filter(\.isRoot).map(schema.names.code))
        func insert(_ identifier: StoredValue, _ entity: StoredValue, _ key: StoredValue) throws {
            guard case .blob(let bytes) = identifier, bytes.count == 16, case .integer(let code) = entity,
                roots.contains(code), case .integer(let key) = key, key.isPrimaryKey
            else { return }
            let sql = #"INSERT OR IGNORE INTO "_identity" ("uuid", "entity", "key") VALUES (?, ?, ?)"#
            try connection.withStatement(sql) { statement in
                try statement.bind([.blob(Data(bytes)), .integer(code), .integer(key)])
                try statement.run()
            }
        }
        let losses = try file.readIndex(at: table.rootPage) { values in
            if values.count == 3 { try insert(values[0], values[1], values[2]) }
        }
        guard !losses.areNone else { return }
        // The index of the places has all three values, too.
        for page in source.automaticIndexes(ofTable: GlobalIdentifierTable.name) {
            _ = try file.readIndex(at: page) { values in
                if values.count == 3 { try insert(values[2], values[0], values[1]) }
            }
        }
    }
}
