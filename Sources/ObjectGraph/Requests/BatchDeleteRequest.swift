/// A request that deletes the objects that match a predicate from the store, without instantiating them.
///
/// Delete rules are applied as they are to single objects: cascade deletes the destinations as well, at any depth; deny
/// refuses the whole request while a destination remains; nullify clears the references to deleted objects, and refuses
/// the request if such a reference is not optional. Whatever the rule, no reference to a deleted object stays in the
/// store.
///
/// Objects that lose a reference keep their version, as they do when a save deletes their destination. The minimum
/// count of a relationship is not checked.
public struct BatchDeleteRequest: Sendable {
    /// The entity whose objects are deleted.
    public var entity: Entity
    /// Whether objects of subentities are deleted too.
    public var includesSubentities = true
    /// The predicate; nil matches all objects.
    public var predicate: QueryExpression?
    /// The content of the result; objects that are deleted by cascade count.
    public var resultType = BatchResultType.statusOnly

    /// Makes a request.
    public init(_ entity: Entity, predicate: QueryExpression? = nil) {
        self.entity = entity
        self.predicate = predicate
    }

    /// A fetch of the objects that the request deletes, without those that are deleted by cascade.
    public var fetchRequest: FetchRequest {
        var request = FetchRequest(entity, predicate: predicate)
        request.includesSubentities = includesSubentities
        return request
    }

    func validate() throws(QueryError) {
        if predicate?.containsAggregate ?? false { throw .misplacedAggregate }
    }
}
