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
        return QuerySort(path.sortExpression, ascending: sort.order == .forward, textOrder: path.textOrder)
    }
}

extension String.StandardComparator {
    fileprivate var isLexical: Bool { String.StandardComparator(self, order: .forward) == .lexical }
}

/// The persisted properties that a key path of any length leads through.
struct PropertyPath {
    private var properties: [Property] = []
    /// In which order texts are sorted.
    private(set) var textOrder = TextOrder.lexical

    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        if let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount {
            properties = [entity.properties[slot]]
        } else if !isIdentifier(keyPath, of: model) {
            guard let route = Self.route(along: keyPath, of: model) else {
                throw UnsupportedPredicate("'\(keyPath)', which is not a path of persisted properties")
            }
            textOrder = route.textOrder
            var entity = entity
            for slot in route.slots {
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
        return value.unsignedRank
    }

    // MARK: Parts of key paths

    /// Where a key path leads.
    private struct Route {
        /// The slots of the properties, each in the class that the one before leads to.
        var slots: [Int]
        var textOrder = TextOrder.lexical
    }

    private static let cache = Guarded<[AnyKeyPathKey: Route?]>([:])

    /// The slots of the properties that a key path leads through, each in the class that the one before leads to; nil
    /// where one of them is not persisted.
    static func slots(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> [Int]? {
        route(along: keyPath, of: model)?.slots
    }

    private static func route(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> Route? {
        let key = AnyKeyPathKey(keyPath)
        if let route = cache.withLock({ $0[key] }) { return route }
        let route = KeyPathParts(keyPath).flatMap { Self.route(along: $0.parts[...], of: model) }
        cache.withLock { $0[key] = .some(route) }
        return route
    }

    private static func route(
        along parts: ArraySlice<KeyPathParts.Part>,
        of model: any PersistentModel.Type
    ) -> Route? {
        guard let first = parts.first else { return nil }
        let lookup = PropertyLookup.properties(of: model)
        let rest = parts.dropFirst()
        for slot in lookup.names.indices {
            let keyPath = lookup.keyPath(at: slot)
            guard KeyPathParts(keyPath)?.parts == [first] else { continue }
            if rest.allSatisfy({ $0 == .optional }) { return Route(slots: [slot]) }
            if let (_, order) = ranks.first(where: { rank in rest.drop { $0 == .optional }.elementsEqual(rank.parts) })
            {
                return Route(slots: [slot], textOrder: order)
            }
            guard case .toOne(let destination)? = PropertyKind(of: type(of: keyPath).valueType),
                var route = route(along: rest.drop { $0 == .optional }, of: destination)
            else { return nil }
            route.slots.insert(slot, at: 0)
            return route
        }
        return nil
    }

    /// What sort descriptors put behind the key path of a property.
    private static let ranks: [(parts: [KeyPathParts.Part], order: TextOrder)] = [
        (KeyPathParts(\Bool.sortRank)?.parts ?? [], .lexical),
        (KeyPathParts(\String.localizedStandardRank)?.parts ?? [], .localizedStandard),
        (KeyPathParts(\String?.localizedStandardRank)?.parts ?? [], .localizedStandard),
        (KeyPathParts(\String.localizedRank)?.parts ?? [], .localized),
        (KeyPathParts(\String?.localizedRank)?.parts ?? [], .localized),
    ]
}
