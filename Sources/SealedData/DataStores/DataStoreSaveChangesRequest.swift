/// A save request of a context to a ``DataStore``.
public struct DataStoreSaveChangesRequest<SnapshotType: DataStoreSnapshot>: Sendable {
    /// The new models. Their identifiers, also in references to them, are temporary.
    public let inserted: [SnapshotType]
    /// The changed models with all of their values. A change of a relationship changes the models on both sides.
    public let updated: [SnapshotType]
    /// The models to delete, with their last values.
    public let deleted: [SnapshotType]
    /// The identity of the requester.
    public let editingState: EditingState

    /// Makes a request, for a program that calls a store directly.
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

/// The result of a save in a ``DataStore``.
public final class DataStoreSaveChangesResult<T: DataStoreSnapshot>: Sendable {
    /// The permanent identifiers of the new models, by the temporary ones.
    public let remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The identity of the store.
    public let storeIdentifier: String
    /// Models whose values in the store differ from the saved values. Contexts merge them with their next fetch or
    /// save.
    public let snapshotsToReregister: [PersistentIdentifier: T]
    /// The position of the save in the history of the store; nil for a store without a history.
    public let historyToken: (any HistoryToken)?

    /// Makes a result.
    public init(
        for storeIdentifier: String,
        remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier] = [:],
        snapshotsToReregister: [PersistentIdentifier: T] = [:],
        historyToken: (any HistoryToken)? = nil
    ) {
        self.storeIdentifier = storeIdentifier
        self.remappedIdentifiers = remappedIdentifiers
        self.snapshotsToReregister = snapshotsToReregister
        self.historyToken = historyToken
    }
}
