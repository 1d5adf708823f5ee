public import ObjectGraph

/// An entity or a property that a store holds and the model of its last program does not have.
///
/// Its data stays in the file until a model has it again, or until it is removed on purpose.
public struct SetAside: Hashable, Sendable {
    /// The kinds of data.
    public enum Kind: Hashable, Sendable {
        /// The objects of an entity with their properties.
        case entity
        /// The values of an attribute.
        case attribute(AttributeType)
        /// The members of a relationship.
        case relationship(destination: String, isToMany: Bool)
    }

    /// The name of the entity.
    public let entity: String
    /// The name of the property; nil for an entity.
    public let property: String?
    /// The kind of data.
    public let kind: Kind

    private init(_ entity: Entity, _ property: Property? = nil) {
        self.entity = entity.name
        self.property = property?.name
        switch property {
        case nil: kind = .entity
        case .attribute(let attribute): kind = .attribute(attribute.type)
        case .relationship(let relationship):
            kind = .relationship(destination: relationship.destination.name, isToMany: relationship.isToMany)
        }
    }

    /// The entities and properties that a store holds beyond a model.
    static func items(in file: ManagedObjectModel, beyond model: ManagedObjectModel) -> [SetAside] {
        file.entities.flatMap { entity -> [SetAside] in
            let own = entity.properties.filter { $0.declaringEntityName == entity.name }
            guard let known = model.entitiesByName[entity.name] else {
                return entity.isAbstract && own.isEmpty ? [] : [SetAside(entity)]
            }
            return own.filter { known.propertiesByName[$0.name] == nil && $0.hasOwnData(beyond: model) }
                .map { SetAside(entity, $0) }
        }
    }
}

extension Property {
    /// Whether a property that a model does not have has data that the model does not have either. A
    /// relationship and its inverse have the same pairs.
    fileprivate func hasOwnData(beyond model: ManagedObjectModel) -> Bool {
        guard case .relationship(let relationship) = self, let inverse = relationship.inverse else { return true }
        return relationship.isOrdered || model.relationship(like: inverse) == nil
    }
}

extension SetAside: CustomStringConvertible {
    /// The names of the entity and the property.
    public var description: String { property.map { "\(entity).\($0)" } ?? entity }
}

extension StoreMetadataTable {
    /// The entities and properties that the last program does not have.
    var setAside: [SetAside] { union.map { SetAside.items(in: $0, beyond: model) } ?? [] }

    /// The model of the tables as a program has it; the program's own model if the tables hold nothing else.
    func tableModel(for own: ManagedObjectModel) -> ManagedObjectModel {
        union == nil && ModelChange.from(model, to: own).keepsShape ? own : fileModel
    }

    /// The difference between the model of the store and a program's model.
    ///
    /// - Parameter removesMissing: Whether entities and properties that the program does not have are removed.
    func change(to own: ManagedObjectModel, removesMissing: Bool = false) -> ModelChange {
        let change = ModelChange.from(model, to: own)
        guard case .shape(let differences) = change else { return change }
        let union = ModelUnion.of(own, self, removesMissing: removesMissing).model
        return ModelChange.from(fileModel, to: union).keepsShape ? .visibility(differences) : change
    }

    /// The metadata after a program with a model has opened the store, whose tables need no change for that.
    func opened(by own: ManagedObjectModel, removesMissing: Bool) throws -> StoreMetadataTable {
        let union = ModelUnion.of(own, self, removesMissing: removesMissing).model
        return with(
            model: try MigrationPlan.recorded(own, names),
            union: union === own ? nil : try MigrationPlan.recorded(union, names)
        )
    }
}
