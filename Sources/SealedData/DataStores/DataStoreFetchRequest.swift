/// What a context asks of a ``DataStore`` when it fetches.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// What to fetch. Its limit may be larger than the one that the program gave, to leave room for unsaved changes.
    public let descriptor: FetchDescriptor<T>
    /// Who asks.
    public let editingState: EditingState

    /// Makes a request, for a program that calls a store itself.
    public init(descriptor: FetchDescriptor<T>, editingState: EditingState = EditingState()) {
        self.descriptor = descriptor
        self.editingState = editingState
    }
}

/// What a ``DataStore`` found.
public struct DataStoreFetchResult<T: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// What was to be fetched.
    public let descriptor: FetchDescriptor<T>
    /// The models that fit, in the order of the descriptor. Those of other classes are ignored.
    public let fetchedSnapshots: [SnapshotType]
    /// Further models, which will be wanted next, by identifier: the ones that relationships lead to.
    public let relatedSnapshots: [PersistentIdentifier: SnapshotType]

    /// Makes a result.
    public init(
        descriptor: FetchDescriptor<T>,
        fetchedSnapshots: [SnapshotType],
        relatedSnapshots: [PersistentIdentifier: SnapshotType] = [:]
    ) {
        self.descriptor = descriptor
        self.fetchedSnapshots = fetchedSnapshots
        self.relatedSnapshots = relatedSnapshots
    }
}
