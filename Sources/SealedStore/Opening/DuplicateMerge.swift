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

    private let constraints: [Constraint]
    /// Reads the store for the model without the constraints.
    let reading: StoreReading

    /// - Parameters:
    ///   - problems: The problems of the migration to the model of the program.
    ///   - program: Reads the store for that model.
    /// - Returns: Nil if no rule resolves any of the problems.
    init?(_ problems: [MigrationProblem], _ program: StoreReading) throws {
        let rules = program.configuration.duplicateRules
        constraints = problems.compactMap { problem in
            guard case .duplicates(let properties) = problem.kind,
                let entity = program.own.entitiesByName[problem.entity],
                let rule = rules.rule(for: entity)
            else { return nil }
            return Constraint(entity: problem.entity, properties: properties, rule: rule)
        }
        guard !constraints.isEmpty else { return nil }
        let configuration = program.configuration
        reading = try StoreReading(
            Self.model(program.own, without: constraints),
            configuration.duringMigration(holding: nil, configuration.defaultValues, []),
            program.checked,
            removesMissing: program.removesMissing
        )
    }

    /// Merges the duplicates in a store that is migrated to the model without the constraints.
    ///
    /// - Throws: `ObjectGraphError.validation` if a delete rule denies a deletion.
    func run(on database: Database, _ connection: Connection, progress: MigrationProgress?) throws {
        for (number, constraint) in constraints.enumerated() {
            let progress = progress?.part(number, of: constraints.count)
            progress?.begin(MigrationStep(.mergeDuplicates, constraint.entity, constraint.properties))
            try merge(constraint, database, connection, progress)
        }
    }

    private static func model(
        _ own: ManagedObjectModel,
        without constraints: [Constraint]
    ) throws -> ManagedObjectModel {
        var declarations = own.declarations
        for position in declarations.indices {
            let name = declarations[position].name
            let removed = constraints.filter { $0.entity == name }.map(\.properties)
            declarations[position].uniquenessConstraints.removeAll { removed.contains($0) }
            // Merging changes relationships of objects that may have been saved before a validation rule was
            // declared, and that could therefore not be saved again.
            for attribute in declarations[position].attributes.indices {
                declarations[position].attributes[attribute].validation = AttributeValidation()
            }
        }
        return try ManagedObjectModel(entities: declarations)
    }

    // MARK: Merging

    /// The number of groups that are merged in one save. Each fetch of a group evaluates the unsaved changes of the
    /// groups before it.
    private static let groupsAtOnce = 50

    private func merge(
        _ constraint: Constraint,
        _ database: Database,
        _ connection: Connection,
        _ progress: MigrationProgress?
    ) throws {
        let model = reading.own
        let metadata = try StoreContent.read(on: connection).metadata
        let schema = StoreSchema(model: model, names: metadata.names, file: metadata.union)
        guard let entity = model.entitiesByName[constraint.entity],
            let indexed = IndexedTable(entity, schema.table(of: entity), constraint.properties)
        else { return }
        // Each group is found by its values, for which a temporary index is built.
        var names = UniqueNames(try MigratedFile(on: connection).objects.map(\.name))
        let index = DerivedIndex(
            name: "_migration",
            table: indexed.table,
            columns: indexed.columns.map(\.name),
            isUnique: false,
            codes: indexed.codes
        )
        let name = names.add("_migration")
        try connection.interruptible(by: progress) { try connection.execute(index.creation(named: name)) }
        let mixed = indexed.columns.map {
            metadata.columnsOfMixedForms.contains(FileConditions.name(of: $0, in: schema.table(of: entity)))
        }
        let nextGroups = {
            try connection.interruptible(by: progress) { try keysOfGroups(indexed, mixed, on: connection) }
        }
        // A delete rule may delete the object by whose key a group is known. The next pass finds the rest of this
        // group.
        while case let groups = try nextGroups(), !groups.isEmpty {
            for start in stride(from: 0, to: groups.count, by: Self.groupsAtOnce) {
                try progress?.checkCancellation()
                progress?.report(Double(start) / Double(groups.count))
                let keys = groups[start..<min(start + Self.groupsAtOnce, groups.count)]
                let part = try keys.compactMap { try values(indexed, $0, on: connection) }
                try reading.run(
                    { coordinator in
                        let context = ManagedObjectContext(coordinator: coordinator)
                        for values in part {
                            let group = DuplicateGroup(constraint.rule, constraint.properties, values, entity)
                            try group.merge(in: context, progress)
                        }
                        try context.save()
                    },
                    on: database
                )
            }
        }
        try connection.execute("DROP INDEX \(SQL.quoted(name))")
    }

    /// The key of the first object of each group of objects with the same unique values.
    private func keysOfGroups(_ indexed: IndexedTable, _ isMixed: [Bool], on connection: Connection) throws -> [Int64] {
        let names = indexed.columns.map(\.name)
        let conditions = indexed.conditions(on: "t") + names.map { "\($0) IS NOT NULL" }
        let keys = zip(names, isMixed).map { name, isMixed in
            isMixed ? "\(name) COLLATE \(QueryFunctions.name(of: TextOrder.lexical))" : name
        }
        let sql = """
            SELECT min(t."_id") FROM \(indexed.table) AS t\(conditions.joined(behind: "WHERE")) \
            GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1
            """
        return try connection.withUncachedStatement(sql) { row in
            var keys: [Int64] = []
            while try row.step() { keys.append(row.integer(at: 0)) }
            return keys
        }
    }

    /// The unique values of an object; nil if the object was deleted.
    private func values(_ indexed: IndexedTable, _ key: Int64, on connection: Connection) throws -> [Value]? {
        let names = indexed.columns.map(\.name)
        let sql = #"SELECT \#(names.joined(separator: ", ")) FROM \#(indexed.table) WHERE "_id" = ?"#
        return try connection.withStatement(sql) { row in
            try row.bind(key, at: 1)
            return try row.step() ? names.indices.map { row.value(at: Int32($0)) } : nil
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

    /// The number of objects that are deleted in one save. Each fetch evaluates the objects that were changed since the
    /// last save.
    private static let objectsAtOnce = 250

    /// Keeps the first object of the group and deletes its duplicates, with a save after each part of a large group.
    func merge(in context: ManagedObjectContext, _ progress: MigrationProgress?) throws {
        var request = FetchRequest(entity, predicate: predicate, sort: rule.querySort(of: entity) ?? [])
        request.limit = 1 + Self.objectsAtOnce
        let store = context.coordinator.sealedStores.first
        while true {
            try progress?.checkCancellation()
            let objects = try context.fetch(request, as: ManagedObject.self)
            let kept = try rule.keptObject(of: objects, entity) { try store?.globalIdentifier(of: $0.managedObjectID) }
            guard let kept else { return }
            for object in objects where object !== kept {
                if rule.relationships == .moveToKeptObject {
                    try moveRelationships(of: object, to: kept, context)
                }
                context.delete(object)
            }
            guard objects.count > Self.objectsAtOnce else { return }
            try context.save()
            context.reset()
        }
    }

    /// Whether an object has the values of the group.
    private func contains(_ object: any GraphObject) throws -> Bool {
        guard let object = object as? ManagedObject, object.entity.isKind(of: entity) else { return false }
        return try QueryEvaluator().isTrue(predicate, for: object)
    }

    private func moveRelationships(
        of object: ManagedObject,
        to kept: ManagedObject,
        _ context: ManagedObjectContext
    ) throws {
        for relationship in object.entity.relationships
        where kept.entity.relationship(named: relationship.name) === relationship {
            let name = relationship.name
            if relationship.isToMany {
                let members = object.members(forRelationship: name)
                object.setMembers([], forRelationship: name)
                for member in members where try !contains(member) { kept.addMember(member, forRelationship: name) }
            } else if let destination = object.destination(forRelationship: name), try !contains(destination),
                kept.destination(forRelationship: name) == nil
            {
                object.setDestination(nil, forRelationship: name)
                kept.setDestination(destination, forRelationship: name)
            }
        }
        for relationship in context.model.relationships
        where relationship.inverse == nil && object.entity.isKind(of: relationship.destination) {
            for owner in try owners(of: object, relationship, context) where try !contains(owner) {
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
