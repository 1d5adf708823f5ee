import ObjectGraph

/// Reads model classes into the entities of a schema.
struct SchemaReader {
    /// The entities: first the entities of the given classes, then the entities of classes that are reachable from
    /// them.
    private(set) var entities: [Schema.Entity] = []
    /// The problems of the classes, in the order of the entities.
    private(set) var problems: [ModelError.Problem] = []

    private var classes: [ModelClass] = []
    private var entitiesByType: [ObjectIdentifier: Schema.Entity] = [:]
    private var pending: [any PersistentModel.Type] = []
    /// The names of the given classes.
    private var givenNames: Set<String> = []

    init(_ types: [any PersistentModel.Type]) {
        for type in types { reach(type) }
        givenNames = Set(types.map { String(describing: $0) })
        var next = 0
        while next < pending.count {
            read(pending[next])
            next += 1
        }
        Schema.link(entities)
        nameDestinations()
        var inverses = InverseResolution(classes, entitiesByType.compactMapValues(\.modelType))
        inverses.resolve()
        problems += inverses.problems
    }

    /// Enqueues a class to be read, and creates its entity.
    ///
    /// A given class stands for all classes of its name that are only reached: a model that several versions of a
    /// schema share leads to the class of one version.
    private mutating func reach(_ type: any PersistentModel.Type) {
        let key = ObjectIdentifier(type)
        guard entitiesByType[key] == nil else { return }
        let name = String(describing: type)
        if givenNames.contains(name), let given = entities.first(where: { $0.name == name }) {
            return entitiesByType[key] = given
        }
        let entity = Schema.Entity(state: .init(name: uniqueName(of: type), modelType: type))
        entitiesByType[key] = entity
        entities.append(entity)
        pending.append(type)
    }

    /// Returns the entity name of a class. A second class with a name gets its full name, so that all checks can run.
    private mutating func uniqueName(of type: any PersistentModel.Type) -> String {
        let name = String(describing: type)
        guard let other = entities.first(where: { $0.name == name })?.modelType else { return name }
        problems.append(
            ModelError.Problem(
                entity: name,
                property: nil,
                text: "two classes have this name: \(String(reflecting: other)) and \(String(reflecting: type)); "
                    + "rename one of them"
            )
        )
        return String(reflecting: type)
    }

    private mutating func read(_ type: any PersistentModel.Type) {
        guard let entity = entitiesByType[ObjectIdentifier(type)],
            let level = ModelInheritance(of: type).levels.last
        else { return }
        let superclass = ModelInheritance.superclass(of: type)
        if let superclass {
            reach(superclass)
            entity.superentityName = entitiesByType[ObjectIdentifier(superclass)]?.name
        }
        var properties: [any SchemaProperty] = []
        var relationships: [ModelClass.Relationship] = []
        for entry in level.properties {
            let valueType = Swift.type(of: entry.keypath).valueType
            switch PropertyKind(of: valueType) {
            case .toOne(let destination), .toMany(let destination):
                let relationship = relationship(for: entry, valueType: valueType, of: entity)
                properties.append(relationship)
                relationships.append(
                    .init(
                        property: relationship,
                        destination: destination,
                        namedInverse: relationship.inverseKeyPath
                    )
                )
                reach(destination)
                relationships[relationships.count - 1].destination =
                    entitiesByType[ObjectIdentifier(destination)]?.modelType ?? destination
            case .attribute, nil:
                properties.append(attribute(for: entry, valueType: valueType, of: entity))
            }
        }
        entity.storedProperties = properties
        read(level.rules, of: type, into: entity)
        classes.append(
            ModelClass(type: type, entity: entity, superclass: superclass, relationships: relationships)
        )
    }

