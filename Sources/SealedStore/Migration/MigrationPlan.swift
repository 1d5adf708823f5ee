import EncryptedSQLite
import ObjectGraph

/// The steps that migrate a store from the model in its file to a new model, and the conditions that its data must
/// meet.
///
/// The plan is derived from descriptions only: it reads no row and writes nothing.
struct MigrationPlan {
    /// The metadata of the store after the migration.
    let metadata: StoreMetadataTable
    /// The steps, in order.
    let steps: [MigrationStep]
    /// The conditions on the data.
    let checks: [MigrationCheck]
    /// The input of the plan.
    let context: MigrationContext
    /// The schema after the migration.
    let schema: StoreSchema
    /// The tables before the migration, with the columns that they have after it.
    let sources: TableSources

    /// The next key of each root entity, by name.
    var nextKeys: [String: Int64] { context.nextKeys.compactMapValues(\.self) }

    /// Whether tables or indexes change.
    var changesTables: Bool { steps.contains { $0.kind != .recordModel } }

    /// The models after a migration.
    struct Target {
        /// The model of the program.
        let own: ManagedObjectModel
        /// The model of the tables, see ``ModelUnion``.
        let union: ManagedObjectModel
        /// Whether the migration is refused if data has no place in ``union``.
        let refusesLosses: Bool
        /// Whether the file stays as it is, and the store is only read with the model.
        var isForReading = false
    }

    /// - Parameter file: The state of the file to which the metadata belong.
    init(
        from old: StoreMetadataTable,
        to target: Target,
        _ file: MigratedFile,
        defaultValues: SealedStore.DefaultValues?
    ) throws {
        let context = MigrationContext(
            from: old,
            to: target.union,
            file,
            defaultValues: defaultValues,
            adoptsSubentities: target.isForReading
        )
        let tables = zip(context.roots, context.sources).map { TableMigration($0, $1, context) }
        var statements = MigrationStatements(context, tables)
        statements.build()
        steps = statements.steps
        checks = MigrationChecks(context, tables, target).all
        schema = context.newSchema
        sources = TableSources(context, tables)
        self.context = context
        metadata = StoreMetadataTable(
            uuid: old.uuid,
            formatVersion: old.formatVersion,
            hasLargeValues: old.hasLargeValues,
            model: try Self.recorded(target.own, context.newSchema.names),
            union: target.union === target.own ? nil : try Self.recorded(target.union, context.newSchema.names),
            names: context.newSchema.names,
            columnsOfMixedForms: tables.reduce(into: []) { $0.formUnion($1.mixedColumns) },
            modelVersion: old.modelVersion,
            migrationCount: old.migrationCount + 1,
            history: old.history
        )
    }

    /// The model with the indexes of the store, as a store records it. Indexes of other programs stay declared if the
    /// model has their properties.
    static func recorded(_ model: ManagedObjectModel, _ names: SchemaNames) throws -> ManagedObjectModel {
        var declarations = model.declarations.map(\.recorded)
        for position in declarations.indices {
            let properties = model.entities[position].propertiesByName
            for index in names.indexes
            where index.entity == declarations[position].name && !declarations[position].indexes.contains(index.index)
                && index.index.properties.allSatisfy({ properties[$0] != nil })
            {
                declarations[position].indexes.append(index.index)
            }
        }
        return try ManagedObjectModel(entities: declarations)
    }
}

extension EntityDescription {
    /// The recorded form of the declaration, without the rules that a store does not record.
    var recorded: EntityDescription {
        var declaration = self
        for position in declaration.attributes.indices {
            declaration.attributes[position].validation = AttributeValidation()
            declaration.attributes[position].defaultValue = nil
            declaration.attributes[position].preservesValueOnDeletion = false
        }
        return declaration
    }
}

/// A condition that the data of a store must meet before a migration.
struct MigrationCheck {
    let entity: String
    let property: String?
    let kind: MigrationProblem.Kind
    /// The statement that counts the rows that violate the condition.
    let sql: String

    /// Counts the rows that violate the condition.
    ///
    /// - Complexity: O(*n*) in the number of rows.
    func count(on connection: Connection) throws -> Int {
        try connection.withUncachedStatement(sql) { statement in
            try statement.step() ? Int(statement.integer(at: 0)) : 0
        }
    }

    /// The problems that the checks find in a file.
    ///
    /// - Parameter count: Returns the number of rows that violate the condition of the check at a position.
    static func problems(
        _ checks: [MigrationCheck],
        _ count: (Int, MigrationCheck) throws -> Int
    ) rethrows -> [MigrationProblem] {
        struct Place: Hashable {
            let entity: String
            let property: String?
            let kind: MigrationProblem.Kind
        }
        var order: [Place] = []
        var rows: [Place: Int] = [:]
        for (number, check) in checks.enumerated() {
            let count = try count(number, check)
            guard count > 0 else { continue }
            let place = Place(entity: check.entity, property: check.property, kind: check.kind)
            if rows[place] == nil { order.append(place) }
            rows[place, default: 0] += count
        }
        return order.map {
            MigrationProblem(entity: $0.entity, property: $0.property, kind: $0.kind, rows: rows[$0] ?? 0)
        }
    }
}
