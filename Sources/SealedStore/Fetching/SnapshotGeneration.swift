import EncryptedSQLite
import ObjectGraph

/// A state of a store, read on a connection of its own.
final class SnapshotGeneration: QueryGeneration {
    let storeID: ObjectIdentifier
    let snapshot: DatabaseSnapshot

    init(_ snapshot: DatabaseSnapshot, of store: SealedStore) {
        storeID = ObjectIdentifier(store)
        self.snapshot = snapshot
    }
}

extension SealedStore {
    /// Runs `body`, which reads what the context is pinned to: the state that it is given, or the last one for nil.
    func reading<R>(for context: ManagedObjectContext?, _ body: (SnapshotGeneration?) throws -> R) throws -> R {
        guard let token = context?.queryGenerationToken else { return try body(nil) }
        for case let generation as SnapshotGeneration in token.generations
        where generation.storeID == ObjectIdentifier(self) {
            return try generation.snapshot.perform { try body(generation) }
        }
        return try body(nil)
    }
}
