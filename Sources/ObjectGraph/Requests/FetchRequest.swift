/// A request for the objects of an entity for which a condition holds, in an order.
public struct FetchRequest: Sendable {
    /// The entity whose objects are fetched.
    public var entity: Entity
    /// Whether objects of subentities are included.
    public var includesSubentities = true
    /// The condition; nil for all objects.
    public var predicate: QueryExpression?
    /// A full-text search for the objects, which not all stores support; nil for no search.
    public var search: FullTextSearch? {
        get { box?.content.search }
        set { special.search = newValue }
    }
    /// The order; empty for the order of relevance of a search, and of primary keys otherwise.
    public var sort: [QuerySort] = []
    /// The largest number of results; nil for no limit; a negative number becomes 0.
    public var limit: Int? {
        didSet { if let limit, limit < 0 { self.limit = 0 } }
    }
    /// The number of results to skip; a negative number becomes 0.
    public var offset = 0 {
        didSet { offset = max(offset, 0) }
    }
    /// Whether the results include unsaved changes of the context.
    public var includesPendingChanges = true
    /// The attributes and to-one relationships that the fetch reads; empty for all.
    ///
    /// The objects are faults with these values, which are read without a statement. The first access to another value,
    /// or the first change of an object, reads the other values for all objects of the fetch, in few statements.
    /// To-many relationships have no values in a row, see ``relationshipKeyPathsForPrefetching``.
    ///
    /// Useful to leave out much data, such as long texts. Such an object needs one more allocation than other objects.
    public var propertiesToFetch: [Property] {
        get { box?.content.propertiesToFetch ?? [] }
        set { special.propertiesToFetch = newValue }
    }
    /// Whether the fetch reads values. Without values the objects are faults; the first access to one fills all objects
    /// of the fetch.
    public var includesPropertyValues = true
    /// Whether the objects are faults: the first access to a value fills an object from its fetched row, without a
    /// statement, and calls ``ManagedObject/awakeFromFetch()``.
    ///
    /// The default is true in Core Data, where filling an object is expensive. Here a filled object is smaller than a
    /// fault, so that the default is false.
    public var returnsObjectsAsFaults = false
    /// Paths of to-one and to-many relationships whose destinations are fetched together with the results, so that
    /// following them needs no statement. A path ends at objects without the relationship.
    public var relationshipKeyPathsForPrefetching: [[Relationship]] {
        get { box?.content.relationshipKeyPathsForPrefetching ?? [] }
        set { special.relationshipKeyPathsForPrefetching = newValue }
    }
    /// The request of the layer above, for stores that use it; nil if no store does.
    package var origin: (any Sendable)? {
        get { box?.content.origin }
        set { special.origin = newValue }
    }

    /// The record of failed reads of deferred values, for the context of the request. A store with deferred values
    /// passes it to its ``RowBatchBuilder``.
    public internal(set) var readFailures: ReadFailures?

    private var box: Special.Box?

    /// Creates a request.
    public init(_ entity: Entity, predicate: QueryExpression? = nil, sort: [QuerySort] = []) {
        self.entity = entity
        self.predicate = predicate
        self.sort = sort
    }
}

extension FetchRequest {
    /// Rarely used properties, in a separate allocation: requests are copied several times, and copying the box is
    /// cheap.
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

    /// Whether the rows contain all attributes and to-one relationships.
    public var readsAllProperties: Bool { includesPropertyValues && propertiesToFetch.isEmpty }

    /// Whether results that are not yet in the context are faults.
    var makesFaults: Bool { returnsObjectsAsFaults || !readsAllProperties }

    /// The same request for complete rows.
    var readingAllProperties: FetchRequest {
        var request = self
        request.includesPropertyValues = true
        request.propertiesToFetch = []
        return request
    }
}
