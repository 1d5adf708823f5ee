import Guarded
import ObjectGraph

/// The kind of difference between the model that a store records and the model of a program.
enum ModelChange: Sendable {
    /// The models do not differ in anything that the store records.
    case none
    /// Only rules that do not affect data differ: the store records the new model.
    case rules
    /// Entities or properties differ that the tables hold and the program does not have, or that were set aside until
    /// now: the store records the new models. Contains the differences, one on each line.
    case visibility([String])
    /// Entities or properties differ: the store must be migrated. Contains the differences, one on each line.
    case shape([String])

    /// Whether the models have the same entities and properties.
    var keepsShape: Bool {
        switch self {
        case .none, .rules: true
        case .visibility, .shape: false
        }
    }

    /// The differences between the entities and properties, one on each line.
    var differences: [String] {
        switch self {
        case .none, .rules: []
        case .visibility(let differences), .shape(let differences): differences
        }
    }

    /// Whether the tables of the store need not be migrated.
    var keepsTables: Bool { if case .shape = self { false } else { true } }

    private struct Key: Hashable {
        let stored: [ObjectIdentifier]
        let current: [ObjectIdentifier]
    }

    private static let known = Guarded(BoundedCache<Key, ModelChange>(limit: 16))

    /// Compares two models without their indexes, which ``IndexUpdate`` compares.
    static func from(_ stored: ManagedObjectModel, to current: ManagedObjectModel) -> ModelChange {
        // Models with equal declarations share their entities.
        if stored.entities.elementsEqual(current.entities, by: ===) { return .none }
        // Entities are never freed, so their addresses identify them in the cache.
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
    /// The declaration with the rules that a store records, in a canonical order.
    fileprivate var comparable: EntityDescription {
        var declaration = recorded
        declaration.indexes = []
        declaration.propertyOrder = nil
        declaration.attributes.sort { $0.name < $1.name }
        declaration.relationships.sort { $0.name < $1.name }
        return declaration
    }
}
