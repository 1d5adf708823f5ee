import Foundation
import ObjectGraph
import Guarded

extension QuerySort {
    /// Returns the sort key of a sort descriptor.
    ///
    /// - Throws: ``UnsupportedPredicate``.
    static func reading<Model: PersistentModel>(_ sort: SortDescriptor<Model>, entity: Entity) throws -> QuerySort {
        // The descriptor is a parameter: optimized code that copies a descriptor as part of another generic type needs
        // a symbol that Foundation does not export.
        guard let keyPath = sort.keyPath else { throw UnsupportedPredicate("sorting without a key path") }
        let path = try PropertyPath(keyPath, of: Model.self, entity: entity)
        var textOrder = path.textOrder
        if let comparator = sort.stringComparator, textOrder == .lexical {
            guard let order = comparator.textOrder else { throw UnsupportedPredicate("sorting by '\(comparator)'") }
            textOrder = order
        }
        return QuerySort(try path.sortExpression, ascending: sort.order == .forward, textOrder: textOrder)
    }
}

extension String.StandardComparator {
    /// The order of texts, regardless of the direction; nil for an unknown comparator.
    var textOrder: TextOrder? {
        let comparator = String.StandardComparator(self, order: .forward)
        if comparator == .lexical { return .lexical }
        #if canImport(Darwin)
            if comparator == .localizedStandard { return .localizedStandard }
            if comparator == .localized { return .localized }
        #endif
        return nil
    }
}

/// The persisted properties of a key path of any length.
struct PropertyPath {
    private var properties: [Property] = []
    /// The member of a structure after the properties; nil for the last property itself.
    private var member: CompositePart?
    /// The type of the value at the end.
    private var valueType: any Any.Type
    /// The order of texts.
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
            member = route.member
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

    /// Returns the expression to sort by.
    ///
    /// - Throws: ``UnsupportedPredicate`` for values without an order in a store.
    var sortExpression: QueryExpression {
        get throws {
            guard !properties.isEmpty else { return .variable(0) }
            var value = QueryExpression.path(from: 0, properties)
            if let member { value = .component(member.names.map(ComponentKey.name), of: value, type: member.type) }
            return try EnumerationOrder.rank(of: value, as: valueType)
        }
    }

    // MARK: Parts of key paths

    /// The route of a key path.
    fileprivate struct Route {
        /// The slots of the properties, each in the class of the previous property's value.
        var slots: [Int]
        /// The type of the value of the last property.
        let propertyType: any Any.Type
        /// The member of a structure after the properties; nil for the last property itself.
        var member: CompositePart?
        /// The type of the value at the end, without the suffix that sort descriptors append.
        var valueType: any Any.Type
        var textOrder = TextOrder.lexical
        /// The remaining parts of the key path.
        var rest: ArraySlice<KeyPathParts.Part>

        init(to slot: Int, type: any Any.Type, rest: ArraySlice<KeyPathParts.Part>) {
            slots = [slot]
            propertyType = type
            valueType = type
            self.rest = rest
        }
    }

    private static let cache = Guarded(BoundedCache<AnyKeyPathKey, Route?>(limit: 512))

