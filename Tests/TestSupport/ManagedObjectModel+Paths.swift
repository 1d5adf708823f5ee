package import QueryLanguage

extension ManagedObjectModel {
    /// A valid model.
    package static func valid(_ entities: EntityDescription...) -> ManagedObjectModel {
        do { return try ManagedObjectModel(entities: entities) } catch { fatalError("\(error)") }
    }

    package func path(_ entity: String, _ names: String...) -> QueryExpression {
        .path(from: 0, properties(entity, names))
    }

    package func path(_ variable: Int, _ entity: String, _ names: String...) -> QueryExpression {
        .path(from: variable, properties(entity, names))
    }

    package func properties(_ entity: String, _ names: [String]) -> [Property] {
        var entity = entitiesByName[entity]!
        return names.map { name in
            let property = entity.propertiesByName[name]!
            if case .relationship(let relationship) = property { entity = relationship.destination }
            return property
        }
    }
}
