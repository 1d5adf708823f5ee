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
    /// - Throws: ``PersistentHistoryError/expired(lastDeleted:)`` if transactions after ``HistoryFetchRequest/after``
    ///   were deleted, unless `after` is 0, or if the history has another transaction in its place;
    ///   ``PersistentHistoryError/notRecorded`` if the store records none;
    ///   ``ObjectGraphError/unsupportedRequest(storeType:request:)``; errors of the store.
    public func history(
        _ request: HistoryFetchRequest = HistoryFetchRequest(),
        ofStore uuid: UUID? = nil
    ) throws -> [PersistentHistoryTransaction] {
        try historyStore(uuid, for: HistoryFetchRequest.self).execute(request, with: RequestContext())
    }

    /// Returns the extent of the history of a store; without transactions if stores of its type record none.
    public func historyState(ofStore uuid: UUID? = nil) throws -> PersistentHistoryState {
        guard let store = try store(withIdentity: uuid) as? any HistoryStore else {
            return PersistentHistoryState(isRecording: false, lastTransaction: 0, lastDeletedTransaction: 0)
        }
        return try store.execute(HistoryStateRequest(), with: RequestContext())
    }

    /// Deletes transactions from the history of a store.
    ///
    /// - Returns: the number of deleted transactions.
    @discardableResult
    public func deleteHistory(_ request: HistoryDeletionRequest, ofStore uuid: UUID? = nil) throws -> Int {
        try historyStore(uuid, for: HistoryDeletionRequest.self).execute(request, with: RequestContext())
    }

    /// The store with an identity, or the only store for nil, with the capability of a history.
    private func historyStore(_ uuid: UUID?, for request: Any.Type) throws -> any HistoryStore {
        try store(withIdentity: uuid).with((any HistoryStore).self, for: request)
    }

    /// The store with an identity; the only store for nil.
    func store(withIdentity uuid: UUID?) throws -> any IncrementalStore {
        let stores = persistentStores.filter { uuid == nil || $0.metadata.uuid == uuid }
        guard let store = stores.first, stores.count == 1 else { throw PersistentHistoryError.noStore }
        return store
    }
}
