/// What to fetch: the objects of an entity that fulfil a condition, in an order.
public struct FetchRequest: Sendable {
    /// The entity whose objects are fetched.
    public var entity: Entity
    /// Whether objects of subentities are fetched too.
    public var includesSubentities = true
    /// The condition; nil lets all objects through.
    public var predicate: QueryExpression?
    /// A full-text search that the objects are found by; nil for none. Not all stores can search.
    public var search: FullTextSearch? {
        get { box?.content.search }
        set { special.search = newValue }
    }
    /// The order; where it is empty, by relevance for a search, and by primary key for others.
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
    /// The attributes and to-one relationships that are read at once; all of them where there are none here.
    ///
    /// The objects are faults that have these values at hand: reading them asks the store for nothing. What was left out is
    /// read when the program first asks for it or changes the object, for all objects that were read together, so that it
    /// costs few statements. To-many relationships have no values that could be read at once, see
    /// ``relationshipKeyPathsForPrefetching``.
    ///
    /// Worth while where much is left out, such as long texts: such an object costs an allocation more than others.
    public var propertiesToFetch: [Property] {
        get { box?.content.propertiesToFetch ?? [] }
        set { special.propertiesToFetch = newValue }
    }
    /// Whether values are read at all. Without them the objects are faults that have nothing at hand; the first one that is
    /// read, or changed, fills those that were fetched together with it.
    public var includesPropertyValues = true
    /// Whether the objects are faults: each takes in its row, without a statement, when the program first asks it for a
    /// value, which is also when it is told that it was fetched (``ManagedObject/awakeFromFetch()``).
    ///
    /// Core Data does that unless it is asked not to, since filling an object is work there. Here a filled object is the
    /// smaller one, so that faults have to be asked for.
    public var returnsObjectsAsFaults = false
    /// Paths of relationships, to-one and to-many, whose destinations are fetched together with the results, so that
    /// walking them afterwards asks the store for nothing. Steps of objects that do not have the relationship lead
    /// nowhere.
    public var relationshipKeyPathsForPrefetching: [[Relationship]] {
        get { box?.content.relationshipKeyPathsForPrefetching ?? [] }
        set { special.relationshipKeyPathsForPrefetching = newValue }
    }
    /// What the layer above made the request of, for stores that understand it; nil where no store asks for it.
    package var origin: (any Sendable)? {
        get { box?.content.origin }
        set { special.origin = newValue }
    }

    /// Where the context that makes the request is told of values that a store leaves in place and cannot read later. A
    /// store that does so hands it to its ``RowBatchBuilder``.
    public internal(set) var readFailures: ReadFailures?

    private var box: Special.Box?

    /// Makes a request.
    public init(_ entity: Entity, predicate: QueryExpression? = nil, sort: [QuerySort] = []) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
    }
}

extension FetchRequest {
    /// What few requests ask for. It stands apart, so that it costs the others nothing when they are copied, which they are
    /// several times on their way.
    private struct Special: Sendable {
        var search: FullTextSearch?
        var propertiesToFetch: [Property] = []
        var relationshipKeyPathsForPrefetching: [[Relationship]] = []
        var origin: (any Sendable)?

        final class Box: Sendable {
            let content: Special

            init(_ content: Special) { self.content = content }
        }
    }

    private var special: Special {
        get { box?.content ?? Special() }
        set { box = Special.Box(newValue) }
    }

    /// Whether the rows tell all attributes and to-one relationships.
    public var readsAllProperties: Bool { includesPropertyValues && propertiesToFetch.isEmpty }

    /// Whether the results are faults, unless they were known before.
    var makesFaults: Bool { returnsObjectsAsFaults || !readsAllProperties }

    /// The same request with complete rows.
    var readingAllProperties: FetchRequest {
        var request = self
        request.includesPropertyValues = true
        request.propertiesToFetch = []
        return request
    }
}
