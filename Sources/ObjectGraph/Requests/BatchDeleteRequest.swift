/// Deletes the objects that fulfil a condition from the store, without making objects of them.
///
/// Delete rules are applied as they are to single objects: cascade deletes the destinations as well, at any depth; deny
/// refuses the whole request while there is a destination that is not deleted with it; nullify clears the references to
/// deleted objects, and refuses the request where such a reference is not optional. Whatever the rule, no reference to a
/// deleted object stays in the store.
///
/// Objects that lose a reference keep their version, as they do when their destination is deleted by itself. The smallest
/// number of members of a relationship is not looked at.
public struct BatchDeleteRequest: Sendable {
    /// The entity whose objects are deleted.
    public var entity: Entity
    /// Whether objects of subentities are deleted too.
    public var includesSubentities = true
    /// The condition; nil lets all objects through.
    public var predicate: QueryExpression?
    /// What the result tells; objects that are deleted by cascade count.
    public var resultType = BatchResultType.statusOnly

    /// Makes a request.
    public init(_ entity: Entity, predicate: QueryExpression? = nil) {
        self.entity = entity
        self.predicate = predicate
    }

    /// What to fetch to get the objects that are deleted, those not counted that are deleted by cascade.
    public var fetchRequest: FetchRequest {
        var request = FetchRequest(entity, predicate: predicate)
        request.includesSubentities = includesSubentities
        return request
    }

    func validate() throws(QueryError) {
        if predicate?.containsAggregate ?? false { throw .misplacedAggregate }
    }
}
