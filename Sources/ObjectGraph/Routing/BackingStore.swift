/// The source and destination of a context's objects: a store, or the parent context.
enum BackingStore {
    case store(any IncrementalStore)
    case parent(ParentStore)

    /// Whether both are the same store or parent.
    func isSame(as other: BackingStore) -> Bool {
        switch (self, other) {
        case (.store(let store), .store(let other)): store === other
        case (.parent(let parent), .parent(let other)): parent.context === other.context
        case (.store, .parent), (.parent, .store): false
        }
    }

    /// Executes a request of a context.
    func execute<Request: StoreRequest>(
        _ request: Request,
        with context: ManagedObjectContext
    ) throws -> Request.Result {
        switch self {
        case .store(let store): try request.execute(in: store, with: context)
        case .parent(let parent):
            if Request.isRead {
                try parent.answering { try request.execute(in: parent, for: context) }
            } else {
                try parent.obtainingKeys { try request.execute(in: parent, for: context) }
            }
        }
    }

    /// Returns the attributes and to-one relationships of an object; nil if the object does not exist.
    func newValuesForObject(
        with id: ManagedObjectID,
        with context: ManagedObjectContext
    ) throws -> IncrementalStoreNode? {
        switch self {
        case .store(let store): try store.newValuesForObject(with: id, with: context)
        case .parent:
            try newValuesForObjects(with: [id], with: context).first { _ in true }.map(IncrementalStoreNode.init)
        }
    }

    /// Returns the rows of several objects of one inheritance hierarchy, in any order, without those of missing
    /// objects.
    func newValuesForObjects(with ids: [ManagedObjectID], with context: ManagedObjectContext) throws -> RowBatch {
        switch self {
        case .store(let store): try store.newValuesForObjects(with: ids, with: context)
        case .parent(let parent): try parent.answering { try parent.rows(of: ids) }.reporting(to: context.readFailures)
        }
    }

    /// Returns the members of the same to-many relationship of several objects.
    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext
    ) throws -> RelationshipRows {
        switch self {
        case .store(let store):
            try store.newValues(forRelationship: relationship, forObjectsWith: ids, with: context)
        case .parent(let parent):
            try parent.answering {
                var result = try parent.members(of: relationship, ofObjectsWith: ids)
                result.rows = result.rows.reporting(to: context.readFailures)
                return result
            }
        }
    }

    /// Returns permanent identifiers for new objects of a root entity or its subentities.
    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        switch self {
        case .store(let store): try store.obtainPermanentIDs(for: entity, count: count)
        case .parent(let parent):
            try parent.loader.stores.store(for: entity).obtainPermanentIDs(for: entity, count: count)
        }
    }
}
