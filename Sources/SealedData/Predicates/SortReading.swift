import Foundation
import ObjectGraph
import Guarded

extension QuerySort {
    /// What a sort descriptor sorts by.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    static func reading<Model: PersistentModel>(_ sort: SortDescriptor<Model>, entity: Entity) throws -> QuerySort {
        // The descriptor stays a parameter: to copy one as part of another generic type, optimized code needs a symbol
        // that Foundation does not export.
        guard let keyPath = sort.keyPath else { throw UnsupportedPredicate("sorting without a key path") }
        if let comparator = sort.stringComparator, !comparator.isLexical {
            throw UnsupportedPredicate("sorting by '\(comparator)'")
        }
        let path = try PropertyPath(keyPath, of: Model.self, entity: entity)
        return QuerySort(path.sortExpression, ascending: sort.order == .forward)
    }
}

extension String.StandardComparator {
    fileprivate var isLexical: Bool { String.StandardComparator(self, order: .forward) == .lexical }
}

/// The persisted properties that a key path of any length leads through.
struct PropertyPath {
    private var properties: [Property] = []

    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        if let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount {
            properties = [entity.properties[slot]]
        } else if !isIdentifier(keyPath, of: model) {
            guard let slots = Self.slots(along: keyPath, of: model) else {
                throw UnsupportedPredicate("'\(keyPath)', which is not a path of persisted properties")
            }
            var entity = entity
            for slot in slots {
                properties.append(entity.properties[slot])
                if case .relationship(let relationship) = entity.properties[slot] { entity = relationship.destination }
            }
        }
        switch properties.last {
        case .relationship(let relationship)?:
            throw UnsupportedPredicate("sorting by the relationship '\(relationship.name)'")
        case .attribute(let attribute)? where attribute.type == .composite:
            throw UnsupportedPredicate("sorting by '\(attribute.name)', which is not of a basic type")
        default: break
        }
    }

    /// What to sort by.
    var sortExpression: QueryExpression {
        guard let last = properties.last else { return .variable(0) }
        let value = QueryExpression.path(from: 0, properties)
        guard case .attribute(let attribute) = last, attribute.type == .uint64 else { return value }
        // Stored as a signed integer of the same bits, which is negative from 2^63 on. Subtracting 2^63, without ever
        // going beyond the signed range, puts all into their order.
        let half = QueryExpression.literal(.integer(.min))
        return .conditional(
            .comparison(.less, value, .literal(.integer(0))),
            .arithmetic(.subtract, value, half),
            .arithmetic(.add, value, half)
        )
    }

    // MARK: Parts of key paths

    private static let cache = Guarded<[AnyKeyPathKey: [Int]?]>([:])

    /// The slots of the properties that a key path leads through, each in the class that the one before leads to; nil
    /// where one of them is not persisted.
    static func slots(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> [Int]? {
        let key = AnyKeyPathKey(keyPath)
        if let slots = cache.withLock({ $0[key] }) { return slots }
        let slots = KeyPathParts(keyPath).flatMap { Self.slots(along: $0.parts[...], of: model) }
        cache.withLock { $0[key] = .some(slots) }
        return slots
    }

    private static func slots(
        along parts: ArraySlice<KeyPathParts.Part>,
        of model: any PersistentModel.Type
    ) -> [Int]? {
        guard let first = parts.first else { return nil }
        let lookup = PropertyLookup.properties(of: model)
        let rest = parts.dropFirst().drop { $0 == .optional }
        for slot in lookup.names.indices {
            let keyPath = lookup.keyPath(at: slot)
            guard KeyPathParts(keyPath)?.parts == [first] else { continue }
            if rest.isEmpty || rest.elementsEqual(sortRank) { return [slot] }
            guard case .toOne(let destination)? = PropertyKind(of: type(of: keyPath).valueType) else { return nil }
            return slots(along: rest, of: destination).map { [slot] + $0 }
        }
        return nil
    }

    /// What is behind the key path of a Boolean in that of a sort descriptor.
    private static let sortRank = KeyPathParts(\Bool.sortRank)?.parts ?? []
}
