public import Foundation

/// The recording of a store's history.
///
/// A store records its transactions from the first opening with these options on. That is a property of the file: all
/// programs that write the file record, whatever their own options, until ``SealedStore/removeHistory()``.
///
/// ```swift
/// options[SealedStore.historyOption] = HistoryOptions(maximumAge: 30 * 24 * 3600)
/// ```
public struct HistoryOptions: Hashable, Sendable {
    /// Whether the history keeps the values before and after each change. Undo over several launches, an audit and the
    /// replication to another store need them. All programs record values once one has asked for it.
    public var recordsValues: Bool
    /// Whether each object gets an identifier that is unique across files, see ``SealedStore/globalIdentifier(of:)``.
    /// Existing objects get an identifier when a program first asks for this.
    public var identifiesObjects: Bool
    /// The number of seconds after which a transaction is deleted; nil for no limit.
    public var maximumAge: TimeInterval?
    /// The number of transactions that are kept; nil for no limit.
    public var maximumCount: Int?
    /// The size in bytes of the transactions that are kept, with their authors and changes; nil for no limit.
    public var maximumByteCount: Int?

    /// Makes options.
    ///
    /// The limits belong to the program: its saves delete transactions beyond the limits from time to time, oldest
    /// first. Readers that have not seen a deleted transaction get an error. Transactions that a store has not
    /// exchanged yet stay, see `PersistentStoreCoordinator.changeSet(ofStore:sizeLimit:)`.
    public init(
        recordsValues: Bool = false,
        identifiesObjects: Bool = false,
        maximumAge: TimeInterval? = nil,
        maximumCount: Int? = nil,
        maximumByteCount: Int? = nil
    ) {
        self.recordsValues = recordsValues
        self.identifiesObjects = identifiesObjects
        self.maximumAge = maximumAge
        self.maximumCount = maximumCount
        self.maximumByteCount = maximumByteCount
    }

    /// Whether some transactions are deleted after saves.
    var hasLimits: Bool { maximumAge != nil || maximumCount != nil || maximumByteCount != nil }
}
