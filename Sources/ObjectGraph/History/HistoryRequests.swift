public import Foundation

/// A request for transactions in the history of a store.
public struct HistoryFetchRequest: Sendable {
    /// The number of the last transaction that the caller knows: later transactions are fetched. 0 fetches from the
    /// first transaction that the history still has.
    public var after: Int64
    /// The time of the transaction ``after``, if the caller knows it. A store that was replaced by an earlier copy
    /// gives the same numbers to other transactions: the time distinguishes them.
    public var afterTimestamp: Date?
    /// The largest number to fetch; nil for no limit.
    public var through: Int64?
    /// The largest number of transactions; nil for all.
    public var fetchLimit: Int?
    /// Whether the last transactions come first.
    public var isDescending = false
    /// Whether transactions that the store itself has written are skipped.
    public var excludesOwn = false
    /// Whether the changes are read.
    public var includesChanges = true
    /// Whether the values of changed properties are read, if the history records them. Needs ``includesChanges``.
    public var includesValues = true
    /// When the request fails because transactions after ``after`` were deleted.
    package var expiry = Expiry.afterFirstTransaction
    /// Further transactions that the caller knows. The request fails if the history has other transactions in their
    /// places.
    package var known: [PersistentHistoryPosition] = []
    /// The numbers to fetch; nil for all.
    package var numbers: [Int64]?
    /// The times of the transactions to fetch; nil for all.
    package var times: ClosedRange<Date>?
    /// Whether transactions are skipped that have applied the change set of another store.
    package var excludesApplied = false

    /// When a request fails because transactions were deleted.
    package enum Expiry: Sendable {
        /// Never, for a caller that reads the transactions that the history still has.
        case never
        /// If the caller knows a transaction.
        case afterFirstTransaction
        /// Also if the caller knows the position before the first transaction.
        case always
    }

    /// Makes a request.
    public init(after: Int64 = 0, through: Int64? = nil, fetchLimit: Int? = nil) {
        self.after = after
        self.through = through
        self.fetchLimit = fetchLimit
    }
}

/// A request for the extent of a store's history.
public struct HistoryStateRequest: Sendable {
    /// Makes a request.
    public init() {}
}

/// The extent of a store's history.
public struct PersistentHistoryState: Hashable, Sendable {
    /// Whether the store records its transactions.
    public var isRecording: Bool
    /// The number of the last transaction; 0 if there was none.
    public var lastTransaction: Int64
    /// The largest number of a deleted transaction; 0 if none was deleted. A reader whose last known transaction is
    /// earlier may have missed changes.
    public var lastDeletedTransaction: Int64
    /// The time of the last transaction; nil if there was none, or if it is unknown.
    public var lastTimestamp: Date?
    /// The time of the transaction ``lastDeletedTransaction``; nil if none was deleted, or if it is unknown.
    public var lastDeletedTimestamp: Date?

    /// Makes a state.
    public init(
        isRecording: Bool,
        lastTransaction: Int64,
        lastDeletedTransaction: Int64,
        lastTimestamp: Date? = nil,
        lastDeletedTimestamp: Date? = nil
    ) {
        self.isRecording = isRecording
        self.lastTransaction = lastTransaction
        self.lastDeletedTransaction = lastDeletedTransaction
        self.lastTimestamp = lastTimestamp
        self.lastDeletedTimestamp = lastDeletedTimestamp
    }
}

/// A transaction that a reader of a history knows.
package struct PersistentHistoryPosition: Hashable, Sendable {
    /// The number; 0 for the position before the first transaction.
    package var number: Int64
    /// The time of the commit; nil if it is unknown.
    package var timestamp: Date?

    package init(number: Int64, timestamp: Date?) {
        self.number = number
        self.timestamp = timestamp
    }
}

/// A request to delete transactions from the history of a store. The objects stay as they are.
///
/// In a store that exchanges its changes, transactions stay until they are exchanged, see
/// ``PersistentStoreCoordinator/changeSet(ofStore:sizeLimit:)``.
public struct HistoryDeletionRequest: Sendable {
    /// The transactions to delete.
    public enum Selection: Sendable {
        /// Transactions with a number up to the given number.
        case through(Int64)
        /// Transactions with the given numbers.
        case numbers([Int64])
        /// Transactions before a time.
        case before(Date)
    }

    /// The transactions to delete.
    public var selection: Selection

    /// Makes a request.
    public init(_ selection: Selection) {
        self.selection = selection
    }
}

/// A store that records a history of its transactions.
public protocol HistoryStore: IncrementalStore {
    /// Returns transactions of the store's history.
    ///
    /// - Throws: ``PersistentHistoryError``.
    func execute(
        _ request: HistoryFetchRequest,
        with context: RequestContext
    ) throws -> [PersistentHistoryTransaction]

    /// Returns the extent of the store's history.
    func execute(_ request: HistoryStateRequest, with context: RequestContext) throws -> PersistentHistoryState

    /// Deletes transactions from the store's history, and returns their number.
    func execute(_ request: HistoryDeletionRequest, with context: RequestContext) throws -> Int
}
