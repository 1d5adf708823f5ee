import ObjectGraph

/// What differs between the model of a store and that of the program, as far as tables depend on it.
struct ModelComparison {
    /// The differences, a line each; empty where the store fits.
    private(set) var differences: [String] = []

    init(stored: ManagedObjectModel, current: ManagedObjectModel) {
        // Models of equal declarations share their entities.
        guard !stored.entities.elementsEqual(current.entities, by: ===) else { return }
        for entity in current.entities where stored.entitiesByName[entity.name] == nil {
            differences.append("entity '\(entity.name)' is new")
        }
        for entity in stored.entities {
            guard let other = current.entitiesByName[entity.name] else {
                differences.append("entity '\(entity.name)' is gone")
                continue
            }
            compare(entity, other)
        }
    }

    private mutating func compare(_ stored: Entity, _ current: Entity) {
        if stored.superentity?.name != current.superentity?.name {
            differences.append("entity '\(stored.name)' has another superentity")
        }
        let storedProperties = Dictionary(uniqueKeysWithValues: stored.properties.map { ($0.name, Shape($0)) })
        let currentProperties = Dictionary(uniqueKeysWithValues: current.properties.map { ($0.name, Shape($0)) })
        for property in current.properties where storedProperties[property.name] == nil {
            differences.append("property '\(current.name).\(property.name)' is new")
        }
        for property in stored.properties {
            guard let shape = currentProperties[property.name] else {
                differences.append("property '\(stored.name).\(property.name)' is gone")
                continue
            }
            if shape != storedProperties[property.name] {
                differences.append("property '\(stored.name).\(property.name)' has another type")
            }
        }
        if Set(stored.uniquenessConstraints.map { names(of: $0, in: stored) })
            != Set(current.uniquenessConstraints.map { names(of: $0, in: current) })
        {
            differences.append("entity '\(stored.name)' has other uniqueness constraints")
        }
    }

    private func names(of slots: [Int], in entity: Entity) -> [String] { slots.map { entity.properties[$0].name } }

    /// What of a property the tables depend on.
    private enum Shape: Hashable {
        case attribute(AttributeType)
        case relationship(destination: String, isToMany: Bool, isOrdered: Bool, inverse: String?)

        init(_ property: Property) {
            switch property {
            case .attribute(let attribute): self = .attribute(attribute.type)
            case .relationship(let relationship):
                self = .relationship(
                    destination: relationship.destination.name,
                    isToMany: relationship.isToMany,
                    isOrdered: relationship.isOrdered,
                    inverse: relationship.inverse?.name
                )
            }
        }
    }
}
