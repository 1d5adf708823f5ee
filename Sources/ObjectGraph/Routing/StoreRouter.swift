/// Routes the requests of a context to the store that holds the entity, or to the parent context.
///
/// Stores receive the context of a request as an argument, so that they read the state to which the context is pinned,
/// and report failed reads to it. The parts of the context refer to the router instead of the context.
final class StoreRouter {
    let coordinator: PersistentStoreCoordinator
    /// The parent context, which receives requests in place of the stores.
    let parent: ManagedObjectContext?
    // Unowned, since the context owns the router and all objects that use it. It is set once, so exclusivity checks would
    // only cost time.
    @exclusivity(unchecked) private unowned var unownedContext: ManagedObjectContext?

    init(_ coordinator: PersistentStoreCoordinator, parent: ManagedObjectContext?) {
        self.coordinator = coordinator
        self.parent = parent
    }

    /// Sets the context whose requests are routed, once.
    func connect(to context: ManagedObjectContext) {
        assert(unownedContext == nil, "a router has one context")
        unownedContext = context
    }

    private var context: ManagedObjectContext {
        guard let unownedContext else { preconditionFailure("a context connects its router when it is made") }
        return unownedContext
    }

    /// The store or parent of an entity's objects.
    func store(for entity: Entity) throws -> BackingStore {
        if let parent { return .parent(ParentStore(parent)) }
        return .store(try coordinator.store(for: entity).store)
    }

    // MARK: Reading

    /// The rows of objects of one inheritance, in any order. Objects that do not exist are omitted.
    func rows(of entity: Entity, with ids: [ManagedObjectID]) throws -> RowBatch {
        try store(for: entity).newValuesForObjects(with: ids, with: context)
    }

    /// The row of an object; nil if it does not exist.
    func row(of entity: Entity, with id: ManagedObjectID) throws -> Row? {
        try store(for: entity).newValuesForObject(with: id, with: context)?.row
    }

    /// The members of the same to-many relationship of several objects.
    func members(of relationship: Relationship, ofObjectsWith ids: [ManagedObjectID]) throws -> RelationshipRows {
        try store(for: relationship.source).newValues(
            forRelationship: relationship,
            forObjectsWith: ids,
            with: context
        )
    }

    /// Executes a request about an entity.
    func execute<Request: StoreRequest>(_ request: Request, of entity: Entity) throws -> Request.Result {
        try store(for: entity).execute(request, with: context)
    }

    // MARK: Writing

    /// Permanent identifiers for new objects of a root entity and its subentities.
    func newIDs(of root: Entity, count: Int) throws -> [ManagedObjectID] {
        try store(for: root).obtainPermanentIDs(for: root, count: count)
    }

    /// Writes and commits changes.
    func save(_ changes: SaveChangesRequest, to store: BackingStore) throws {
        try store.execute(changes, with: context)
    }

    /// Returns the objects whose rows the stores have changed beside those of the requests, and forgets them.
    func takeCleared() -> [BatchChanges.Keys] {
        let context = context
        let cleared = context.clearedByStores
        if !cleared.isEmpty { context.clearedByStores = [] }
        return cleared
    }

    /// Writes changes, calls `beforeCommit`, and commits them.
    func save(
        _ changes: SaveChangesRequest,
        to store: any IncrementalStore,
        beforeCommit: () throws -> Void
    ) throws {
        try store.save(changes, with: context, beforeCommit: beforeCommit)
    }
}
