/// A custom store of models: a file of another format, a service, a cache.
///
/// A container opens it if it is created with the store's configuration, and contexts use it like the encrypted store.
/// Models are exchanged as snapshots. Only ``fetch(_:)`` and ``save(_:)`` are required. A store that cannot evaluate
/// predicates or sort throws ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort``.
///
/// A container calls a store from any thread, one call at a time.
public protocol DataStore: AnyObject {
    /// The type of the store's configuration.
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    /// The type of the store's snapshots, usually ``DefaultSnapshot``.
    associatedtype Snapshot: DataStoreSnapshot

    /// The identity of the store, which is part of the identifiers of its models. It is the same at every opening.
    var identifier: String { get }
    /// The classes of the store.
    var schema: Schema { get }
    /// The configuration of the store.
    var configuration: Configuration { get }

    /// Opens the store. The configuration's schema is the store's part of the container's schema.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// Returns the snapshots of the models that match a descriptor.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort``: the context then
    ///   repeats the request without predicate, order and limit, or without order and limit.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>

    /// Returns the number of models that match a descriptor, with the errors of ``fetch(_:)``.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// Returns the identifiers of the models that match a descriptor, with the errors of ``fetch(_:)``.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Writes all changes or none, and assigns permanent identifiers to new models.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Deletes all models.
    func erase() throws

    /// Prepares for the requests of a new context.
    func initializeState(for editingState: EditingState)

    /// Releases the state for a context that no longer exists.
    func invalidateState(for editingState: EditingState)

    /// Returns the cached snapshots of models with the given identifiers. The context fetches the remaining models.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

/// A store that deletes many models at once.
///
/// Contexts do not use it, because they need the models to apply delete rules. It is for programs that call the store
/// directly.
public protocol DataStoreBatching: DataStore {
    /// Deletes the models that fulfil a predicate.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

extension DataStore {
    /// Returns the number of models among the results of ``fetch(_:)``.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetchIdentifiers(request).count
    }

    /// Returns the identifiers of the models among the results of ``fetch(_:)``, each once.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let names = schema.namesOfEntities(under: T.self)
        var seen: Set<PersistentIdentifier> = []
        // A store may return models of other classes as well, and a model several times.
        return try fetch(request).fetchedSnapshots.map(\.persistentIdentifier)
            .filter { names.contains($0.entityName) && seen.insert($0).inserted }
    }

    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}

    /// Returns no snapshots.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

extension Schema {
    /// Returns the names of the entity of a class and of its subentities.
    fileprivate func namesOfEntities<T: PersistentModel>(under type: T.Type) -> Set<String> {
        var names: Set<String> = []
        var pending = [entity(for: type)?.name ?? Self.entityName(for: type)]
        while let name = pending.popLast() {
            guard names.insert(name).inserted else { continue }
            pending += entitiesByName[name]?.subentities.map(\.name) ?? []
        }
        return names
    }
}
