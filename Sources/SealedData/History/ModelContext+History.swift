import ObjectGraph

extension ModelContext {
    /// Returns transactions in the history of the container's stores, in the order of their commits.
    ///
    /// An encrypted store has a history if ``ModelConfiguration/history`` was set when it was opened, now or earlier.
    ///
    /// - Throws: ``SwiftDataError/historyTokenExpired`` if the predicate requires a token after a constant, and
    ///   transactions after that constant have been deleted: the caller may have missed changes;
    ///   ``SwiftDataError/invalidTransactionFetchRequest`` if no store has a history of such transactions; errors of the
    ///   predicate and of the stores.
    /// - Complexity: O(*n*) in the number of transactions after the token that the predicate requires.
    public func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T] {
        if let descriptor = descriptor as? HistoryDescriptor<DefaultHistoryTransaction> {
            let transactions = try StoreHistory(graph.coordinator, stores.schema).fetch(descriptor)
            return transactions as? [T] ?? []
        }
        let histories = try stores.dataStores.compactMap { try $0.fetchHistory(descriptor) }
        guard !histories.isEmpty else { throw SwiftDataError.invalidTransactionFetchRequest }
        return histories.flatMap(\.self)
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
        var hasHistory = false
        for store in stores.dataStores where try store.deleteHistory(descriptor) { hasHistory = true }
        guard hasHistory else { throw SwiftDataError.invalidTransactionFetchRequest }
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

extension DefaultStore: HistoryProviding {
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
