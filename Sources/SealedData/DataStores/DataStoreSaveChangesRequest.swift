/// What a context asks of a ``DataStore`` when it saves.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    /// The new models. Their identifiers are temporary, and others refer to them by these.
    public let inserted: [SnapshotType]
    /// The changed models, whole. A change of a relationship changes the models on both of its sides.
    public let updated: [SnapshotType]
    /// The models to delete, as they were last.
    public let deleted: [SnapshotType]
    /// Who asks.
    public let editingState: EditingState

    /// Makes a request, for a program that calls a store itself.
    public init(
        inserted: [SnapshotType] = [],
        updated: [SnapshotType] = [],
        deleted: [SnapshotType] = [],
        editingState: EditingState = EditingState()
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.editingState = editingState
    }
}

/// What a ``DataStore`` made of a save.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The permanent identifiers of the new models, by the temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The identity of the store.
    public let storeIdentifier: String
    /// Models that the store has otherwise than they were saved. Contexts take them in with their next fetch or save.
    public let snapshotsToReregister: [PersistentIdentifier: T]

    /// Makes a result.
    public init(
        for storeIdentifier: String,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:]
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
    }
}
