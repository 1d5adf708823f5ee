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
        return QuerySort(try path.sortExpression, ascending: sort.order == .forward, textOrder: path.textOrder)
    }
}

extension String.StandardComparator {
    fileprivate var isLexical: Bool { String.StandardComparator(self, order: .forward) == .lexical }
}

/// The persisted properties that a key path of any length leads through.
struct PropertyPath {
    private var properties: [Property] = []
    /// The members of a structure that the path leads through behind them.
    private var parts: [CompositePart] = []
    /// The type of the value at the end.
    private var valueType: any Any.Type
    /// In which order texts are sorted.
    private(set) var textOrder = TextOrder.lexical

    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        valueType = type(of: keyPath).valueType
        if let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount {
            properties = [entity.properties[slot]]
        } else if !isIdentifier(keyPath, of: model) {
            guard let route = Self.route(along: keyPath, of: model) else {
                throw UnsupportedPredicate("'\(keyPath)', which is not a path of persisted properties")
            }
            textOrder = route.textOrder
            parts = route.parts
            valueType = route.valueType
            var entity = entity
            for slot in route.slots {
                properties.append(entity.properties[slot])
                if case .relationship(let relationship) = entity.properties[slot] { entity = relationship.destination }
            }
        }
        if case .relationship(let relationship)? = properties.last {
            throw UnsupportedPredicate("sorting by the relationship '\(relationship.name)'")
        }
    }

    /// What to sort by.
    ///
    /// - Throws: ``UnsupportedPredicate`` for values that a store has no order for.
    var sortExpression: QueryExpression {
        get throws {
            guard !properties.isEmpty else { return .variable(0) }
            let value = parts.reduce(QueryExpression.path(from: 0, properties)) { whole, part in
                Reading.part([.name(part.name)], of: whole, type: part.type).stored ?? whole
            }
            return try EnumerationOrder.rank(of: value, as: valueType)
        }
    }

    // MARK: Parts of key paths

    /// Where a key path leads.
    private struct Route {
        /// The slots of the properties, each in the class that the one before leads to.
        var slots: [Int]
        /// The members of a structure behind them.
        var parts: [CompositePart] = []
        /// The type of the value at the end, without what sort descriptors put behind it.
        var valueType: any Any.Type
        var textOrder = TextOrder.lexical
    }

    private static let cache = Guarded<[AnyKeyPathKey: Route?]>([:])

    /// The slots of the properties that a key path leads through, each in the class that the one before leads to; nil
    /// where one of them is not persisted, or is a structure that the path leads into.
    static func slots(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> [Int]? {
        route(along: keyPath, of: model).flatMap { $0.parts.isEmpty ? $0.slots : nil }
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
            let valueType = type(of: keyPath).valueType
            if case .toOne(let destination)? = PropertyKind(of: valueType), rest.contains(where: { $0 != .optional }) {
                guard var route = route(along: rest.drop { $0 == .optional }, of: destination) else { return nil }
                route.slots.insert(slot, at: 0)
                return route
            }
            return finish(Route(slots: [slot], valueType: valueType), along: rest)
        }
        return nil
    }

    /// Goes on behind an attribute: into a structure, or to what sort descriptors put there.
    private static func finish(_ start: Route, along parts: ArraySlice<KeyPathParts.Part>) -> Route? {
        var route = start
        var rest = parts.drop { $0 == .optional }
        while case .stored(let offset)? = rest.first {
            guard let part = CompositePart.part(at: Int(offset), in: PropertyKind.unwrapped(route.valueType)) else {
                return nil
            }
            route.parts.append(part)
            route.valueType = part.swiftType
            rest = rest.dropFirst().drop { $0 == .optional }
        }
        if rest.isEmpty { return route }
        guard let (_, order) = ranks.first(where: { rest.elementsEqual($0.parts) }) else { return nil }
        route.textOrder = order
        return route
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
