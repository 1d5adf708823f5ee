/// A request that inserts rows into the store, without instantiating objects.
///
/// ```swift
/// var lines = file.lines.makeIterator()
/// let request = BatchInsertRequest(word) {
///     lines.next().map { ["text": .text($0)] }
/// }
/// let result = try context.execute(request)
/// ```
///
/// All rows are written in one transaction; memory holds a few hundred of them at a time.
///
/// An object is a dictionary of values by property name; missing values are null. Attributes have their stored form,
/// and to-one relationships are the primary key of the destination. A relationship with a to-one inverse is refused:
/// the destination's row would have to change. The maximum count of an inverse is not checked.
public struct BatchInsertRequest {
    /// The entity of the new objects.
    public var entity: Entity
    /// The content of the result.
    public var resultType = BatchResultType.statusOnly
    /// Returns the next object; nil at the end.
    let nextObject: () throws -> [String: Value]?

    /// Creates a request for the objects that a closure returns.
    ///
    /// - Parameters:
    ///   - entity: The entity of the new objects.
    ///   - nextObject: Returns the next object, and nil at the end. It runs while the store is being written, so it
    ///     must not save to a store, or execute another batch request; it may fetch, and obtain permanent identifiers.
    ///     An error ends the request, and nothing is inserted.
    public init(_ entity: Entity, nextObject: @escaping () throws -> [String: Value]?) {
        self.entity = entity
        self.nextObject = nextObject
    }

    /// Creates a request for the objects of a sequence, which is iterated once.
    public init(_ entity: Entity, objects: some Sequence<[String: Value]>) {
        var iterator = objects.makeIterator()
        self.init(entity) { iterator.next() }
    }
}

/// The rows of a ``BatchInsertRequest``, which a store requests while it writes them.
public final class BatchInsertion {
    /// The entity of all rows.
    public let entity: Entity
    /// The to-one relationships for which the rows so far have a destination.
    public private(set) var relationships: Set<Relationship> = []

    private let nextObject: () throws -> [String: Value]?
    private var isAtEnd = false

    /// - Throws: ``ObjectGraphError/invalidBatch(entity:property:reason:)`` if no object of the entity can be inserted.
    init(_ request: BatchInsertRequest) throws {
        entity = request.entity
        nextObject = request.nextObject
        if entity.isAbstract {
            throw ObjectGraphError.invalidBatch(entity: entity.name, property: nil, reason: .abstractEntity)
        }
        if let needy = entity.relationships.first(where: { $0.isToMany && $0.description.minimumCount > 0 }) {
            throw ObjectGraphError.invalidBatch(entity: entity.name, property: needy.name, reason: .needsMembers)
        }
    }

    /// Returns the rows of the next objects. The keys are assigned in their order; there are fewer rows than keys only
    /// at the end.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` with all problems of these rows;
    ///   ``ObjectGraphError/invalidBatch(entity:property:reason:)`` for values that are not the entity's; errors of the
    ///   program's closure.
    public func nextRows(keys: Range<Int64>) throws -> RowBatch {
        var rows = RowBatchBuilder()
        var problems: [ObjectGraphError.ValidationProblem] = []
        for key in keys {
            guard !isAtEnd else { break }
            guard let object = try nextObject() else {
                isAtEnd = true
                break
            }
            rows.begin(key: key, version: 1, entity: entity.index, slotCount: entity.slotCount)
            for (name, value) in object {
                let property = try property(named: name, taking: value)
                if !value.isNull { rows.set(value, at: property.slot) }
            }
            let overlongSlot = rows.takeOverlongSlot()
            for property in entity.properties {
                let isOverlong = property.slot == overlongSlot
                guard let reason = isOverlong ? .rowTooLong : property.problem(of: object[property.name] ?? .null)
                else {
                    continue
                }
                // After a failure, the object has no valid identifier.
                let id = ManagedObjectID(entity: entity, storeUUID: nil, key: TemporaryKeys.next())
                problems.append(.init(id: id, property: property.name, reason: reason))
            }
        }
        guard problems.isEmpty else { throw ObjectGraphError.validation(problems) }
        return rows.finish()
    }

    private func property(named name: String, taking value: Value) throws -> Property {
        let property = try entity.batchProperty(named: name)
        if let reason = property.batchRefusal(of: value) {
            throw ObjectGraphError.invalidBatch(entity: entity.name, property: name, reason: reason)
        }
        if case .relationship(let relationship) = property, !value.isNull { relationships.insert(relationship) }
        return property
    }
}
