/// Has the stores of a save write and commit its changes.
///
/// A single store does both at once. Several stores are nested: each one writes, has the next one do the same, and commits
/// only then. So the last one commits first, and an error before that is thrown through all of them, which take everything
/// back. Stores that save in one step come last, since what they have done cannot be taken back.
///
/// Stores are locked in the order of their identities, which is the same for all contexts and processes, so that two saves
/// never wait for each other.
final class SaveWrite {
    /// The stores that have committed.
    private(set) var committed: [SavePreparation.StoreBatch] = []

    private let batches: [SavePreparation.StoreBatch]
    private let context: ManagedObjectContext

    init(_ preparation: SavePreparation, of context: ManagedObjectContext) {
        batches = preparation.batches.filter { !$0.request.isEmpty }
        self.context = context
    }

    /// Writes and commits.
    ///
    /// - Throws: what a store throws. ``committed`` tells which stores are saved nevertheless.
    func run() throws {
        guard batches.count > 1 else {
            for batch in batches { try batch.store.execute(batch.request, with: context) }
            return
        }
        var stores: [(batch: SavePreparation.StoreBatch, attached: PersistentStoreCoordinator.AttachedStore)] = []
        for batch in batches { stores.append((batch, try context.coordinator.store(for: batch.entity))) }
        stores.sort { left, right in
            if left.attached.store.savesInTwoPhases != right.attached.store.savesInTwoPhases {
                return left.attached.store.savesInTwoPhases
            }
            return left.attached.identity.lockingOrder < right.attached.identity.lockingOrder
        }
        try write(stores.map { ($0.batch, $0.attached.store) }[...])
    }

    private func write(_ stores: ArraySlice<(batch: SavePreparation.StoreBatch, store: any IncrementalStore)>) throws {
        guard let (batch, store) = stores.first else { return }
        try store.save(batch.request, with: context) { try write(stores.dropFirst()) }
        committed.append(batch)
    }

    /// What was done when a store threw.
    func outcome(after error: any Error) throws -> ObjectGraphError.IncompleteSave {
        func identities(_ batches: [SavePreparation.StoreBatch]) throws -> [StoreIdentity] {
            try batches.map { try context.coordinator.store(for: $0.entity).identity }
        }
        return ObjectGraphError.IncompleteSave(
            savedStores: try identities(committed),
            unsavedStores: try identities(batches.filter { batch in !committed.contains { $0 === batch } }),
            cause: (error as? SaveConflict).map { ObjectGraphError($0) } ?? error
        )
    }
}
