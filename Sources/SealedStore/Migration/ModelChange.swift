import Guarded
import ObjectGraph

/// What differs between the model that a store records and that of a program.
enum ModelChange: Sendable {
    /// Nothing that the store records.
    case none
    /// Rules that need no change of data: the store records the model anew.
    case rules
    /// Entities or properties: the store has to be migrated. The differences, a line each.
    case shape([String])

    private struct Key: Hashable {
        let stored: [ObjectIdentifier]
        let current: [ObjectIdentifier]
    }

    private static let known = Guarded(BoundedCache<Key, ModelChange>(limit: 16))

    /// Compares two models. Indexes are left out: see ``IndexUpdate``.
    static func from(_ stored: ManagedObjectModel, to current: ManagedObjectModel) -> ModelChange {
        // Models of equal declarations share their entities.
        if stored.entities.elementsEqual(current.entities, by: ===) { return .none }
        // Entities are never freed.
        let key = Key(
            stored: stored.entities.map(ObjectIdentifier.init),
            current: current.entities.map(ObjectIdentifier.init)
        )
        return known.value(for: key) {
            let differences = ModelComparison(ModelMapping(from: stored, to: current)).differences
            if !differences.isEmpty { return .shape(differences) }
            return Set(stored.declarations.map(\.comparable)) == Set(current.declarations.map(\.comparable))
                ? .none : .rules
        }
    }
}

extension EntityDescription {
    /// The declaration with the rules that a store records, in an order that does not matter.
    fileprivate var comparable: EntityDescription {
        var declaration = recorded
        declaration.indexes = []
        declaration.propertyOrder = nil
        declaration.attributes.sort { $0.name < $1.name }
        declaration.relationships.sort { $0.name < $1.name }
        return declaration
    }
}
