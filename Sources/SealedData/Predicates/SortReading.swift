import Foundation
import ObjectGraph

/// Reads a sort descriptor.
struct SortReading<Model: PersistentModel> {
    private let sort: SortDescriptor<Model>
    private let entity: Entity

    init(_ sort: SortDescriptor<Model>, entity: Entity) {
        self.sort = sort
        self.entity = entity
    }

    /// The key to sort by.
    var key: QuerySort {
        get throws {
            guard let keyPath = sort.keyPath else { throw UnsupportedPredicate("sorting without a key path") }
            if let comparator = sort.stringComparator, comparator.isLexical == false {
                throw UnsupportedPredicate("sorting by '\(comparator)'")
            }
            let path = try PropertyPath(keyPath, of: Model.self, entity: entity)
            return QuerySort(path.sortExpression, ascending: sort.order == .forward)
        }
    }
}

extension String.StandardComparator {
    fileprivate var isLexical: Bool { String.StandardComparator(self, order: .forward) == .lexical }
}

/// The persisted properties that a key path of any length leads through.
///
/// The parts of a key path cannot be had one by one. But its description consists of those of its parts, and these name
/// the accessor of a computed property by its address: they are as good as the key paths themselves.
struct PropertyPath {
    private var properties: [Property] = []

    init(_ keyPath: AnyKeyPath, of model: any PersistentModel.Type, entity: Entity) throws {
        if let slot = PropertyLookup.slot(of: keyPath, in: model), slot < entity.slotCount {
            properties = [entity.properties[slot]]
        } else if !isIdentifier(keyPath, of: model) {
            guard let path = Self.path(along: Self.parts(of: keyPath), of: model, entity: entity) else {
                throw UnsupportedPredicate("'\(keyPath)', which is not a path of persisted properties")
            }
            properties = path
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

    /// The description of a key path without that of its root.
    private static func parts(of keyPath: AnyKeyPath) -> Substring {
        let description = keyPath.debugDescription
        guard let point = description.firstIndex(of: ".") else { return "" }
        return description[point...]
    }

    private static func path(
        along parts: Substring,
        of model: any PersistentModel.Type,
        entity: Entity
    ) -> [Property]? {
        let lookup = PropertyLookup.properties(of: model)
        for slot in lookup.names.indices where slot < entity.slotCount {
            let keyPath = lookup.keyPath(at: slot)
            let part = Self.parts(of: keyPath)
            guard !part.isEmpty, parts.hasPrefix(part) else { continue }
            var rest = parts.dropFirst(part.count)
            if rest.hasPrefix("?") || rest.hasPrefix("!") { rest.removeFirst() }
            let property = entity.properties[slot]
            if rest.isEmpty || rest == Self.sortRank { return [property] }
            guard rest.hasPrefix("."), case .relationship(let relationship) = property, !relationship.isToMany,
                case .toOne(let destination)? = PropertyKind(of: type(of: keyPath).valueType),
                let path = path(along: rest, of: destination, entity: relationship.destination)
            else { continue }
            return [property] + path
        }
        return nil
    }

    /// What is behind the key path of a Boolean in that of a sort descriptor.
    private static let sortRank = parts(of: \Bool.sortRank)
}
