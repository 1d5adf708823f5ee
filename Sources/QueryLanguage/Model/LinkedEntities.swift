import Guarded

/// The entities of checked declarations, linked with each other.
struct LinkedEntities: Sendable {
    /// The entities, in the order of their declaration.
    let entities: [Entity]
    /// The entities by name.
    let byName: [String: Entity]
    /// All relationships, each at its ``Relationship/index``.
    private(set) var relationships: [Relationship] = []

    /// Linked entities refer to each other and are never freed. The next model of the same declarations reuses them,
    /// which bounds their memory by the number of different models.
    private static let all = Guarded<[[EntityDescription]: LinkedEntities]>([:])

    /// Returns the entities of declarations, which are checked and linked at their first use in the process.
    ///
    /// - Throws: ``ModelError`` with all problems, not only the first.
    static func shared(of declarations: [EntityDescription]) throws(ModelError) -> LinkedEntities {
        if let known = all.withLock({ $0[declarations] }) { return known }
        let problems = ModelValidation(declarations).problems
        guard problems.isEmpty else { throw ModelError(problems: problems) }
        let linked = LinkedEntities(linking: declarations)
        return all.withLock { all in
            // Another thread may have linked the declarations since the first lookup.
            if let known = all[declarations] { return known }
            all[declarations] = linked
            return linked
        }
    }

    /// Links valid declarations.
    private init(linking declarations: [EntityDescription]) {
        entities = declarations.enumerated().map { Entity($1, index: $0) }
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        for entity in entities {
            entity.links.superentity = entity.description.superentity.flatMap { byName[$0] }
            entity.superentity?.links.subentities.append(entity)
        }
        for entity in entities where entity.superentity == nil {
            link(entity)
        }
        for relationship in relationships {
            if let shared = relationship.description.sharedInverse {
                relationship.links.sharedInverse = relationship.destination.relationship(named: shared)
                relationship.sharedInverse?.links.sharers.append(relationship)
            }
            guard let inverse = relationship.description.inverse else { continue }
            relationship.links.inverse = relationship.destination.relationship(named: inverse)
        }
    }

    /// Sets the properties of `entity`, beginning with the inherited properties, and then the properties of its
    /// subentities.
    private mutating func link(_ entity: Entity) {
        if let superentity = entity.superentity {
            entity.links.rootIndex = superentity.rootIndex
            entity.links.properties = superentity.properties
            entity.links.uniquenessConstraints = superentity.uniquenessConstraints
            entity.links.indexes = superentity.indexes
        }
        let description = entity.description
        let attributes = Dictionary(uniqueKeysWithValues: description.attributes.map { ($0.name, $0) })
        let ownRelationships = Dictionary(uniqueKeysWithValues: description.relationships.map { ($0.name, $0) })
        for name in description.propertyNames {
            let slot = entity.properties.count
            if let attribute = attributes[name] {
                entity.links.properties.append(
                    .attribute(Attribute(attribute, slot: slot, declaringEntityName: entity.name))
                )
            } else if let declaration = ownRelationships[name], let destination = byName[declaration.destination] {
                let relationship = Relationship(
                    declaration,
                    slot: slot,
                    index: relationships.count,
                    source: entity,
                    destination: destination
                )
                relationships.append(relationship)
                entity.links.properties.append(.relationship(relationship))
            }
        }
        entity.links.traits = entity.properties.map(SlotTraits.init)
        entity.links.propertiesByName = Dictionary(uniqueKeysWithValues: entity.properties.map { ($0.name, $0) })
        entity.links.attributes = entity.properties.compactMap {
            if case .attribute(let attribute) = $0 { attribute } else { nil }
        }
        entity.links.relationships = entity.properties.compactMap {
            if case .relationship(let relationship) = $0 { relationship } else { nil }
        }
        entity.links.hasToMany = entity.relationships.contains(where: \.isToMany)
        entity.links.hasComposites = entity.attributes.contains { $0.type == .composite }
        entity.links.uniquenessConstraints += description.uniquenessConstraints.map { names in
            names.compactMap { entity.propertiesByName[$0]?.slot }
        }
        entity.links.indexes += description.indexes

        entity.links.family = [entity]
        for subentity in entity.subentities {
            link(subentity)
            entity.links.family += subentity.family
        }
    }
}

extension EntityDescription {
    /// The names of the properties that the entity declares, in the order of their slots.
    var propertyNames: [String] {
        let declared = attributes.map(\.name) + relationships.map(\.name)
        guard let propertyOrder else { return declared }
        let ordered = Set(propertyOrder)
        let known = Set(declared)
        return propertyOrder.filter(known.contains) + declared.filter { !ordered.contains($0) }
    }
}