    private mutating func attribute(
        for entry: Schema.PropertyMetadata,
        valueType: any Any.Type,
        of entity: Schema.Entity
    ) -> Schema.Attribute {
        if entry.metadata is Schema.Relationship {
            report(entity, entry, "@Relationship needs a model or an array of models, not \(valueType)")
        }
        let attribute = entry.metadata as? Schema.Attribute ?? Schema.Attribute()
        attribute.name = entry.name
        attribute.valueType = valueType
        attribute.defaultValue = entry.defaultValue
        if attribute.storedType == nil {
            report(entity, entry, "\(valueType) cannot be stored: make it Codable, or mark the property @Transient")
        }
        if attribute.options.contains(.ephemeral) {
            report(
                entity,
                entry,
                "the option ephemeral takes effect only in an @Attribute: mark the property @Transient"
            )
        }
        return attribute
    }

    private mutating func relationship(
        for entry: Schema.PropertyMetadata,
        valueType: any Any.Type,
        of entity: Schema.Entity
    ) -> Schema.Relationship {
        let relationship = entry.metadata as? Schema.Relationship ?? Schema.Relationship()
        if let attribute = entry.metadata as? Schema.Attribute {
            let other = attribute.options.filter { $0 != .unique }
            if !other.isEmpty {
                report(entity, entry, "it leads to models, for which @Attribute(\(other)) has no meaning")
            }
            if attribute.isUnique { relationship.options.append(.unique) }
            relationship.state.originalName = attribute.renamingIdentifier
            relationship.hashModifier = attribute.hashModifier
        }
        relationship.name = entry.name
        relationship.valueType = valueType
        relationship.keypath = entry.keypath
        return relationship
    }

    /// Adds the original name and the distinct rules of single properties, of `#Unique` and of `#Index`.
    private mutating func read(
        _ rules: [any SchemaProperty],
        of type: any PersistentModel.Type,
        into entity: Schema.Entity
    ) {
        var constraints = entity.storedProperties.filter(\.isUnique).map { [$0.name] }
        var indexes: [FetchIndexDescription] = []
        for rule in rules {
            if let rule = rule as? any RenamingRule { entity.originalName = rule.originalName }
            for keyPaths in (rule as? any UniqueRule)?.rules ?? [] {
                let names = names(of: keyPaths, in: type, of: entity, macro: "#Unique")
                if let names, !constraints.contains(names) { constraints.append(names) }
            }
            for (kind, keyPaths) in (rule as? any IndexRule)?.rules ?? [] {
                let names = names(of: keyPaths, in: type, of: entity, macro: "#Index")
                let index = names.map { FetchIndexDescription($0, kind: kind) }
                if let index, !indexes.contains(index) { indexes.append(index) }
            }
        }
        entity.uniquenessConstraints = constraints
        entity.state.indexes = indexes
    }

    private mutating func names(
        of keyPaths: [AnyKeyPath],
        in type: any PersistentModel.Type,
        of entity: Schema.Entity,
        macro: String
    ) -> [String]? {
        let names = keyPaths.map { PropertyLookup.name(of: $0, in: type) }
        guard let unknown = names.firstIndex(of: nil) else { return names.compactMap(\.self) }
        problems.append(
            ModelError.Problem(
                entity: entity.name,
                property: nil,
                text: "\(macro) names \(keyPaths[unknown]), which is not a persisted property of the class itself"
            )
        )
        return nil
    }

    private func nameDestinations() {
        for relationship in classes.flatMap(\.relationships) {
            let entity = entitiesByType[ObjectIdentifier(relationship.destination)]
            relationship.property.destination = entity?.name ?? String(describing: relationship.destination)
        }
    }

    private mutating func report(_ entity: Schema.Entity, _ entry: Schema.PropertyMetadata, _ text: String) {
        problems.append(ModelError.Problem(entity: entity.name, property: entry.name, text: text))
    }
}

/// A model class that is being read into a schema.
struct ModelClass {
    /// A relationship with its destination class.
    struct Relationship {
        let property: Schema.Relationship
        fileprivate(set) var destination: any PersistentModel.Type
        /// The inverse that the declaration names.
        let namedInverse: AnyKeyPath?
    }

    let type: any PersistentModel.Type
    let entity: Schema.Entity
    let superclass: (any PersistentModel.Type)?
    /// The relationships that the class declares.
    let relationships: [Relationship]
}
