import EncryptedSQLite
import Foundation
import ObjectGraph

/// The record of a store's history in the table of metadata.
struct HistorySettings: Codable, Hashable, Sendable {
    /// Whether changes are recorded with their values.
    var recordsValues = false
    /// Whether objects get global identifiers.
    var identifiesObjects = false
    /// The largest number of a deleted transaction; 0 if none was deleted.
    private(set) var lastDeleted: Int64 = 0
    /// The time of that transaction; nil if none was deleted, or if it is unknown.
    private(set) var lastDeletedTimestamp: Double?
    /// The renamings of migrations, oldest first.
    var renamings: [Renaming] = []

    /// The new names that a migration gave to entities and properties.
    struct Renaming: Codable, Hashable, Sendable {
        /// The number of the last transaction with the old names.
        var through: Int64
        /// The new names of entities by the old names; empty for removed entities.
        var entities: [String: String]
        /// The new names of properties by the old names of their entities and the old names; empty for removed
        /// properties.
        var properties: [String: [String: String]]
    }

    /// Records that transactions were deleted.
    ///
    /// - Parameters:
    ///   - number: The largest number of a deleted transaction.
    ///   - timestamp: The time of that transaction; nil if it is unknown.
    mutating func noteDeletion(through number: Int64, timestamp: Double?) {
        guard number > lastDeleted else { return }
        lastDeleted = number
        lastDeletedTimestamp = timestamp
    }

    /// The part on which statements depend.
    var recording: HistoryRecording {
        HistoryRecording(recordsValues: recordsValues, identifiesObjects: identifiesObjects)
    }

    /// The key of the record in the table of metadata.
    static let key = "history"

    /// Reads the record; nil if the store has no history.
    ///
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)``; ``SealedStoreError/foreignSchema(object:)`` if there is a
    ///   record without the table of the history, or the table without a record.
    static func read(on connection: Connection) throws -> HistorySettings? {
        try parse(text(on: connection), on: connection)
    }

    /// The text of the record; nil if the store has no history.
    static func text(on connection: Connection) throws -> String? {
        try MetadataRows(connection: connection).value(for: key)
    }

    /// Reads the record from a value of the table of metadata.
    static func parse(_ text: String?, on connection: Connection) throws -> HistorySettings? {
        let hasIdentities = try GlobalIdentifierTable.table.exists(on: connection)
        guard try (text != nil) == HistoryTable.table.exists(on: connection) else {
            throw SealedStoreError.foreignSchema(object: HistoryTable.name)
        }
        guard let text else {
            guard !hasIdentities else { throw SealedStoreError.foreignSchema(object: GlobalIdentifierTable.name) }
            return nil
        }
        guard let settings = decoded(text) else { throw SealedStoreError.damagedMetadata(key) }
        guard settings.identifiesObjects == hasIdentities else {
            throw SealedStoreError.foreignSchema(object: GlobalIdentifierTable.name)
        }
        return settings
    }

    /// Decodes the text of the record; nil for another text.
    static func decoded(_ text: String) -> HistorySettings? {
        guard let settings = try? JSONDecoder().decode(HistorySettings.self, from: Data(text.utf8)),
            settings.lastDeleted >= 0
        else { return nil }
        return settings
    }

    /// The record among the values of the table of metadata.
    static func text(in values: [String: String]) -> String? { values[key] }

    /// Writes the record.
    func write(on connection: Connection) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(self), as: UTF8.self)
        try MetadataRows(connection: connection).set(Self.key, text)
    }

    /// Removes the record.
    static func remove(on connection: Connection) throws {
        try MetadataRows(connection: connection).remove(key)
    }
}

/// The manner in which a store records its history.
struct HistoryRecording: Hashable, Sendable {
    /// Whether changes are recorded with their values.
    let recordsValues: Bool
    /// Whether objects get global identifiers.
    let identifiesObjects: Bool
}
