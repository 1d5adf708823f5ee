import ObjectGraph

/// The differences between the model of a store and the model of a program that affect tables.
struct ModelComparison {
    /// The differences, one on each line; empty if the tables of the store fit the model of the program.
    private(set) var differences: [String] = []

    private let mapping: ModelMapping

    init(_ mapping: ModelMapping) {
        self.mapping = mapping
        for entity in mapping.new.entities {
            guard let old = mapping.old(of: entity) else {
                differences.append("entity '\(entity.name)' is new")
                continue
            }
            if old.name != entity.name { differences.append("entity '\(entity.name)' was '\(old.name)'") }
            compare(old, entity)
        }
        for entity in mapping.old.entities where mapping.newEntities[entity] == nil {
            differences.append("entity '\(entity.name)' is removed")
        }
    }

    private mutating func compare(_ old: Entity, _ new: Entity) {
        let superentity = new.superentity.flatMap { mapping.old(of: $0) }
        if old.superentity != superentity || (old.superentity == nil) != (new.superentity == nil) {
            differences.append("entity '\(new.name)' has another superentity")
        }
        if !old.isAbstract, new.isAbstract { differences.append("entity '\(new.name)' becomes abstract") }
        var used: Set<Property> = []
        for property in new.properties {
            let place = "property '\(new.name).\(property.name)'"
            guard let before = mapping.old(of: property, in: new) else {
                differences.append("\(place) is new")
                continue
            }
            used.insert(before)
            if before.name != property.name { differences.append("\(place) was '\(before.name)'") }
            if !isSameShape(before, property) {
                differences.append("\(place) has another type")
            } else if before.isOptional != property.isOptional {
                differences.append("\(place) becomes \(property.isOptional ? "optional" : "required")")
            }
        }
        for property in old.properties where !used.contains(property) {
            differences.append("property '\(new.name).\(property.name)' is removed")
        }
        let constraints = Set(
            new.uniquenessConstraints.map { slots in
                slots.map { mapping.old(of: new.properties[$0], in: new)?.slot ?? -1 }
            }
        )
        if Set(old.uniquenessConstraints) != constraints {
            differences.append("entity '\(new.name)' has other uniqueness constraints")
        }
    }

    /// Whether the tables store a property in the same form.
    private func isSameShape(_ old: Property, _ new: Property) -> Bool {
        switch (old, new) {
        case (.attribute(let old), .attribute(let new)): old.type == new.type
        case (.relationship(let old), .relationship(let new)):
            old.isToMany == new.isToMany && old.isOrdered == new.isOrdered
                && mapping.newEntities[old.destination] == new.destination
                && (old.inverse == nil) == (new.inverse == nil)
                && old.inverse == new.inverse.flatMap { mapping.old(of: $0, in: $0.source) }
        default: false
        }
    }
}
