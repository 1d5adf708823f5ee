/// A fetch request of a context to a ``DataStore``.
public struct DataStoreFetchRequest<T: PersistentModel>: Sendable {
    /// The descriptor. Its limit may exceed the limit of the program, because unsaved changes may remove results.
    public let descriptor: FetchDescriptor<T>
    /// The identity of the requester.
    public let editingState: EditingState

    /// Makes a request, for a program that calls a store directly.
    public init(descriptor: FetchDescriptor<T>, editingState: EditingState = EditingState()) {
        self.descriptor = descriptor
        self.editingState = editingState
    }
}

/// The result of a fetch from a ``DataStore``.
public struct DataStoreFetchResult<T: PersistentModel, SnapshotType: DataStoreSnapshot>: Sendable {
    /// The descriptor of the request.
    public let descriptor: FetchDescriptor<T>
    /// The models that match, in the order of the descriptor. Models of other classes are ignored.
    public let fetchedSnapshots: [SnapshotType]
    /// Destinations of relationships, by identifier, which the context will probably read next.
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