    /// Returns the slots of the properties of a key path, each in the class of the previous property's value; nil if a
    /// property is not persisted, or the path continues into a structure.
    static func slots(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> [Int]? {
        route(along: keyPath, of: model).flatMap { $0.member == nil ? $0.slots : nil }
    }

    private static func route(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> Route? {
        cache.value(for: AnyKeyPathKey(keyPath)) { findRoute(along: keyPath, of: model) }
    }

    private static func findRoute(along keyPath: AnyKeyPath, of model: any PersistentModel.Type) -> Route? {
        guard let path = KeyPathParts(keyPath), var route = route(along: path.parts[...], of: model, keyPath),
            route.enterStructures(along: keyPath, path.types, from: model)
        else { return nil }
        if !route.finishText(), let rawValueType = rawValueType(keyPath, route, of: model) {
            route.valueType = rawValueType
            route.rest = route.rest.dropFirst().drop { $0 == .optional }
        }
        return route.finishText() ? route : nil
    }

    private static func route(
        along parts: ArraySlice<KeyPathParts.Part>,
        of model: any PersistentModel.Type,
        _ keyPath: AnyKeyPath
    ) -> Route? {
        guard let first = parts.first else { return nil }
        let lookup = PropertyLookup.properties(of: model)
        let rest = parts.dropFirst()
        if case .withArguments = first {
            // Only the suffix that sort descriptors append to a requirement is removed.
            guard rest.isEmpty || ranks.contains(where: { rest.elementsEqual($0.parts) }),
                let slot = RequirementLookup.slot(ofSorted: keyPath, in: model)
            else { return nil }
            return Route(to: slot, type: lookup.valueType(at: slot), rest: rest)
        }
        for slot in lookup.names.indices {
            let property = lookup.keyPath(at: slot)
            guard KeyPathParts(property)?.parts == [first] else { continue }
            let valueType = type(of: property).valueType
            if case .toOne(let destination)? = PropertyKind(of: valueType), rest.contains(where: { $0 != .optional }) {
                guard var route = route(along: rest.drop { $0 == .optional }, of: destination, keyPath) else {
                    return nil
                }
                route.slots.insert(slot, at: 0)
                return route
            }
            return Route(to: slot, type: valueType, rest: rest.drop { $0 == .optional })
        }
        return nil
    }

    /// Returns the type of the raw value at the end of a key path; nil if it reads another value.
    private static func rawValueType(
        _ keyPath: AnyKeyPath,
        _ route: Route,
        of model: any PersistentModel.Type
    ) -> (any Any.Type)? {
        guard let type = PropertyKind.unwrapped(route.valueType) as? any RawRepresentable.Type,
            let rawValueType = PropertyKind.storableRawValue(of: type)
        else { return nil }
        let path = RawValuePath(
            keyPath: SampledKeyPath(keyPath: keyPath, slots: route.slots),
            propertyType: PropertyKind.unwrapped(route.propertyType),
            isMember: route.member != nil
        )
        return path.leadsToRawValue(of: type, from: model) ? rawValueType : nil
    }

    /// The suffixes that sort descriptors append to the key path of a property.
    fileprivate static let ranks: [(parts: [KeyPathParts.Part], order: TextOrder)] = [
        (KeyPathParts(\Bool.sortRank)?.parts ?? [], .lexical),
        (KeyPathParts(\String.localizedStandardRank)?.parts ?? [], .localizedStandard),
        (KeyPathParts(\String?.localizedStandardRank)?.parts ?? [], .localizedStandard),
        (KeyPathParts(\String.localizedRank)?.parts ?? [], .localized),
        (KeyPathParts(\String?.localizedRank)?.parts ?? [], .localized),
    ]
}

extension PropertyPath.Route {
    /// Continues after an attribute into structures that are stored as JSON text.
    ///
    /// - Parameters:
    ///   - keyPath: The whole key path.
    ///   - types: The types of the values after its parts.
    ///   - model: The class at which it begins.
    /// - Returns: Whether the member at the end is known.
    fileprivate mutating func enterStructures(
        along keyPath: AnyKeyPath,
        _ types: [any Any.Type],
        from model: any PersistentModel.Type
    ) -> Bool {
        var depth = 0
        // A value that is stored as its raw value has no members.
        while case .stored? = rest.first, case .attribute(.composite)? = PropertyKind(of: valueType) {
            valueType = types[rest.startIndex]
            depth += 1
            rest = rest.dropFirst().drop { $0 == .optional }
        }
        if depth == 0 { return true }
        // Computed properties other than raw values are code of the program, which does not expect generated values.
        guard isAtEnd || PropertyKind.unwrapped(valueType) is any RawRepresentable.Type else { return false }
        let sample = SampledKeyPath(keyPath: keyPath, slots: slots)
        member = CompositePart.part(in: propertyType, depth: depth, as: valueType) { value in
            sample.value(holding: .composite(value), from: model)
        }
        return member != nil
    }

    /// Whether no parts remain, except the suffix that sort descriptors append.
    private var isAtEnd: Bool {
        rest.isEmpty || PropertyPath.ranks.contains { rest.elementsEqual($0.parts) }
    }

    /// Consumes the suffix that sort descriptors append to a key path.
    ///
    /// - Returns: Whether no other parts remain.
    fileprivate mutating func finishText() -> Bool {
        if rest.isEmpty { return true }
        guard let (_, order) = PropertyPath.ranks.first(where: { rest.elementsEqual($0.parts) }) else { return false }
        textOrder = order
        rest = []
        return true
    }
}
