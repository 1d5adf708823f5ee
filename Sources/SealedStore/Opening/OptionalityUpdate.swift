import EncryptedSQLite
import ObjectGraph

/// Brings the model that a store records up to date where the program's model differs in which properties are optional.
///
/// Columns allow NULL in any case, so that the tables stay as they are. A property that is not optional any more must have
/// a value in every row: a property that reads as empty is not what the model promises. The store records a property that
/// has become optional before the first NULL is written, so that a program with the earlier model counts the rows again.
struct OptionalityUpdate {
    private let stored: StoreMetadataTable
    private let current: ManagedObjectModel
    /// The properties of the current model that differ, each with the entity that declares it.
    private let changed: [(entity: Entity, property: Property)]

    init(from stored: StoreMetadataTable, to current: ManagedObjectModel) {
        self.stored = stored
        self.current = current
        changed = current.entities.flatMap { entity -> [(entity: Entity, property: Property)] in
            // Models of equal declarations share their entities.
            guard let other = stored.model.entitiesByName[entity.name], other !== entity else { return [] }
            return entity.properties.compactMap { property in
                guard !property.isToManyRelationship, entity.superentity?.propertiesByName[property.name] == nil,
                    let old = other.propertiesByName[property.name], old.isOptional != property.isOptional
                else { return nil }
                return (entity, property)
            }
        }
    }

    var isNeeded: Bool { !changed.isEmpty }

    /// Makes sure that no row is without a value for a property that is not optional any more.
    ///
    /// - Throws: ``SealedStoreError/modelMismatch(_:)`` with the number of rows for each property.
    /// - Complexity: O(number of rows), until a store that may be written to has recorded the rule.
    func requireValues(on connection: Connection) throws {
        guard changed.contains(where: { !$0.property.isOptional }) else { return }
        let schema = StoreSchema(model: current, names: stored.names)
        var differences: [String] = []
        for (entity, property) in changed where !property.isOptional {
            let table = schema.table(of: entity)
            guard let column = table.column(of: property) else { continue }
            var conditions = ["\(column.name) IS NULL"]
            if table.hasEntityColumn {
                let codes = entity.family.compactMap { table.codes[$0] }.map(String.init)
                conditions.append(#""_entity" IN (\#(codes.joined(separator: ", ")))"#)
            }
            let sql = "SELECT count(*) FROM \(table.name) WHERE \(conditions.joined(separator: " AND "))"
            let count = try connection.withStatement(sql) { statement in
                try statement.step() ? statement.integer(at: 0) : 0
            }
            guard count > 0 else { continue }
            differences.append(
                "property '\(entity.name).\(property.name)' is not optional any more, and \(count) row(s) have no value for it"
            )
        }
        guard differences.isEmpty else { throw SealedStoreError.modelMismatch(differences) }
    }

    /// Checks the rows and records the current model's rules, in a transaction.
    ///
    /// - Returns: What the store says of itself now.
    /// - Throws: ``SealedStoreError/modelMismatch(_:)``.
    func run(on connection: Connection) throws -> StoreMetadataTable {
        try requireValues(on: connection)
        let updated = StoreMetadataTable(
            uuid: stored.uuid,
            formatVersion: stored.formatVersion,
            model: try ManagedObjectModel(entities: stored.model.declarations.map(withCurrentRules)),
            names: stored.names,
            columnsOfMixedForms: stored.columnsOfMixedForms
        )
        try updated.write(on: connection)
        // Programs that have the file open still allow NULL.
        try StoreMetadataTable.announceChange(on: connection)
        return updated
    }

    private func withCurrentRules(_ declaration: EntityDescription) -> EntityDescription {
        guard let properties = current.entitiesByName[declaration.name]?.propertiesByName else { return declaration }
        var declaration = declaration
        for position in declaration.attributes.indices {
            guard let property = properties[declaration.attributes[position].name] else { continue }
            declaration.attributes[position].isOptional = property.isOptional
        }
        for position in declaration.relationships.indices {
            guard let property = properties[declaration.relationships[position].name] else { continue }
            declaration.relationships[position].isOptional = property.isOptional
        }
        return declaration
    }
}

extension Property {
    fileprivate var isToManyRelationship: Bool {
        if case .relationship(let relationship) = self { relationship.isToMany } else { false }
    }
}
