/// The entities of an object graph, checked as a whole and linked with each other.
///
/// A model is immutable. It is made from declarations, which are also what is encoded, so that a store can keep its
/// model and a tool can open the store without the program that made it.
public final class ManagedObjectModel: Sendable {
    /// The entities, in the order of their declaration.
    public let entities: [Entity]
    /// The entities by name.
    public let entitiesByName: [String: Entity]
    /// All relationships; each stands at its ``Relationship/index``.
    public let relationships: [Relationship]

    /// Checks and links declarations.
    ///
    /// - Throws: ``ModelError`` with every problem there is, not only the first.
    public init(entities declarations: [EntityDescription]) throws(ModelError) {
        let problems = ModelValidation(declarations).problems
        guard problems.isEmpty else { throw ModelError(problems: problems) }

        let entities = declarations.enumerated().map { Entity($1, index: $0) }
        let byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        var relationships: [Relationship] = []

        for entity in entities {
            entity.superentity = entity.description.superentity.flatMap { byName[$0] }
            entity.superentity?.subentities.append(entity)
        }
        for entity in entities where entity.superentity == nil {
            Self.link(entity, byName: byName, relationships: &relationships)
        }
        for relationship in relationships {
            guard let inverse = relationship.description.inverse else { continue }
            relationship.inverse = relationship.destination.relationship(named: inverse)
        }
        self.entities = entities
        entitiesByName = byName
        self.relationships = relationships
    }

    /// The entity at the top of the inheritance of `entity`.
    public func root(of entity: Entity) -> Entity { entities[entity.rootIndex] }

    /// The declarations that the model was made from.
    public var declarations: [EntityDescription] { entities.map(\.description) }

    /// Gives `entity` its properties, the inherited ones first, and goes on with its subentities.
    private static func link(_ entity: Entity, byName: [String: Entity], relationships: inout [Relationship]) {
        if let superentity = entity.superentity {
            entity.rootIndex = superentity.rootIndex
            entity.properties = superentity.properties
            entity.uniquenessConstraints = superentity.uniquenessConstraints
            entity.indexes = superentity.indexes
        }
        let description = entity.description
        let attributes = Dictionary(uniqueKeysWithValues: description.attributes.map { ($0.name, $0) })
        let ownRelationships = Dictionary(uniqueKeysWithValues: description.relationships.map { ($0.name, $0) })
        for name in description.propertyNames {
            let slot = entity.properties.count
            if let attribute = attributes[name] {
                entity.properties.append(
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
                entity.properties.append(.relationship(relationship))
            }
        }
        entity.traits = entity.properties.map(SlotTraits.init)
        entity.propertiesByName = Dictionary(uniqueKeysWithValues: entity.properties.map { ($0.name, $0) })
        entity.attributes = entity.properties.compactMap {
            if case .attribute(let attribute) = $0 { attribute } else { nil }
        }
        entity.relationships = entity.properties.compactMap {
            if case .relationship(let relationship) = $0 { relationship } else { nil }
        }
        entity.hasToMany = entity.relationships.contains(where: \.isToMany)
        entity.uniquenessConstraints += description.uniquenessConstraints.map { names in
            names.compactMap { entity.propertiesByName[$0]?.slot }
        }
        entity.indexes += description.indexes

        entity.family = [entity]
        for subentity in entity.subentities {
            link(subentity, byName: byName, relationships: &relationships)
            entity.family += subentity.family
        }
    }
}

extension ManagedObjectModel: Codable {
    private enum CodingKeys: String, CodingKey {
        case entities
    }

    /// Decodes declarations and links them.
    ///
    /// - Throws: ``ModelError`` where the declarations do not fit each other.
    public convenience init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(entities: container.decode([EntityDescription].self, forKey: .entities))
    }

    /// Encodes the declarations.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(declarations, forKey: .entities)
    }
}

extension EntityDescription {
    /// The names of the properties that the entity itself declares, in the order of their slots.
    var propertyNames: [String] {
        let declared = attributes.map(\.name) + relationships.map(\.name)
        guard let propertyOrder else { return declared }
        let ordered = Set(propertyOrder)
        let known = Set(declared)
        return propertyOrder.filter(known.contains) + declared.filter { !ordered.contains($0) }
    }
}
