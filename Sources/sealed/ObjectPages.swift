import ObjectGraph

/// The objects of an entity in the order of their primary keys, a page at a time, so that memory does not grow with
/// their number.
struct ObjectPages {
    /// The entity.
    let entity: Entity
    private let condition: QueryExpression?
    private let context: ManagedObjectContext
    private let limit: Int?
    private let offset: Int

    private static let pageSize = 1_000

    init(
        of entity: Entity,
        where condition: QueryExpression?,
        in context: ManagedObjectContext,
        limit: Int?,
        offset: Int
    ) {
        self.entity = entity
        self.condition = condition
        self.context = context
        self.limit = limit
        self.offset = offset
    }

    /// Calls `body` with every page that has objects.
    func forEach(_ body: ([ManagedObject]) throws -> Void) throws {
        var remaining = limit ?? Int.max
        var request = FetchRequest(entity, predicate: condition)
        request.offset = offset
        while remaining > 0 {
            request.limit = min(Self.pageSize, remaining)
            let page = try context.fetch(request, as: ManagedObject.self)
            guard let last = page.last else { return }
            try body(page)
            remaining -= page.count
            // The next page begins after the last key; an offset would read all previous rows again.
            request.offset = 0
            let isBehind = QueryExpression.comparison(
                .greater,
                .variable(0),
                .literal(.integer(last.managedObjectID.key))
            )
            request.predicate = .and([condition, isBehind].compactMap(\.self))
        }
    }
}
