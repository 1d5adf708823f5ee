import ObjectGraph

/// Turns the entities of a schema into a linked model.
struct SchemaLinker {
    private let schema: Schema

    init(_ schema: Schema) { self.schema = schema }

    /// - Throws: ``SwiftDataError/modelValidationFailure`` with the schema's known problems and the problems of the
    ///   linked model.
    func model() throws(SwiftDataError) -> ManagedObjectModel {
        var problems =
            schema.problems + schema.entities.flatMap(Self.differences) + schema.entities.flatMap(classProblems)
        do {
            let model = try ManagedObjectModel(entities: declarations)
            if problems.isEmpty { return model }
        } catch {
            problems += error.problems.filter { !problems.contains($0) }
        }
        let error = ModelError(problems: problems)
        throw SwiftDataError(.modelValidationFailure, "\(error)", cause: error)
    }

    /// Returns the differences between an entity, which may have been changed or decoded, and its class. An object has
    /// exactly the properties that its class declares.
    private static func differences(_ entity: Schema.Entity) -> [ModelError.Problem] {
        guard let type = entity.modelType else { return [] }
        let declared = PropertyLookup.properties(of: type).names
        let described = entity.properties.map(\.name)
        guard declared != described else { return [] }
        return [
            ModelError.Problem(
                entity: entity.name,
                property: nil,
                text: "the schema has the properties \(described.joined(separator: ", ")), and class \(type) has "
                    + "\(declared.joined(separator: ", ")); make a new schema from the classes"
            )
        ]
    }

    /// Returns a problem if a fetch of an entity's superentity could not return its objects as objects of a class.
    private func classProblems(_ entity: Schema.Entity) -> [ModelError.Problem] {
        guard let type = entity.modelType, let name = entity.superentityName,
            let superentity = schema.entities.first(where: { $0.name == name }),
            !(superentity.modelType.map { Self.isKind(type, of: $0) } ?? false)
        else { return [] }
        let reason = superentity.modelType.map { "class \(type) does not inherit from \($0)" } ?? "it has no class"
        let text = "'\(name)' is not its superentity: \(reason); make a new schema from the classes"
        return [ModelError.Problem(entity: entity.name, property: nil, text: text)]
    }

    private static func isKind<Other: PersistentModel>(_ type: any PersistentModel.Type, of other: Other.Type) -> Bool {
        type is Other.Type
    }

    /// Returns a model for objects outside any container, regardless of problems of the schema. It has the slots, types
    /// and valid inverses of the schema, without the rules that only a store enforces.
    func lenientModel() throws(ModelError) -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(entities: declarations)
        } catch {
            return try ManagedObjectModel(entities: declarations.map(Self.lenient))
        }
    }

    private static func lenient(_ declaration: EntityDescription) -> EntityDescription {
        var lenient = declaration
        lenient.indexes = []
        lenient.uniquenessConstraints = []
        for index in lenient.attributes.indices { lenient.attributes[index].allowsExternalStorage = false }
        for index in lenient.relationships.indices {
            lenient.relationships[index].minimumCount = 0
            lenient.relationships[index].maximumCount = 0
        }
        return lenient
    }

    var declarations: [EntityDescription] { schema.entities.map(declaration) }

    private func declaration(of entity: Schema.Entity) -> EntityDescription {
        let properties = entity.storedProperties
        var constraints = entity.uniquenessConstraints
        for property in properties where property.isUnique && !constraints.contains([property.name]) {
            constraints.append([property.name])
        }
        return EntityDescription(
            entity.name,
            superentity: entity.superentityName,
            attributes: properties.compactMap { ($0 as? Schema.Attribute).map(declaration) },
            relationships: properties.compactMap { ($0 as? Schema.Relationship).map(declaration) },
            propertyOrder: properties.map(\.name),
            indexes: entity.state.indexes,
            uniquenessConstraints: constraints,
            renamingIdentifier: entity.renamingIdentifier
        )
    }

    private func declaration(of attribute: Schema.Attribute) -> AttributeDescription {
        AttributeDescription(
            attribute.name,
            // A type that cannot be stored is a problem of the schema; the property keeps its slot.
            attribute.storedType ?? .composite,
            isOptional: attribute.isOptional,
            allowsExternalStorage: attribute.options.contains(.externalStorage),
            renamingIdentifier: attribute.renamingIdentifier,
            preservesValueOnDeletion: attribute.options.contains(.preserveValueOnDeletion)
        )
    }

    private func declaration(of relationship: Schema.Relationship) -> RelationshipDescription {
        RelationshipDescription(
            relationship.name,
            to: relationship.destination,
            relationship.isToOneRelationship ? .one : .many,
            inverse: relationship.state.sharesInverse ? nil : relationship.inverseName,
            sharedInverse: relationship.state.sharesInverse ? relationship.inverseName : nil,
            deleteRule: RelationshipDescription.DeleteRule(relationship.deleteRule),
            isOptional: relationship.isOptional,
            minimumCount: relationship.minimumModelCount ?? 0,
            maximumCount: relationship.maximumModelCount ?? 0,
            renamingIdentifier: relationship.renamingIdentifier
        )
    }
}

extension RelationshipDescription.DeleteRule {
    init(_ rule: Schema.Relationship.DeleteRule) {
        switch rule {
        case .noAction: self = .noAction
        case .nullify: self = .nullify
        case .cascade: self = .cascade
        case .deny: self = .deny
        }
    }
}
