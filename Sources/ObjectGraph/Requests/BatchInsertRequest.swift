/// Inserts objects straight into the store, one row after the other, without making objects of them.
///
/// ```swift
/// var lines = file.lines.makeIterator()
/// let request = BatchInsertRequest(word) {
///     lines.next().map { ["text": .text($0)] }
/// }
/// let result = try context.execute(request)
/// ```
///
/// All rows are written in one transaction; memory holds a few hundred of them at a time, however many there are.
///
/// An object is a dictionary of values by property name; what is missing is null. Given are attributes in their stored
/// form, and to-one relationships as the primary key of the destination, unless their inverse is to-one: then the
/// destination's row would have to change. The largest number of members of an inverse is not looked at.
public struct BatchInsertRequest {
    /// The entity of the new objects.
    public var entity: Entity
    /// What the result tells.
    public var resultType = BatchResultType.statusOnly
    /// Gives the next object; nil at the end.
    let nextObject: () throws -> [String: Value]?

    /// Makes a request whose objects are asked for one by one.
    ///
    /// - Parameters:
    ///   - entity: The entity of the new objects.
    ///   - nextObject: Gives the next object, and nil at the end. It runs while the store is being written, so it must not
    ///     save to a store, or carry out another batch request; it may fetch, and obtain permanent identifiers. What it throws
    ///     ends the request, and nothing is inserted.
    public init(_ entity: Entity, nextObject: @escaping () throws -> [String: Value]?) {
        self.entity = entity
        self.nextObject = nextObject
    }

    /// Makes a request for the objects of a sequence, which is gone through once.
    public init(_ entity: Entity, objects: some Sequence<[String: Value]>) {
        var iterator = objects.makeIterator()
        self.init(entity) { iterator.next() }
    }
}

/// The rows of a ``BatchInsertRequest``, which a store asks for while it writes them.
public final class BatchInsertion: @unchecked Sendable {
    // Sound because it is used by one thread only: a context makes it for one call of the store's `execute`, and the
    // store asks it for rows before that call returns.

    /// The entity of all rows.
    public let entity: Entity
    /// The to-one relationships that rows have a destination for, so far.
    public private(set) var relationships: Set<Relationship> = []

    private let nextObject: () throws -> [String: Value]?
    private var isAtEnd = false

    /// - Throws: ``ObjectGraphError/invalidBatch(entity:property:reason:)`` where no object of the entity can be inserted.
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

    /// The rows of the next objects, under keys from the first one on: as many as there are keys, and fewer only at the
    /// end.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` with everything that keeps these rows from being saved;
    ///   ``ObjectGraphError/invalidBatch(entity:property:reason:)`` for values that are not the entity's; what the
    ///   program's closure throws.
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
            for property in entity.properties {
                guard let reason = property.problem(of: object[property.name] ?? .null) else { continue }
                // The object has no identifier that would mean anything after the failure.
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
