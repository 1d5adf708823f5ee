/// Passes the requests of a context to the store that holds the entity, or to the parent context.
///
/// Stores receive a ``RequestContext``, so that they read the state to which the context is pinned, and report failed
/// reads to it. The parts of the context refer to the router instead of the context.
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

    /// Sets the context whose requests are passed on, once.
    func connect(to context: ManagedObjectContext) {
        assert(unownedContext == nil, "a router has one context")
        unownedContext = context
    }

    private var context: ManagedObjectContext {
        guard let unownedContext else { preconditionFailure("a context connects its router when it is made") }
        return unownedContext
    }

    /// The properties of the context that the stores use.
    var requestContext: RequestContext { RequestContext(context) }

    /// The store of an entity's objects.
    func store(of entity: Entity) throws -> any IncrementalStore { try coordinator.store(for: entity).store }

    // MARK: Fetching

    /// The rows of the objects that match a request, in its order.
    func rows(for request: FetchRequest) throws -> RowBatch {
        guard let parent else { return try store(of: request.entity).execute(request, with: requestContext) }
        let answer = ParentStore(parent)
        return try answer.answering { try answer.rows(for: request).reporting(to: context.readFailures) }
    }

    /// The identifiers of the objects that match a request, in its order.
    func ids(for request: FetchRequest) throws -> [ManagedObjectID] {
        guard let parent else {
            return try store(of: request.entity).execute(ObjectIDFetchRequest(request), with: requestContext)
        }
        return try ParentStore(parent).answering { try parent.fetchIDs(request) }
    }

    /// The number of objects that match a request, within its limit and offset.
    func count(of request: FetchRequest) throws -> Int {
        guard let parent else {
            return try store(of: request.entity).execute(CountRequest(request), with: requestContext)
        }
        return try ParentStore(parent).answering { try parent.count(request) }
    }

    /// The values that the store computes from its saved objects.
    func dictionaries(for request: DictionaryFetchRequest) throws -> DictionaryResults {
        guard let parent else {
            return try store(of: request.entity).with((any AggregateStore).self, for: DictionaryFetchRequest.self)
                .execute(request, with: requestContext)
        }
        return try ParentStore(parent).answering { try parent.loader.stores.dictionaries(for: request) }
    }

    /// The results of a full-text search, with their relevance and excerpts.
    func matches(for request: FullTextMatchRequest) throws -> [StoredFullTextMatch] {
        guard let parent else {
            return try store(of: request.request.entity).with((any SearchStore).self, for: FullTextMatchRequest.self)
                .execute(request, with: requestContext)
        }
        return try ParentStore(parent).answering {
            parent.processPendingChanges()
            return try parent.fetcher.matches(for: request)
        }
    }

    /// The store's plan of a fetch.
    func plan(of request: FetchRequest) throws -> QueryPlan {
        guard let parent else {
            return try store(of: request.entity).with((any QueryPlanStore).self, for: QueryPlanRequest.self)
                .execute(QueryPlanRequest(request), with: requestContext)
        }
        return try ParentStore(parent).answering { try parent.loader.stores.plan(of: request) }
    }

    // MARK: Filling faults

    /// The rows of objects of one inheritance, in any order. Objects that do not exist are omitted.
    func rows(of entity: Entity, with ids: [ManagedObjectID]) throws -> RowBatch {
        guard let parent else { return try store(of: entity).newValuesForObjects(with: ids, with: requestContext) }
        let answer = ParentStore(parent)
        return try answer.answering { try answer.rows(of: ids) }.reporting(to: context.readFailures)
    }

    /// The row of an object; nil if it does not exist.
    func row(of entity: Entity, with id: ManagedObjectID) throws -> Row? {
        guard parent == nil else { return try rows(of: entity, with: [id]).first { _ in true } }
        return try store(of: entity).newValuesForObject(with: id, with: requestContext)?.row
    }

    /// The members of the same to-many relationship of several objects.
    func members(of relationship: Relationship, ofObjectsWith ids: [ManagedObjectID]) throws -> RelationshipRows {
        guard let parent else {
            return try store(of: relationship.source)
                .newValues(forRelationship: relationship, forObjectsWith: ids, with: requestContext)
        }
        let answer = ParentStore(parent)
        return try answer.answering {
            var result = try answer.members(of: relationship, ofObjectsWith: ids)
            result.rows = result.rows.reporting(to: context.readFailures)
            return result
        }
    }

    // MARK: Writing

    /// Permanent identifiers for new objects of a root entity and its subentities.
    func newIDs(of root: Entity, count: Int) throws -> [ManagedObjectID] {
        guard let parent else { return try store(of: root).obtainPermanentIDs(for: root, count: count) }
        return try parent.loader.stores.newIDs(of: root, count: count)
    }

    /// Passes changes to the parent, where they become unsaved changes.
    func save(_ changes: SaveChangesRequest, to parent: ManagedObjectContext) throws {
        let store = ParentStore(parent)
        try store.obtainingKeys { try store.accept(changes, from: context) }
    }

    /// Executes a batch request.
    func execute(_ request: some BatchRequest) throws -> BatchChanges {
        guard let parent else {
            let store = try store(of: request.entity).with((any BatchStore).self, for: type(of: request))
            return try request.execute(in: store, with: requestContext)
        }
        return try ParentStore(parent).obtainingKeys {
            try parent.executeBatch(request, from: context.commitMerger.inbox)
        }
    }
}
