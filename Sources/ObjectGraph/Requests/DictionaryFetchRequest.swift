/// A request for rows of values that the store computes from the objects of an entity.
///
/// It corresponds to a fetch of Core Data with the dictionary result type. A row represents an object or, in a request
/// with aggregates or properties to group by, a group of objects.
///
/// ```swift
/// var request = DictionaryFetchRequest(book)
/// request.propertiesToFetch = [
///     ExpressionDescription("author", .path(author, name)),
///     ExpressionDescription("books", .objectCount),
///     ExpressionDescription("pages", .aggregate(.sum, of: .path(pages))),
/// ]
/// request.propertiesToGroupBy = [.path(author, name)]
/// request.havingPredicate = .comparison(.greater, .objectCount, .literal(.integer(1)))
/// request.sort = [QuerySort(.aggregate(.sum, of: .path(pages)), ascending: false)]
/// for row in try context.fetchDictionaries(request) { print(row["author"], row["pages"]) }
/// ```
public struct DictionaryFetchRequest: Sendable {
    /// The entity of the objects.
    public var entity: Entity
    /// Whether objects of subentities are included.
    public var includesSubentities = true
    /// Whether results include unsaved changes of the context; ignored by an asynchronous fetch.
    public var includesPendingChanges = false
    /// The predicate on objects; nil matches all.
    public var predicate: QueryExpression?
    /// The columns; if empty, all attributes and to-one relationships under their own names.
    public var propertiesToFetch: [ExpressionDescription] = []
    /// Whether rows that are equal to an earlier row are omitted.
    public var returnsDistinctResults = false
    /// The values that all objects of a group have in common. If empty, aggregates are computed from all objects, and
    /// there is one row, even without objects.
    public var propertiesToGroupBy: [QueryExpression] = []
    /// The predicate on groups, composed of aggregates and of expressions that the results are grouped by; nil matches
    /// all.
    public var havingPredicate: QueryExpression?
    /// The order. Rows with equal sort keys come in the order of their primary keys, groups in the order of the values
    /// that they are grouped by, and distinct rows in the order of their columns.
    public var sort: [QuerySort] = []
    /// The largest number of rows; nil for no limit.
    public var limit: Int?
    /// The number of rows to skip at the beginning.
    public var offset = 0

    /// Makes a request.
    public init(
        _ entity: Entity,
        _ propertiesToFetch: [ExpressionDescription] = [],
        predicate: QueryExpression? = nil
    ) {
        self.entity = entity
        self.propertiesToFetch = propertiesToFetch
        self.predicate = predicate
    }

    /// The columns that a store computes.
    public var columns: [ExpressionDescription] {
        guard propertiesToFetch.isEmpty else { return propertiesToFetch }
        return entity.properties.compactMap { property in
            if case .relationship(let relationship) = property, relationship.isToMany { return nil }
            return ExpressionDescription(property.name, .path(property))
        }
    }

    /// Whether a row represents a group of objects.
    public var isAggregated: Bool {
        !propertiesToGroupBy.isEmpty
            || (columns.map(\.expression) + sort.map(\.expression) + [havingPredicate].compactMap(\.self))
                .contains(where: \.containsAggregate)
    }
}

/// A column of a ``DictionaryFetchRequest``: a value under a name.
public struct ExpressionDescription: Hashable, Sendable {
    /// The name, unique in its request.
    public var name: String
    /// The value: an attribute, a path along to-one relationships, a computed value or an aggregate. The value of a
    /// to-one relationship is the primary key of its destination.
    public var expression: QueryExpression

    /// Makes a column.
    public init(_ name: String, _ expression: QueryExpression) {
        self.name = name
        self.expression = expression
    }
}
