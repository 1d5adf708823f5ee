public import Foundation

/// A selection of transactions in the history of the stores of a container.
///
/// ```swift
/// var descriptor = HistoryDescriptor<DefaultHistoryTransaction>()
/// descriptor.predicate = #Predicate { $0.token > token && $0.author != "widget" }
/// ```
///
/// If the whole predicate requires a comparison of the token with a constant, the store selects the transactions by it;
/// in a container with one encrypted store, also by comparisons of the time. The rest of the predicate is evaluated in
/// memory, a page of transactions at a time.
///
/// `@unchecked Sendable`: all properties are values. The values of type `SortDescriptor` contain key paths, which are
/// immutable, though not all of them are marked `Sendable`.
public struct HistoryDescriptor<Transaction: HistoryTransaction>: @unchecked Sendable {
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
