import Foundation

/// Writes and commits the changes of a save in its stores.
///
/// A single store does both in one call. Several stores are nested: each store writes, calls the next one, and then
/// commits. So the last store commits first, and an earlier error is thrown through all of them, which roll back.
/// Stores that save in one step are last, since they cannot roll back.
///
/// Stores are locked in the order of their identities, which is the same for all contexts and processes, so that two
/// saves never wait for each other.
final class SaveWrite {
    /// The stores that have committed. No access calls other code: dynamic exclusivity checks would only cost time.
    @exclusivity(unchecked) private(set) var committed: [SavePreparation.StoreBatch] = []
    /// The objects whose rows the stores have changed although the requests do not contain them.
    @exclusivity(unchecked) private(set) var cleared: [BatchChanges.Keys] = []
    /// The transactions of the save in the histories of the stores, by the identities of the stores.
    @exclusivity(unchecked) private(set) var historyPositions: [UUID: PersistentHistoryPosition] = [:]

    private let batches: [SavePreparation.StoreBatch]
    private let stores: StoreRouter

    init(_ preparation: borrowing SavePreparation, to stores: StoreRouter) {
        let batches = preparation.batches
        self.batches = batches.contains { $0.request.isEmpty } ? batches.filter { !$0.request.isEmpty } : batches
        self.stores = stores
    }

    /// Writes and commits.
    ///
    /// - Throws: errors of a store. ``committed`` contains the stores that are saved nevertheless.
    func run() throws {
        guard batches.count > 1 else {
            for batch in batches { try write(batch) }
            return
        }
        var targets: [(batch: SavePreparation.StoreBatch, attached: PersistentStoreCoordinator.AttachedStore)] = []
        for batch in batches { targets.append((batch, try stores.coordinator.store(for: batch.entity))) }
        targets.sort { left, right in
            let isReversible = left.attached.store is any TwoPhaseStore
            if isReversible != (right.attached.store is any TwoPhaseStore) { return isReversible }
            return left.attached.identity.lockingOrder < right.attached.identity.lockingOrder
        }
        try write(targets.map { ($0.batch, $0.attached.store) }[...])
    }

    /// Writes and commits the changes of the only store, or makes them changes of the parent.
    private func write(_ batch: SavePreparation.StoreBatch) throws {
        if let store = batch.store {
            note(try store.execute(batch.request, with: stores.requestContext), of: store)
        } else if let parent = stores.parent {
            try stores.save(batch.request, to: parent)
        }
    }

    private func write(_ targets: ArraySlice<(batch: SavePreparation.StoreBatch, store: any IncrementalStore)>) throws {
        guard let (batch, store) = targets.first else { return }
        let context = stores.requestContext
        if let store = store as? any TwoPhaseStore {
            let result = try store.save(batch.request, with: context) { try write(targets.dropFirst()) }
            note(result, of: store)
        } else {
            try write(targets.dropFirst())
            note(try store.execute(batch.request, with: context), of: store)
        }
        committed.append(batch)
    }

    /// The number of a batch's transaction in the history of its store; nil if the store records none.
    func transaction(of batch: SavePreparation.StoreBatch) -> Int64? {
        if historyPositions.isEmpty { return nil }
        return batch.store.flatMap { historyPositions[$0.metadata.uuid]?.number }
    }

    private func note(_ result: SaveResult, of store: any IncrementalStore) {
        if !result.cleared.isEmpty { cleared += result.cleared }
        if let position = result.historyPosition { historyPositions[store.metadata.uuid] = position }
    }

    /// The error for a save that an error of a store has left incomplete.
    func outcome(after error: any Error) throws -> ObjectGraphError.IncompleteSave {
        func identities(_ batches: [SavePreparation.StoreBatch]) throws -> [StoreIdentity] {
            try batches.map { try stores.coordinator.store(for: $0.entity).identity }
        }
        return ObjectGraphError.IncompleteSave(
            savedStores: try identities(committed),
            unsavedStores: try identities(batches.filter { batch in !committed.contains { $0 === batch } }),
            cause: (error as? SaveConflict).map { ObjectGraphError($0) } ?? error
        )
    }
}
