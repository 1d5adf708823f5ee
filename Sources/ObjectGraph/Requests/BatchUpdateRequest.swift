/// A request that changes the objects that match a predicate in the store, without instantiating them.
///
/// ```swift
/// var request = BatchUpdateRequest(book, predicate: .comparison(.less, .path(pages), .literal(.integer(1))))
/// request.propertiesToUpdate = [
///     "pages": .literal(.null),
///     "price": .arithmetic(.multiply, .path(price), .literal(.real(0.9))),
/// ]
/// let result = try context.execute(request)
/// ```
///
/// All new values are computed from the saved values before any of them is written. The version of each changed object
/// is incremented, so that another context that has changed the object in memory detects a conflict.
///
/// Rows are written one by one, and each write checks the unique values: an update whose values are unique only at its
/// end, such as adding 1 to each, may be refused.
public struct BatchUpdateRequest: Sendable {
    /// The entity whose objects are changed.
    public var entity: Entity
    /// Whether objects of subentities are changed too.
    public var includesSubentities = true
    /// The predicate; nil matches all objects.
    public var predicate: QueryExpression?
    /// The new values by property name: of attributes, and of to-one relationships with no inverse or with an unordered
    /// to-many inverse, as the primary keys of their destinations.
    public var propertiesToUpdate: [String: QueryExpression]
    /// The content of the result.
    public var resultType = BatchResultType.statusOnly

    /// Makes a request.
    public init(
        _ entity: Entity,
        propertiesToUpdate: [String: QueryExpression] = [:],
        predicate: QueryExpression? = nil
    ) {
        self.entity = entity
        self.propertiesToUpdate = propertiesToUpdate
        self.predicate = predicate
    }

    /// A fetch of the objects that the request changes.
    public var fetchRequest: FetchRequest {
        var request = FetchRequest(entity, predicate: predicate)
        request.includesSubentities = includesSubentities
        return request
    }

    /// The properties with their new values, in the order of their slots.
    ///
    /// - Throws: ``ObjectGraphError/invalidBatch(entity:property:reason:)`` if a property cannot take its value.
    public func assignments() throws(ObjectGraphError) -> [(property: Property, value: QueryExpression)] {
        var result: [(property: Property, value: QueryExpression)] = []
        for (name, value) in propertiesToUpdate {
            result.append((try entity.batchProperty(named: name), value))
        }
        return result.sorted { $0.property.slot < $1.property.slot }
    }

    /// Checks that the properties can take their values, as far as that is known without the objects.
    func validate() throws {
        if predicate?.containsAggregate ?? false { throw QueryError.misplacedAggregate }
        var problems: [ObjectGraphError.ValidationProblem] = []
        for (property, value) in try assignments() {
            if value.containsAggregate { throw QueryError.misplacedAggregate }
            let reason: ObjectGraphError.BatchProblem?
            if case .literal(let literal) = value {
                reason = property.batchRefusal(of: literal)
                if reason == nil, let problem = property.problem(of: literal) {
                    // A constant is invalid for all objects, whichever of them match.
                    let id = ManagedObjectID(entity: entity, storeUUID: nil, key: TemporaryKeys.next())
                    problems.append(.init(id: id, property: property.name, reason: problem))
                }
            } else {
                reason = property.batchRefusal(ofComputed: value)
            }
            if case .relationship(let relationship) = property, relationship.inverse?.isOrdered ?? false {
                throw ObjectGraphError.invalidBatch(
                    entity: entity.name,
                    property: property.name,
                    reason: .inverseMustChange
                )
            }
            if let reason {
                throw ObjectGraphError.invalidBatch(entity: entity.name, property: property.name, reason: reason)
            }
        }
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
    }
}
