import Guarded
public import Foundation

/// Connects contexts with stores: it finds the store of each entity, and passes the commits of a context on to all
/// other contexts.
public final class PersistentStoreCoordinator: Sendable {
    /// The model.
    public let model: ManagedObjectModel
    /// The classes of the objects.
    let objectTypes: ObjectTypes

    private let state = Guarded(State())
    let sharedStores = SharedStores()

    private struct State {
        /// The store of each entity, at its ``Entity/index``.
        var stores: [AttachedStore?] = []
        var inboxes = InboxList()
    }

    /// A store with its identity among the coordinator's stores.
    final class AttachedStore: Sendable {
        let store: any IncrementalStore
        let identity: StoreIdentity

        init(_ store: any IncrementalStore, _ identity: StoreIdentity) {
            self.store = store
            self.identity = identity
        }
    }

    /// Makes a coordinator without stores.
    ///
    /// - Parameters:
    ///   - model: The model of all stores.
    ///   - classes: The classes of objects by entity name. Objects of other entities are instances of the class of the
    ///     nearest superentity that has one, and of ``ManagedObject`` if none has.
    /// - Precondition: The class of an entity is the class of its superentity, or inherits from it.
    public init(model: ManagedObjectModel, classes: [String: any GraphObject.Type] = [:]) {
        self.model = model
        objectTypes = ObjectTypes(of: model, classes)
        state.withLock { $0.stores = Array(repeating: nil, count: model.entities.count) }
    }

    // MARK: Store classes

    private static let storeClasses = Guarded<[String: any IncrementalStore.Type]>([:])

    /// Registers a class of stores under a type, which a ``PersistentStoreDescription`` names.
    public static func registerStoreClass(_ storeClass: any IncrementalStore.Type, type: String) {
        storeClasses.withLock { $0[type] = storeClass }
    }

    /// The class that is registered for a type; nil if no class is.
    static func storeClass(ofType type: String) -> (any IncrementalStore.Type)? { storeClasses.withLock { $0[type] } }

    // MARK: Stores

    /// Opens and examines a store that is added afterwards, without changing an existing store.
    ///
    /// Opening can migrate a store. A program with several stores prepares all of them before it adds the first, so
    /// that a store that cannot be opened leaves the other stores as they were.
    ///
    /// - Returns: The description for ``addPersistentStore(_:)``, with the open store.
    /// - Throws: as ``addPersistentStore(_:)``.
    public func prepare(_ description: PersistentStoreDescription) throws -> PersistentStoreDescription {
        let (storeClass, description) = try resolve(description)
        try requireFree(entities(of: description))
        return try storeClass.prepared(description, for: model)
    }

    /// The class of a store, and its description with secured options.
    private func resolve(
        _ description: PersistentStoreDescription
    ) throws -> (storeClass: any IncrementalStore.Type, description: PersistentStoreDescription) {
        guard let storeClass = Self.storeClass(ofType: description.type) else {
            throw ObjectGraphError.storeTypeNotRegistered(description.type)
        }
        var description = description
        // The class may have been registered after the options were set.
        description.options = storeClass.secured(description.options)
        return (storeClass, description)
    }

    /// Opens a store and adds it.
    ///
    /// - Returns: the metadata of the store.
    /// - Throws: ``ObjectGraphError`` if the description does not fit the model or the other stores; errors of the
    ///   store.
    @discardableResult
    public func addPersistentStore(_ description: PersistentStoreDescription) throws -> StoreMetadata {
        let (storeClass, description) = try resolve(description)
        let entities = try entities(of: description)
        try requireFree(entities)
        return try add(storeClass.loadMetadata(of: description, for: model), description, entities)
    }

    /// Adds an open store.
    ///
    /// - Parameter description: The description with which the store was opened.
    /// - Throws: As ``addPersistentStore(_:)``.
    package func addPersistentStore(
        _ store: any IncrementalStore,
        of description: PersistentStoreDescription
    ) throws {
        _ = try add(store, description, entities(of: description))
    }

    private func add(
        _ store: any IncrementalStore,
        _ description: PersistentStoreDescription,
        _ entities: [Entity]
    ) throws -> StoreMetadata {
        let identity = StoreIdentity(
            uuid: store.metadata.uuid,
            type: description.type,
            url: description.url,
            entityNames: entities.map(\.name)
        )
        try state.withLock { state in
            if let taken = entities.first(where: { state.stores[$0.index] != nil }) {
                throw ObjectGraphError.entityInTwoStores(entity: taken.name)
            }
            let attached = AttachedStore(store, identity)
            for entity in entities { state.stores[entity.index] = attached }
        }
        if let store = store as? any SharedStore { follow(store, entities) }
        return store.metadata
    }

