/// Changes the objects that fulfil a condition in the store, without making objects of them.
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
/// All new values are computed from what was saved before any of them is written. Every changed object counts one version
/// up, so that whoever changed it meanwhile hears of a conflict.
///
/// Rows are written one by one and their unique values checked each time: an update that only at its end leaves all
/// values different, such as adding 1 to each, may be refused.
public struct BatchUpdateRequest: Sendable {
    /// The entity whose objects are changed.
    public var entity: Entity
    /// Whether objects of subentities are changed too.
    public var includesSubentities = true
    /// The condition; nil lets all objects through.
    public var predicate: QueryExpression?
    /// The new values by property name: of attributes, and of to-one relationships that have no inverse or a to-many one
    /// without an order, as the primary keys of their destinations.
    public var propertiesToUpdate: [String: QueryExpression]
    /// What the result tells.
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

    /// What to fetch to get the objects that are changed.
    public var fetchRequest: FetchRequest {
        var request = FetchRequest(entity, predicate: predicate)
        request.includesSubentities = includesSubentities
        return request
    }

    /// The properties with their new values, in the order of their slots.
    ///
    /// - Throws: ``ObjectGraphError/invalidBatch(entity:property:reason:)`` where a property cannot take its value.
    public func assignments() throws(ObjectGraphError) -> [(property: Property, value: QueryExpression)] {
        var result: [(property: Property, value: QueryExpression)] = []
        for (name, value) in propertiesToUpdate {
            result.append((try entity.batchProperty(named: name), value))
        }
        return result.sorted { $0.property.slot < $1.property.slot }
    }

    /// Makes sure that the properties can take their values, as far as it can be told without the objects.
    func validate() throws {
        if predicate?.containsAggregate ?? false { throw QueryError.misplacedAggregate }
        var problems: [ObjectGraphError.ValidationProblem] = []
        for (property, value) in try assignments() {
            if value.containsAggregate { throw QueryError.misplacedAggregate }
            let reason: ObjectGraphError.BatchProblem?
            if case .literal(let literal) = value {
                reason = property.batchRefusal(of: literal)
                if reason == nil, let problem = property.problem(of: literal) {
                    // It is that of every object, whichever are found.
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
