/// The objects and values that a salvage recovered from a damaged store, and the objects and values that were lost. It
/// contains no stored value.
public struct SalvageReport: Hashable, Sendable {
    /// The objects of one entity.
    public struct EntityReport: Hashable, Sendable {
        /// The name of the entity.
        public let entity: String
        /// The number of objects of exactly this entity in the new store.
        public internal(set) var recoveredCount = 0
        /// The number of objects that were lost, including objects of subentities; reported for entities without a
        /// superentity. It is exact if an index of the table is intact, and otherwise estimated from the rows on the
        /// readable pages.
        public internal(set) var lostCount = 0
        /// Whether ``lostCount`` is exact.
        public internal(set) var isLostCountExact = true
        /// The number of optional values that were lost and are nil in the new store, by attribute.
        public internal(set) var lostValues: [String: Int] = [:]
        /// The number of references and members that were cut because their objects were lost, by relationship.
        public internal(set) var cutReferences: [String: Int] = [:]

        init(_ entity: String) { self.entity = entity }
    }

    /// The entities of the model, in its order.
    public internal(set) var entities: [EntityReport]
    /// The number of pages of the damaged file.
    public internal(set) var pageCount = 0
    /// The number of pages that did not verify.
    public internal(set) var damagedPageCount = 0
    /// The number of committed transactions in the log that lie behind a damaged part of the log, and are lost.
    public internal(set) var lostTransactionCount = 0
    /// Whether the log beside the file was ignored: none of its pages verifies, because it belongs to another file, in
    /// whose place this one was put, or it is damaged from its beginning on.
    public internal(set) var ignoresLog = false
    /// The number of pages of which only an older version could be read: the newest version is in the log, and does not
    /// verify. The objects on them may have older values, or be missing.
    public internal(set) var outdatedPageCount = 0
    /// The number of objects whose global identifiers were lost, see ``HistoryOptions/identifiesObjects``. They have
    /// new identifiers, unless the record of the history was lost, too.
    public internal(set) var lostIdentifierCount = 0
    /// The check of the new store.
    public internal(set) var check = StoreReport(problems: [])

    /// Whether every object and every value was certainly recovered: no loss was found, and no loss had to be
    /// estimated. The transactions of the history are never recovered.
    public var isComplete: Bool {
        lostTransactionCount == 0 && lostIdentifierCount == 0 && !ignoresLog && outdatedPageCount == 0
            && entities.allSatisfy { entity in
                entity.lostCount == 0 && entity.isLostCountExact && entity.lostValues.isEmpty
                    && entity.cutReferences.isEmpty
            }
    }
}

/// The reason for which nothing can be recovered from a file.
public enum SalvageError: Error, Hashable, Sendable {
    /// The first page is damaged. It holds the places of all tables, and of the free pages, on which the rows of
    /// deleted objects remain.
    case firstPageDamaged
    /// The file is a database of another kind: it has neither the metadata of a store, nor the number of its format in
    /// the first page.
    case notAStore
    /// The part of the metadata with the model is missing, or cannot be read. Salvage again with the model of the
    /// program.
    case modelLost
}

extension SalvageError: CustomStringConvertible {
    /// The reason and the remedy.
    public var description: String {
        switch self {
        case .firstPageDamaged:
            "the first page of the file is damaged, which lists its tables and free pages: nothing can be recovered"
        case .notAStore: "the file is a database, but not a store: its tables are not the tables of a store"
        case .modelLost: "the model in the file cannot be read or is missing: salvage it with the model of the program"
        }
    }
}
