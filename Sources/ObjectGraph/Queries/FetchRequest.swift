/// What to fetch: the objects of an entity that fulfil a condition, in an order.
public struct FetchRequest: Sendable {
    /// The entity whose objects are fetched.
    public var entity: Entity
    /// Whether objects of subentities are fetched too.
    public var includesSubentities = true
    /// The condition; nil lets all objects through.
    public var predicate: QueryExpression?
    /// The order; by primary key where it is empty.
    public var sort: [QuerySort] = []
    /// The largest number of results; nil for no limit; a negative number becomes 0.
    public var limit: Int? {
        didSet { if let limit, limit < 0 { self.limit = 0 } }
    }
    /// The number of results to leave out at the beginning; a negative number becomes 0.
    public var offset = 0 {
        didSet { offset = max(offset, 0) }
    }
    /// Whether unsaved changes of the context take part.
    public var includesPendingChanges = true
    /// Paths of relationships, to-one and to-many, whose destinations are fetched together with the results, so that
    /// walking them afterwards asks the store for nothing. Steps of objects that do not have the relationship lead
    /// nowhere.
    public var relationshipKeyPathsForPrefetching: [[Relationship]] = []
    /// What the layer above made the request of, for stores that understand it; nil where no store asks for it.
    package var origin: (any Sendable)?

    /// Makes a request.
    public init(_ entity: Entity, predicate: QueryExpression? = nil, sort: [QuerySort] = []) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
    }
}
