import EncryptedSQLite
import ObjectGraph

/// Deletes the duplicates of uniqueness constraints that a migration adds, by the rules of the program.
///
/// The store is first migrated to the new model without these constraints. Its objects are then merged through a
/// context, which applies delete rules and keeps inverses. The constraints are added afterwards. All of it is one
/// transaction.
struct DuplicateMerge {
    /// A constraint whose duplicates a rule resolves.
    private struct Constraint {
        let entity: String
        let properties: [String]
        let rule: DuplicateRule
    }

    let opening: StoreOpening
    let reading: StoreReading
    let database: Database

    /// Migrates the store to the model without the added constraints that have duplicates, and merges these. Without
    /// duplicates that a rule resolves, it does nothing.
    ///
    /// - Returns: Whether it has changed the store.
    /// - Throws: ``SealedStoreError``; `ObjectGraphError.validation` if a delete rule denies a deletion.
    func run(on connection: Connection, progress: MigrationProgress?) throws -> Bool {
        let constraints = try constraints(on: connection)
        guard !constraints.isEmpty else { return false }
        let relaxed = try model(without: constraints)
        var description = opening.description
        description.entityNames = nil
        description.options[SealedStore.modelVersionOption] = nil
        description.options[SealedStore.migrationStagesOption] = nil
        description.options[SealedStore.duplicateRulesOption] = nil
        let opening = StoreOpening(model: relaxed, description: description)
        _ = try opening.reading(relaxed).update(on: connection, progress: progress)
        for constraint in constraints {
            try merge(constraint, of: relaxed, opening, connection, progress)
        }
        return true
    }

    /// The added constraints that have duplicates and a rule.
    private func constraints(on connection: Connection) throws -> [Constraint] {
        guard !reading.duplicateRules.isEmpty, reading.allowsMigration else { return [] }
        let (stored, fingerprint) = try SchemaPlan.metadata(on: connection)
        guard case .shape = ModelChange.from(stored.model, to: reading.own) else { return [] }
        let plan = try reading.migration(from: stored, fingerprint, on: connection)
        return try plan.checks.compactMap { check in
            guard case .duplicates(let properties) = check.kind,
                let entity = reading.own.entitiesByName[check.entity],
                let rule = reading.duplicateRules.rule(for: entity),
                try !MigrationCheck.problems([check], on: connection).isEmpty
            else { return nil }
            return Constraint(entity: check.entity, properties: properties, rule: rule)
        }
    }

    private func model(without constraints: [Constraint]) throws -> ManagedObjectModel {
        var declarations = reading.own.declarations
        for position in declarations.indices {
            let name = declarations[position].name
            let removed = constraints.filter { $0.entity == name }.map(\.properties)
            declarations[position].uniquenessConstraints.removeAll { removed.contains($0) }
            // Merging changes relationships of objects that may have been saved before a rule was declared.
            for attribute in declarations[position].attributes.indices {
                declarations[position].attributes[attribute].validation = AttributeValidation()
            }
        }
        return try ManagedObjectModel(entities: declarations)
    }

    // MARK: Merging

    /// The number of groups that are merged in one save.
    private static let groupsAtOnce = 200

    private func merge(
        _ constraint: Constraint,
        of model: ManagedObjectModel,
        _ opening: StoreOpening,
        _ connection: Connection,
        _ progress: MigrationProgress?
    ) throws {
        let metadata = try SchemaPlan.metadata(on: connection).metadata
        let schema = StoreSchema(model: model, names: metadata.names)
        guard let entity = model.entitiesByName[constraint.entity],
            let indexed = IndexedTable(entity, schema.table(of: entity), constraint.properties)
        else { return }
        // Each group is found by its values.
        var names = UniqueNames(try MigratedFile(on: connection).objects.map(\.name))
        let index = DerivedIndex(
            name: "_migration",
            table: indexed.table,
            columns: indexed.columns.map(\.name),
            isUnique: false,
            codes: indexed.codes
        )
        let name = names.add("_migration")
        try connection.execute(index.creation(named: name))
        let mixed = indexed.columns.map {
            metadata.columnsOfMixedForms.contains(FileConditions.name(of: $0, in: schema.table(of: entity)))
        }
        let groups = try groups(indexed, mixed, on: connection)
        for start in stride(from: 0, to: groups.count, by: Self.groupsAtOnce) {
            try progress?.checkCancellation()
            let part = groups[start..<min(start + Self.groupsAtOnce, groups.count)]
            try opening.run(
                { coordinator in
                    let context = ManagedObjectContext(coordinator: coordinator)
                    for values in part {
                        try DuplicateGroup(constraint.rule, constraint.properties, values, entity).merge(in: context)
                    }
                    try context.save()
                },
                on: database
            )
        }
        try connection.execute("DROP INDEX \(SQL.quoted(name))")
    }

