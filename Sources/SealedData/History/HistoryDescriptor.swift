public import Foundation

/// A selection of transactions in the history of the stores of a container.
///
/// ```swift
/// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
/// descriptor.predicate = #Predicate { $0.token > token && $0.author != "widget" }
/// ```
///
/// A comparison of the token with a constant, which the whole predicate requires, selects the transactions in the
/// store. The rest of the predicate is evaluated in memory, a page of transactions at a time.
public struct HistoryDescriptor<Transaction: HistoryTransaction>: @unchecked Sendable {
    // Sound because the parts are values; a `SortDescriptor` is only not declared as sendable for some types.

    /// The predicate; nil selects all transactions.
    public var predicate: Predicate<Transaction>?
    /// The order; empty for the order of the commits.
    public var sortBy: [SortDescriptor<Transaction>]
    /// The largest number of transactions, the first ones in the order; 0 for no limit.
    public var fetchLimit: UInt64 = 0

    /// Makes a selection.
    public init(predicate: Predicate<Transaction>? = nil, sortBy: [SortDescriptor<Transaction>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }
}

/// A store with a history of its transactions.
public protocol HistoryProviding: DataStore {
    /// The type of the transactions.
    associatedtype HistoryType: HistoryTransaction

    /// The type of the transactions.
    static var historyType: HistoryType.Type { get }

    /// Returns transactions.
    func fetchHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws -> [HistoryType]

    /// Deletes transactions from the history.
    func deleteHistory(_ descriptor: HistoryDescriptor<HistoryType>) throws
}

extension HistoryProviding {
    /// The type of the transactions.
    public static var historyType: HistoryType.Type { HistoryType.self }
}
