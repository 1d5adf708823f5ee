/// A store of models that a program writes itself: a file of another format, a service, a cache.
///
/// A container opens it when it is made with the store's configuration, and contexts use it as they use the encrypted one.
/// Models travel as snapshots. Only ``fetch(_:)`` and ``save(_:)`` have to be written; a store that cannot evaluate
/// predicates or sort says so by throwing ``DataStoreError/preferInMemoryFilter`` or
/// ``DataStoreError/preferInMemorySort``.
///
/// A container calls its stores from any thread, one call after the other.
public protocol DataStore: AnyObject {
    /// What describes such a store.
    associatedtype Configuration: DataStoreConfiguration where Configuration.Store == Self
    /// The form in which models travel; ``DefaultSnapshot`` unless the store has reasons of its own.
    associatedtype Snapshot: DataStoreSnapshot

    /// The identity of the store, which is part of the identifiers of its models: the same each time it is opened.
    var identifier: String { get }
    /// The classes that the store holds.
    var schema: Schema { get }
    /// What describes the store.
    var configuration: Configuration { get }

    /// Opens the store. The configuration's schema is the part of the container's schema that the store is to hold.
    init(_ configuration: Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws

    /// The models that fit a descriptor.
    ///
    /// - Throws: ``DataStoreError/preferInMemoryFilter`` or ``DataStoreError/preferInMemorySort`` to be asked again without
    ///   predicate, order and limit, or without order and limit.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> DataStoreFetchResult<T, Snapshot>

    /// How many models fit a descriptor, with the errors of ``fetch(_:)``.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int

    /// The identifiers of the models that fit a descriptor, with the errors of ``fetch(_:)``.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]

    /// Writes changes, all of them or none, and gives new models their permanent identifiers.
    func save(_ request: DataStoreSaveChangesRequest<Snapshot>) throws -> DataStoreSaveChangesResult<Snapshot>

    /// Deletes everything.
    func erase() throws

    /// Prepares for the requests of a context, which has just been made.
    func initializeState(for editingState: EditingState)

    /// Lets go of what was kept for a context, which is gone.
    func invalidateState(for editingState: EditingState)

    /// The snapshots that the store has at hand of the models with some identifiers. The others are fetched.
    func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot]
}

/// A store that deletes many models at once.
///
/// Contexts do not use it: they apply delete rules, which needs the models. It is for programs that call the store
/// themselves.
public protocol DataStoreBatching: DataStore {
    /// Deletes the models that fulfil a predicate.
    func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws
}

extension DataStore {
    /// Counts what ``fetch(_:)`` finds.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try fetchIdentifiers(request).count
    }

    /// The identifiers of what ``fetch(_:)`` finds.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let names = schema.namesOfEntities(under: T.self)
        // A store may keep all classes in one place and leave it to others to tell them apart.
        return try fetch(request).fetchedSnapshots.map(\.persistentIdentifier).filter { names.contains($0.entityName) }
    }

    /// - Throws: ``DataStoreError/unsupportedFeature``.
    public func erase() throws { throw DataStoreError.unsupportedFeature }

    /// Does nothing.
    public func initializeState(for editingState: EditingState) {}

    /// Does nothing.
    public func invalidateState(for editingState: EditingState) {}

    /// None.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: Snapshot] { [:] }
}

extension Schema {
    /// The names of the entity of a class and of those that inherit from it.
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
