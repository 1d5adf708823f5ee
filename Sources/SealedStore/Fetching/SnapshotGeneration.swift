import EncryptedSQLite
import ObjectGraph

/// A state of a store, read on a separate connection.
final class SnapshotGeneration: QueryGeneration {
    let storeID: ObjectIdentifier
    let snapshot: DatabaseSnapshot

    init(_ snapshot: DatabaseSnapshot, of store: OpenStore) {
        storeID = ObjectIdentifier(store)
        self.snapshot = snapshot
    }
}
