/// A problem of a store, with all rows that have it. It contains no stored value.
public struct StoreProblem: Hashable, Sendable {
    /// The kind of a problem.
    public enum Kind: Hashable, Sendable {
        /// Pages of the file cannot be decrypted or differ from the pages that were written.
        /// ``SealedStore/salvage(_:key:to:newKey:model:progress:)`` recovers the content of the other pages.
        case damagedPages
        /// Committed transactions in the log lie behind a damaged part of the log, and are lost.
        case lostTransactions
        /// The log cannot be read: it is damaged from its beginning on, or belongs to another file. The transactions
        /// that it had are lost.
        case unreadableLog
        /// The structure of the file is damaged; SQLite's message.
        case damage(String)
        /// A part of the metadata cannot be read: its name.
        case damagedMetadata(String)
        /// An object of the schema is missing, altered, or was not made by a store: its name.
        case foreignSchema(String)
        /// Rows are of an unknown or abstract entity.
        case unknownEntity
        /// Rows have a key that no object can have: a key that is not positive, or the largest integer.
        case invalidKey
        /// Rows have no version.
        case invalidVersion
        /// The sequence would return keys that are in use.
        case exhaustedSequence
        /// An attribute that is not optional has no value.
        case missingValue
        /// An attribute has a value that its type cannot hold: a number out of its range, or a text or bytes that are
        /// not the stored form of a value.
        case invalidValue
        /// An attribute has lost a large value, which is stored beside the row of its object.
        case lostLargeValue
        /// Large values belong to no object.
        case unusedLargeValues
        /// A property has a value in rows of entities that do not have it.
        case strayValue
        /// The destination of a relationship does not exist, or is of another entity.
        case danglingReference
        /// The owner of pairs of a relationship does not exist, or is of another entity.
        case danglingOwner
        /// The inverse of a relationship's destination does not refer back.
        case inverseMismatch
        /// Members of an ordered relationship share a position, or have a negative one.
        case invalidOrder
        /// A full-text index or an R-tree differs from its table.
        case indexMismatch
        /// Transactions of the history cannot be read. Deleting the history up to them removes them; the objects are
        /// not concerned.
        case damagedHistory
        /// The record of the exchange with other stores cannot be read, or contradicts the history. Removing the
        /// history ends the exchange.
        case damagedExchange
    }

    /// The kind of the problem.
    public let kind: Kind
    /// The name of the entity; nil for a problem of the whole file.
    public let entity: String?
    /// The name of the attribute or relationship, or of the properties of an index with `+` between them; nil for a
    /// problem of whole rows.
    public let property: String?
    /// The number of rows, pages or transactions.
    public let count: Int
    /// The smallest primary key of the objects, or the smallest number of the pages; nil if there is none.
    public let firstKey: Int64?

    init(_ kind: Kind, entity: String? = nil, property: String? = nil, count: Int = 1, firstKey: Int64? = nil) {
        self.kind = kind
        self.entity = entity
        self.property = property
        self.count = count
        self.firstKey = firstKey
    }

    /// Whether ``SealedStore/repair(_:progress:)`` with all options removes problems of the kind.
    public var isRepairable: Bool {
        switch kind {
        case .invalidVersion, .exhaustedSequence, .strayValue, .danglingReference, .danglingOwner, .inverseMismatch,
            .invalidOrder, .indexMismatch, .unusedLargeValues:
            true
        case .damage(let words): Self.isIndexMessage(words)
        case .damagedPages, .lostTransactions, .unreadableLog, .damagedMetadata, .foreignSchema, .unknownEntity,
            .invalidKey, .missingValue, .invalidValue, .lostLargeValue, .damagedHistory, .damagedExchange:
            false
        }
    }

    /// Whether a message of `PRAGMA integrity_check` is about an index that differs from its table (SQLite manual).
    static func isIndexMessage(_ words: String) -> Bool {
        words.contains("missing from index") || words.hasPrefix("wrong # of entries in index")
            || words.contains("values differ from index") || words.hasPrefix("non-unique entry in index")
    }
}

extension StoreProblem: CustomStringConvertible {
    /// The problem and its place, without any value.
    public var description: String {
        let key = firstKey.map { ", the first at \($0)" } ?? ""
        if let place { return "\(place): \(text) (\(count)\(key))" }
        return count > 1 || firstKey != nil ? "\(text) (\(count)\(key))" : text
    }

    /// The entity, and the property behind a point.
    private var place: String? { entity.map { entity in property.map { "\(entity).\($0)" } ?? entity } }

    private var text: String {
        switch kind {
        case .damagedPages: "pages are damaged"
        case .lostTransactions: "committed transactions lie behind a damaged part of the log"
        case .unreadableLog: "the log cannot be read, and its transactions are lost"
        case .damage(let words): "the file is damaged: \(words)"
        case .damagedMetadata(let part): "the store's metadata is damaged: \(part) cannot be read"
        case .foreignSchema(let object):
            "the schema is not that of the store: '\(object)' is missing, altered or foreign"
        case .unknownEntity: "rows of an unknown or abstract entity"
        case .invalidKey: "numbers that cannot be primary keys"
        case .invalidVersion: "rows without a version"
        case .exhaustedSequence: "primary keys that the sequence would return again"
        case .missingValue: "no value of a required property"
        case .invalidValue: "values that the type of the attribute cannot hold"
        case .lostLargeValue: "large values that are lost"
        case .unusedLargeValues: "large values that belong to no object"
        case .strayValue: "a value in rows of an entity that does not have the property"
        case .danglingReference: "references to missing objects"
        case .danglingOwner: "members of missing objects"
        case .inverseMismatch: "references whose inverse does not refer back"
        case .invalidOrder: "members without a unique position"
        case .indexMismatch: "an index that differs from its table"
        case .damagedHistory: "transactions of the history that cannot be read"
        case .damagedExchange: "the record of the exchange with other stores cannot be read"
        }
    }
}
