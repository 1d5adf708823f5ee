import EncryptedSQLite
import ObjectGraph

/// A state of a store, read on a separate connection.
final class SnapshotGeneration: QueryGeneration {
    private let storeID: ObjectIdentifier
    let snapshot: DatabaseSnapshot

    init(_ snapshot: DatabaseSnapshot, of store: OpenStore) {
        storeID = ObjectIdentifier(store)
        self.snapshot = snapshot
    }

    /// Whether this is a state of a store.
    func isState(of store: OpenStore) -> Bool { storeID == ObjectIdentifier(store) }
}

extension OpenStore {
    /// Runs `body` on the state that the context is pinned to, or with nil on the latest state.
    func reading<R>(for context: RequestContext, _ body: (SnapshotGeneration?) throws -> R) throws -> R {
        try throwingQueryErrors {
            guard let token = context.generation else { return try body(nil) }
            for case let generation as SnapshotGeneration in token.generations where generation.isState(of: self) {
                return try generation.snapshot.perform { try body(generation) }
            }
            return try body(nil)
        }
    }
}
