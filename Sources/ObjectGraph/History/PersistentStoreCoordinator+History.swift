public import Foundation

extension PersistentStoreCoordinator {
    /// Returns transactions in the history of a store.
    ///
    /// ```swift
    /// let transactions = try coordinator.history(HistoryFetchRequest(after: known), ofStore: metadata.uuid)
    /// ```
    ///
    /// - Parameters:
    ///   - request: The selection of the transactions; all if it is omitted.
    ///   - uuid: The store; nil for the only store of the coordinator.
    /// - Throws: ``PersistentHistoryError/expired(lastDeleted:)`` if transactions after ``HistoryFetchRequest/after`` were
    ///   deleted, unless that is 0, or if the history has another transaction in its place;
    ///   ``PersistentHistoryError/notRecorded`` if the store records none;
    ///   ``ObjectGraphError/unsupportedRequest(storeType:request:)``; errors of the store.
    public func history(
        _ request: HistoryFetchRequest = HistoryFetchRequest(),
        ofStore uuid: UUID? = nil
    ) throws -> [PersistentHistoryTransaction] {
        try historyStore(uuid).execute(request, with: nil)
    }

    /// Returns the extent of the history of a store.
    public func historyState(ofStore uuid: UUID? = nil) throws -> PersistentHistoryState {
        try historyStore(uuid).execute(HistoryStateRequest(), with: nil)
    }

    /// Deletes transactions from the history of a store.
    ///
    /// - Returns: the number of deleted transactions.
    @discardableResult
    public func deleteHistory(_ request: HistoryDeletionRequest, ofStore uuid: UUID? = nil) throws -> Int {
        try historyStore(uuid).execute(request, with: nil)
    }

    /// The store with an identity; the only one for nil.
    func historyStore(_ uuid: UUID?) throws -> any IncrementalStore {
        let stores = persistentStores.filter { uuid == nil || $0.metadata.uuid == uuid }
        guard let store = stores.first, stores.count == 1 else { throw PersistentHistoryError.noStore }
        return store
    }
}