    private func entities(of description: PersistentStoreDescription) throws -> [Entity] {
        let names = description.entityNames ?? Set(model.entities.map(\.name))
        if let unknown = names.first(where: { model.entitiesByName[$0] == nil }) {
            throw ObjectGraphError.noStore(entity: unknown)
        }
        return model.entities.filter { names.contains($0.name) }
    }

    private func requireFree(_ entities: [Entity]) throws {
        try state.withLock { state in
            if let taken = entities.first(where: { state.stores[$0.index] != nil }) {
                throw ObjectGraphError.entityInTwoStores(entity: taken.name)
            }
        }
    }

    /// Closes all stores. Contexts keep the objects in memory, and throw when they need further rows.
    public func removeAllStores() throws {
        let stores = state.withLock { state in
            defer { state.stores = state.stores.map { _ in nil } }
            return state.stores.compactMap { $0?.store }
        }
        sharedStores.removeAll()
        var closed: Set<ObjectIdentifier> = []
        for store in stores where closed.insert(ObjectIdentifier(store)).inserted {
            try store.close()
        }
    }

    /// The store that holds an entity.
    func store(for entity: Entity) throws(ObjectGraphError) -> AttachedStore {
        guard let store = state.withLock({ $0.stores[entity.index] }) else {
            throw .noStore(entity: entity.name)
        }
        return store
    }

    /// The identity of the store that holds an entity, or nil if no store does.
    package func storeUUID(for entity: Entity) -> UUID? {
        state.withLock { $0.stores[entity.index]?.identity.uuid }
    }

    /// Deletes all objects of all stores, regardless of delete rules. In every context of the coordinator they then
    /// count as deleted; unsaved new objects remain.
    ///
    /// - Throws: ``ObjectGraphError/storeIsReadOnly``; errors of the stores. Stores that were erased before an error
    ///   stay erased.
    public func eraseStores() throws {
        var hasErased = false
        defer { if hasErased { announce(Commit.unknown(.erasure)) } }
        for store in persistentStores {
            try store.with((any ErasableStore).self, for: EraseRequest.self)
                .execute(EraseRequest(), with: RequestContext())
            hasErased = true
        }
    }

    /// The stores, each once.
    package var persistentStores: [any IncrementalStore] {
        var seen: Set<ObjectIdentifier> = []
        return state.withLock { $0.stores.compactMap { $0?.store } }.filter {
            seen.insert(ObjectIdentifier($0)).inserted
        }
    }

    /// The current states of the stores that have snapshots.
    func currentQueryGenerations() throws -> [any QueryGeneration] {
        try persistentStores.compactMap { try ($0 as? any SnapshotStore)?.currentQueryGeneration() }
    }

    // MARK: Identifiers

    /// Returns the identifier whose ``ManagedObjectID/uriRepresentation`` is a URL.
    ///
    /// - Throws: ``ObjectGraphError/malformedIdentifier`` for other URLs, for temporary identifiers, and for objects of
    ///   other stores.
    public func managedObjectID(forURIRepresentation url: URL) throws -> ManagedObjectID {
        let parts = url.path(percentEncoded: true).split(separator: "/")
        guard url.scheme == "sealeddata", parts.count == 2, let name = parts[0].removingPercentEncoding,
            let entity = model.entitiesByName[name],
            parts[1].first == "p", let key = Int64(parts[1].dropFirst()), key > 0,
            let uuid = url.host.flatMap(UUID.init(uuidString:)), uuid == storeUUID(for: entity)
        else { throw ObjectGraphError.malformedIdentifier }
        return ManagedObjectID(entity: entity, storeUUID: uuid, key: key)
    }

    // MARK: Commits

    /// Adds the inbox of a context, which receives the commits of all other contexts.
    func add(_ inbox: ContextInbox) {
        state.withLock { $0.inboxes.add(inbox) }
    }

    /// The inboxes of all contexts except one.
    func inboxes(except sender: ContextInbox? = nil) -> [ContextInbox] {
        state.withLock { $0.inboxes.all(except: sender) }
    }

    /// Passes a commit that no context has made on to all contexts.
    package func announce(_ commit: Commit) { inboxes().post(commit) }

    /// Adds a commit to the inboxes of all contexts without calling the program.
    ///
    /// - Parameter notifies: Whether the contexts' ``ManagedObjectContext/onRemoteChange`` is called; otherwise with the
    ///   next commit.
    /// - Returns: a function that calls the program; it is to be called when no lock is held.
    func add(_ commit: Commit, notifies: Bool) -> @Sendable () -> Void {
        let observers = inboxes().compactMap { $0.add(commit, notifies: notifies) }
        return { for observer in observers { observer() } }
    }
}
