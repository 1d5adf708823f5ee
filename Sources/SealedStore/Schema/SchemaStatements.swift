import ObjectGraph

/// The statements that create the tables and indexes of a schema.
struct SchemaStatements {
    private let schema: StoreSchema
    /// The statements, in the order in which they are to run.
    private(set) var all: [String] = []
    private var names: UniqueNames

    /// Those for the tables that every store has.
    static let own = [
        #"CREATE TABLE "_metadata" ("key" TEXT PRIMARY KEY NOT NULL, "value" ANY) STRICT, WITHOUT ROWID"#,
        #"CREATE TABLE "_sequence" ("entity" TEXT PRIMARY KEY NOT NULL, "next" INTEGER NOT NULL) STRICT, WITHOUT ROWID"#,
    ]

    init(_ schema: StoreSchema) {
        self.schema = schema
        names = UniqueNames(schema.names.tableNames, schema.names.indexes)
        all = Self.own
        for entity in schema.model.entities where entity.isRoot { addTable(of: entity) }
        for relationship in schema.model.relationships { addJoinTable(of: relationship) }
        for entity in schema.model.entities { addConstraints(of: entity) }
        for index in schema.indexes { all += index.creation }
    }

    private mutating func addTable(of root: Entity) {
        let table = schema.table(of: root)
        var columns = [#""_id" INTEGER PRIMARY KEY NOT NULL"#]
        if table.hasEntityColumn { columns.append(#""_entity" INTEGER NOT NULL"#) }
        columns.append(#""_version" INTEGER NOT NULL DEFAULT 1"#)
        columns += table.columns.map { "\($0.name) \($0.storage.rawValue.uppercased())" }
        columns += table.positionColumns.values.sorted().map { "\($0) INTEGER" }
        all.append("CREATE TABLE \(table.name) (\(columns.joined(separator: ", "))) STRICT")
        for column in table.columns {
            // A key is looked up when the other side is read, and when it is deleted.
            guard case .relationship(let relationship) = column.property else { continue }
            addIndex("_index_\(relationship.source.name)_\(relationship.name)", on: table.name, [column.name])
        }
    }

    private mutating func addJoinTable(of relationship: Relationship) {
        guard relationship.placement == .joinTable(isCanonical: true),
            let table = schema.joinTables[relationship.index]
        else { return }
        let inverse = relationship.inverse.flatMap { $0 === relationship ? nil : schema.joinTables[$0.index] }
        var columns = [
            "\(table.owner) INTEGER NOT NULL", "\(table.member) INTEGER NOT NULL",
        ]
        columns += [table.position, inverse?.position].compactMap { $0.map { "\($0) INTEGER" } }
        columns.append("PRIMARY KEY (\(table.owner), \(table.member))")
        all.append("CREATE TABLE \(table.name) (\(columns.joined(separator: ", "))) STRICT, WITHOUT ROWID")
        let name = "_index_\(relationship.source.name)_\(relationship.name)_reverse"
        addIndex(name, on: table.name, [table.member, table.owner])
    }

    private mutating func addConstraints(of entity: Entity) {
        // What the superentity declares was added with it.
        for properties in entity.description.uniquenessConstraints {
            guard let indexed = IndexedTable(entity, schema.table(of: entity), properties) else { continue }
            addIndex(
                "_unique_\(entity.name)_\(properties.joined(separator: "_"))",
                on: indexed.table,
                indexed.columns.map(\.name),
                isUnique: true,
                // An inherited property may take the same value in another branch of the inheritance.
                condition: indexed.conditions(on: indexed.table).joined(behind: "WHERE")
            )
        }
    }

    private mutating func addIndex(
        _ name: String,
        on table: String,
        _ columns: [String],
        isUnique: Bool = false,
        condition: String = ""
    ) {
        let name = SQL.quoted(names.add(name))
        all.append(
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(table) (\(columns.joined(separator: ", ")))\(condition)"
        )
    }
}