    /// The unique values that several objects have.
    private func groups(_ indexed: IndexedTable, _ isMixed: [Bool], on connection: Connection) throws -> [[Value]] {
        let names = indexed.columns.map(\.name)
        let conditions = indexed.conditions(on: "t") + names.map { "\($0) IS NOT NULL" }
        let keys = zip(names, isMixed).map { name, isMixed in
            isMixed ? "\(name) COLLATE \(QueryFunctions.name(of: TextOrder.lexical))" : name
        }
        let sql = """
            SELECT \(names.joined(separator: ", ")) FROM \(indexed.table) AS t\(conditions.joined(behind: "WHERE")) \
            GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1
            """
        return try connection.withUncachedStatement(sql) { row in
            var groups: [[Value]] = []
            while try row.step() { groups.append(names.indices.map { row.value(at: Int32($0)) }) }
            return groups
        }
    }
}

/// The objects of an entity that have the same unique values.
private struct DuplicateGroup {
    private let rule: DuplicateRule
    private let entity: Entity
    private let predicate: QueryExpression

    init(_ rule: DuplicateRule, _ properties: [String], _ values: [Value], _ entity: Entity) {
        self.rule = rule
        self.entity = entity
        predicate = .and(
            zip(properties, values).compactMap { name, value in
                entity.propertiesByName[name].map { .comparison(.equal, .path($0), .literal(value)) }
            }
        )
    }

    /// Keeps the first object and deletes the others.
    func merge(in context: ManagedObjectContext) throws {
        let request = FetchRequest(entity, predicate: predicate, sort: rule.querySort(of: entity) ?? [])
        let objects = try context.fetch(request, as: ManagedObject.self)
        guard let kept = objects.first else { return }
        for object in objects.dropFirst() {
            if rule.relationships == .moveToKeptObject {
                try moveRelationships(of: object, to: kept, among: objects, context)
            }
            context.delete(object)
        }
    }

    private func moveRelationships(
        of object: ManagedObject,
        to kept: ManagedObject,
        among group: [ManagedObject],
        _ context: ManagedObjectContext
    ) throws {
        let isInGroup = { (other: any GraphObject) in group.contains { $0 === other } }
        for relationship in object.entity.relationships
        where kept.entity.relationship(named: relationship.name) === relationship {
            let name = relationship.name
            if relationship.isToMany {
                let members = object.members(forRelationship: name)
                object.setMembers([], forRelationship: name)
                for member in members where !isInGroup(member) { kept.addMember(member, forRelationship: name) }
            } else if let destination = object.destination(forRelationship: name), !isInGroup(destination),
                kept.destination(forRelationship: name) == nil
            {
                object.setDestination(nil, forRelationship: name)
                kept.setDestination(destination, forRelationship: name)
            }
        }
        for relationship in context.model.relationships
        where relationship.inverse == nil && object.entity.isKind(of: relationship.destination) {
            for owner in try owners(of: object, relationship, context) where !isInGroup(owner) {
                if relationship.isToMany {
                    owner.addMember(kept, forRelationship: relationship.name)
                    owner.removeMember(object, forRelationship: relationship.name)
                } else {
                    owner.setDestination(kept, forRelationship: relationship.name)
                }
            }
        }
    }

    /// The objects that refer to an object by a relationship without an inverse.
    private func owners(
        of object: ManagedObject,
        _ relationship: Relationship,
        _ context: ManagedObjectContext
    ) throws -> [ManagedObject] {
        let key = QueryExpression.literal(.integer(object.managedObjectID.key))
        let path = Property.relationship(relationship)
        let condition: QueryExpression =
            relationship.isToMany
            ? .quantified(
                .any,
                .members(from: 0, [path]),
                variable: 1,
                condition: .comparison(.equal, .variable(1), key)
            ) : .comparison(.equal, .path(path), key)
        return try context.fetch(FetchRequest(relationship.source, predicate: condition), as: ManagedObject.self)
    }
}
