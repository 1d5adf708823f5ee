import ObjectGraph

/// The entities and properties of a store's model that supply the data for another model.
///
/// An entity or property of the new model gets the data of the old declaration with its name, or with the name in its
/// renaming identifier. Properties are matched over all properties of an entity, including inherited ones, so a
/// property that moves between an entity and its superentity keeps its data.
struct ModelMapping: Sendable {
    /// The model of the store.
    let old: ManagedObjectModel
    /// The model after the migration.
    let new: ManagedObjectModel
    /// The new entity of each old entity. Removed entities are not included.
    private(set) var newEntities: [Entity: Entity] = [:]
    /// The new entities of removed subentities, see ``adoptSubentities()``.
    private(set) var adopted: [Entity: Entity] = [:]
    /// The old entity of each new entity, at the index of the new entity; nil for an entity without one.
    private var oldEntities: [Entity?] = []
    /// The old property of each new property, at the index of the new entity and the slot of the property.
    private var oldProperties: [[Property?]] = []

    init(from old: ManagedObjectModel, to new: ManagedObjectModel) {
        self.old = old
        self.new = new
        let names = NameMatching(
            new: new.entities.map { .init(name: $0.name, renamingIdentifier: $0.description.renamingIdentifier) },
            old: old.entities.map { .init(name: $0.name, renamingIdentifier: $0.description.renamingIdentifier) }
        ).oldNames
        for entity in new.entities {
            guard let oldEntity = names[entity.name].flatMap({ old.entitiesByName[$0] }) else {
                oldEntities.append(nil)
                oldProperties.append([])
                continue
            }
            oldEntities.append(oldEntity)
            newEntities[oldEntity] = entity
            let properties = NameMatching(
                new: entity.properties.map { .init(name: $0.name, renamingIdentifier: $0.renamingIdentifier) },
                old: oldEntity.properties.map { .init(name: $0.name, renamingIdentifier: $0.renamingIdentifier) }
            ).oldNames
            oldProperties.append(
                entity.properties.map { properties[$0.name].flatMap { oldEntity.propertiesByName[$0] } }
            )
        }
    }

    /// Maps each removed subentity to its nearest superentity that the new model has and that can have objects: a
    /// program without a subentity regards its objects as objects of the superentity.
    mutating func adoptSubentities() {
        for entity in old.entities where newEntities[entity] == nil && !entity.isAbstract {
            var next = entity.superentity
            while let superentity = next, newEntities[superentity] == nil { next = superentity.superentity }
            var adopter = next.flatMap { newEntities[$0] }
            while let known = adopter, known.isAbstract { adopter = known.superentity }
            if let adopter { adopted[entity] = adopter }
        }
        newEntities.merge(adopted) { $1 }
    }

    /// The old entity from which a new entity gets its rows; nil if no old entity corresponds to it.
    func old(of entity: Entity) -> Entity? { oldEntities[entity.index] }

    /// The old property that supplies the values of a new property in the rows of an entity; nil if the entity had no
    /// such property.
    func old(of property: Property, in entity: Entity) -> Property? {
        let properties = oldProperties[entity.index]
        return property.slot < properties.count ? properties[property.slot] : nil
    }

    /// The entities and the properties of the old model that the new model keeps.
    var keptDeclarations: Set<Declaration> {
        var kept: Set<Declaration> = []
        for (oldEntity, entity) in newEntities {
            kept.insert(Declaration(entity: oldEntity.name, property: nil))
            for property in entity.properties {
                guard let old = old(of: property, in: entity) else { continue }
                kept.insert(Declaration(entity: oldEntity.name, property: old.name))
            }
        }
        return kept
    }

    /// An entity of a model, or a property in the rows of an entity.
    struct Declaration: Hashable {
        let entity: String
        /// The name of the property; nil if the declaration is the entity.
        let property: String?
    }

    /// The old relationship that supplies the members of a new relationship for owners of an entity.
    func old(of relationship: Relationship, in entity: Entity) -> Relationship? {
        if case .relationship(let old)? = old(of: .relationship(relationship), in: entity) { old } else { nil }
    }
}

extension Property {
    /// The name that the property had in an earlier version of the model.
    var renamingIdentifier: String? {
        switch self {
        case .attribute(let attribute): attribute.description.renamingIdentifier
        case .relationship(let relationship): relationship.description.renamingIdentifier
        }
    }
}
