import EncryptedSQLite
import ObjectGraph

/// The part of a file's state that a migration depends on, apart from its metadata.
struct MigratedFile {
    /// The objects of the schema.
    let objects: [Object]
    /// The next key of each root entity, by name.
    let nextKeys: [String: Int64]
    /// The indexes that are not unique.
    let indexes: [ForeignIndex]

    /// An object of the schema.
    struct Object {
        let type: String
        let name: String
        let table: String
        /// The statement of the object; nil for an index that SQLite has created.
        let sql: String?
    }

    init(on connection: Connection) throws {
        objects = try connection.withUncachedStatement(SchemaText.sql) { row in
            var objects: [Object] = []
            while try row.step() {
                objects.append(
                    Object(
                        type: row.string(at: 0),
                        name: row.string(at: 1),
                        table: row.string(at: 2),
                        sql: row.isNull(at: 3) ? nil : row.string(at: 3)
                    )
                )
            }
            return objects
        }
        nextKeys = try PrimaryKeySequences.nextKeys(on: connection)
        indexes = try ForeignIndex.all(on: connection)
    }

    /// The definition of a table.
    func definition(ofTable name: String) -> TableDefinition? {
        objects.first { $0.type == "table" && SQL.quoted($0.name) == name }?.sql.flatMap(TableDefinition.init)
    }

    /// The names of the indexes of the file that have the given definition.
    func names(of index: DerivedIndex) -> [String] {
        objects.filter { $0.type == "index" && $0.sql == index.creation(named: $0.name) }.map(\.name)
    }
}

/// The input that all parts of a migration share.
struct MigrationContext {
    let mapping: ModelMapping
    /// The metadata of the store before the migration.
    let old: StoreMetadataTable
    let file: MigratedFile
    let oldSchema: StoreSchema
    let newSchema: StoreSchema
    /// The old tables of each new root entity, at the positions of `roots`.
    let sources: [[RowSource]]
    /// The root entities of the new model.
    let roots: [Entity]
    /// The next key of each root entity of the new model, by name; nil if it exceeds 64 bits.
    let nextKeys: [String: Int64?]
    private let defaultValues: SealedStore.DefaultValues?
    private var relationships: [RelationshipMapping] = []

    init(
        from old: StoreMetadataTable,
        to model: ManagedObjectModel,
        _ file: MigratedFile,
        defaultValues: SealedStore.DefaultValues?,
        adoptsSubentities: Bool = false
    ) {
        self.old = old
        self.file = file
        self.defaultValues = defaultValues
        var mapping = ModelMapping(from: old.fileModel, to: model)
        if adoptsSubentities { mapping.adoptSubentities() }
        self.mapping = mapping
        let adopted = mapping.adopted.sorted { $0.key.index < $1.key.index }.map { (old: $0.key, new: $0.value) }
        let oldSchema = StoreSchema(model: old.fileModel, names: old.names)
        self.oldSchema = oldSchema
        // Tables, and the objects that belong to tables, get new names.
        let tables = oldSchema.tables.map(\.name) + oldSchema.joinTables.compactMap { $0?.name }
        let ownTables = Set(tables.map { SQL.foldedName(SQL.unquoted($0)) })
        let foreign = file.objects.map(\.name).filter { !ownTables.contains(SQL.foldedName($0)) }
        newSchema = StoreSchema(
            model: model,
            names: SchemaNames(migrating: old.names, mapping, avoiding: UniqueNames(foreign))
        )
        roots = model.entities.filter(\.isRoot)
        var sources: [[RowSource]] = []
        var nextKeys: [String: Int64?] = [:]
        for root in roots {
            let (rows, next) = Self.sources(of: root, mapping, adopted, oldSchema, file)
            sources.append(rows)
            nextKeys[root.name] = .some(next)
        }
        self.sources = sources
        self.nextKeys = nextKeys
        let roots = roots
        let offset = { (oldRoot: Entity, newRoot: Entity) -> Int64 in
            let position = roots.firstIndex(of: newRoot) ?? 0
            return sources[position].first { $0.oldRoot == oldRoot }?.keyOffset ?? 0
        }
        relationships = model.relationships.map { RelationshipMapping($0, mapping, oldSchema, offset: offset) }
    }

    func pairs(of relationship: Relationship) -> RelationshipMapping { relationships[relationship.index] }

    /// The value that an attribute gets in rows without a value.
    func defaultValue(of attribute: Attribute) -> Value? {
        if let value = attribute.description.defaultValue { return value }
        guard let value = defaultValues?(attribute.declaringEntityName, attribute.name), value != .null,
            value.isRepresentable(as: attribute.type)
        else { return nil }
        return value
    }

    /// The old tables that supply the rows for the table of a new root entity. The rows of the first table keep their
    /// keys; the rows of each further table get keys after all keys of the previous tables.
    private static func sources(
        of root: Entity,
        _ mapping: ModelMapping,
        _ adopted: [(old: Entity, new: Entity)],
        _ oldSchema: StoreSchema,
        _ file: MigratedFile
    ) -> (sources: [RowSource], next: Int64?) {
        var sources: [RowSource] = []
        var offset: Int64? = 0
        for member in root.family {
            guard let old = mapping.old(of: member) else { continue }
            let oldRoot = mapping.old.root(of: old)
            guard !sources.contains(where: { $0.oldRoot == oldRoot }) else { continue }
            let members = root.family.compactMap { new in
                mapping.old(of: new).flatMap { old in
                    old.rootIndex == oldRoot.index && !old.isAbstract ? (old: old, new: new) : nil
                }
            }
            sources.append(
                RowSource(
                    oldRoot: oldRoot,
                    oldTable: oldSchema.table(of: oldRoot),
                    members: members
                        + adopted.filter { $0.old.rootIndex == oldRoot.index && root.family.contains($0.new) },
                    keyOffset: offset ?? 0
                )
            )
            let next = max(file.nextKeys[oldRoot.name] ?? 1, 1)
            offset = offset.flatMap {
                let (sum, overflow) = $0.addingReportingOverflow(next - 1)
                return overflow || sum == .max ? nil : sum
            }
        }
        return (sources, offset.map { $0 + 1 })
    }
}
