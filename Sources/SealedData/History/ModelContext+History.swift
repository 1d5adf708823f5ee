import Foundation
import ObjectGraph

extension ModelContext {
    /// Returns transactions in the history of the container's stores, in the order of their commits.
    ///
    /// An encrypted store has a history if ``ModelConfiguration/history`` was set when it was opened, now or earlier.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if the predicate requires a token at or after a constant, and
    ///   such transactions have been deleted, so that the caller may have missed changes; also if the history has
    ///   another transaction in the place of the constant's transaction, because the file was replaced by an earlier
    ///   copy; ``SwiftDataError/invalidTransactionFetchRequest`` if no store has a history of such transactions; errors
    ///   of the predicate and of the stores.
    /// - Complexity: O(*n*) in the number of transactions between the tokens that the predicate requires. The changes
    ///   are read of transactions that the predicate selects, or whose changes it refers to.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        if let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            let transactions = try StoreHistory(graph.coordinator, stores.schema).fetch(descriptor)
            return transactions as? [T] ?? []
        }
        let histories = try stores.dataStores.compactMap { try $0.fetchHistory(descriptor) }
        guard !histories.isEmpty else { throw SwiftDataError.invalidTransactionFetchRequest }
        return Self.joined(histories, descriptor).map(\.transaction)
    }

    /// The transactions of several stores in the order of a descriptor, or by time, with the positions of their stores.
    private static func joined<T: HistoryTransaction>(
        _ histories: [[T]],
        _ descriptor: HistoryDescriptor<T>
    ) -> [(store: Int, transaction: T)] {
        var joined: [(store: Int, transaction: T)] = []
        for (store, history) in histories.enumerated() { joined += history.map { (store, $0) } }
        guard histories.count > 1 else { return joined }
        joined.sort { left, right in
            if descriptor.sortBy.isEmpty { return left.transaction.timestamp < right.transaction.timestamp }
            let orders = descriptor.sortBy.lazy.map { $0.compare(left.transaction, right.transaction) }
            return orders.first { $0 != .orderedSame } == .orderedAscending
        }
        return descriptor.fetchLimit == 0 ? joined : Array(joined.prefix(Int(clamping: descriptor.fetchLimit)))
    }

    /// Deletes transactions from the history of the container's stores. The models stay as they are. Readers that have
    /// not seen a deleted transaction get ``SwiftDataError/historyTokenExpired``.
    ///
    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if no store has a history of such transactions; errors
    ///   of the predicate and of the stores.
    public func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws {
        if let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            return try StoreHistory(graph.coordinator, stores.schema).delete(descriptor)
        }
        guard descriptor.fetchLimit > 0 else {
            var hasHistory = false
            for store in stores.dataStores where try store.deleteHistory(descriptor) { hasHistory = true }
            guard hasHistory else { throw SwiftDataError.invalidTransactionFetchRequest }
            return
        }
        let histories = try stores.dataStores.compactMap { store in
            try store.fetchHistory(descriptor).map { (store: store, transactions: $0) }
        }
        guard !histories.isEmpty else { throw SwiftDataError.invalidTransactionFetchRequest }
        // The first transactions of all stores together are the first transactions of each store.
        let selected = Dictionary(grouping: Self.joined(histories.map(\.transactions), descriptor), by: \.store)
        for (store, transactions) in selected.sorted(by: { $0.key < $1.key }) {
            var own = descriptor
            own.fetchLimit = UInt64(transactions.count)
            _ = try histories[store].store.deleteHistory(own)
        }
    }
}

extension SerialDataStoreConnection {
    func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]? {
        func fetch<Providing: HistoryProviding>(_ store: Providing) throws -> [T]? {
            guard let descriptor = descriptor as? HistoryDescriptor<Providing.HistoryType> else { return nil }
            return try store.fetchHistory(descriptor) as? [T]
        }
        return try withHistory { try fetch($0) } ?? nil
    }

    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool {
        func delete<Providing: HistoryProviding>(_ store: Providing) throws -> Bool {
            guard let descriptor = descriptor as? HistoryDescriptor<Providing.HistoryType> else { return false }
            try store.deleteHistory(descriptor)
            return true
        }
        return try withHistory { try delete($0) } ?? false
    }
}

extension SerialDataStoreConnection {
    func historyNews(
        after token: (any Sendable)?,
        _ isRelevant: (any HistoryTransaction) -> Bool
    ) throws -> HistoryNews? {
        func news<Providing: HistoryProviding>(_ store: Providing) throws -> HistoryNews {
            var descriptor = HistoryDescriptor<Providing.HistoryType>()
            let known = token as? Providing.HistoryType.TokenType
            if let known { descriptor.predicate = #Predicate { $0.token > known } }
            let transactions = try store.fetchHistory(descriptor)
            return HistoryNews(
                token: transactions.map(\.token).max() ?? known,
                isRelevant: transactions.contains(where: isRelevant)
            )
        }
        return try withHistory { try news($0) }
    }
}

extension DefaultStore {
    /// The type of the transactions.
    public typealias HistoryType = DefaultHistoryTransaction
    /// The type of positions in the history.
    public typealias TokenType = DefaultHistoryToken

    /// Returns transactions of the store.
    ///
    /// - Throws: as ``ModelContext/fetchHistory(_:)``.
    public func fetchHistory(
        _ descriptor: HistoryDescriptor<DefaultHistoryTransaction>
    ) throws -> [DefaultHistoryTransaction] {
        try StoreHistory(coordinator, schema).fetch(descriptor)
    }

    /// Deletes transactions from the history of the store.
    ///
    /// - Throws: as ``ModelContext/deleteHistory(_:)``.
    public func deleteHistory(_ descriptor: HistoryDescriptor<DefaultHistoryTransaction>) throws {
        try StoreHistory(coordinator, schema).delete(descriptor)
    }
}
