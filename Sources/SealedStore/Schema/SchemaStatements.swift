import ObjectGraph

/// The statements that create the tables and indexes of a schema.
struct SchemaStatements {
    private let schema: StoreSchema
    /// The statements, in the order in which they are to run.
    private(set) var all: [String] = []

    init(_ schema: StoreSchema) {
        self.schema = schema
        all = [
            #"CREATE TABLE "_metadata" ("key" TEXT PRIMARY KEY NOT NULL, "value" ANY) STRICT, WITHOUT ROWID"#,
            #"CREATE TABLE "_sequence" ("entity" TEXT PRIMARY KEY NOT NULL, "next" INTEGER NOT NULL) STRICT, WITHOUT ROWID"#,
        ]
        for entity in schema.model.entities where entity.isRoot { addTable(of: entity) }
        for relationship in schema.model.relationships { addJoinTable(of: relationship) }
        for entity in schema.model.entities { addIndexes(of: entity) }
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
            if case .relationship = column.property { addIndex(on: table.name, [column.name]) }
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
        addIndex(on: table.name, [table.member, table.owner])
    }

    private mutating func addIndexes(of entity: Entity) {
        let table = schema.table(of: entity)
        // What the superentity declares was added with it.
        for names in entity.description.uniquenessConstraints {
            let columns = names.compactMap { entity.propertiesByName[$0].flatMap(table.column) }.map(\.name)
            let codes = entity.family.compactMap { table.codes[$0] }.sorted().map(String.init)
            // An inherited property may take the same value in another branch of the inheritance.
            let condition = entity.isRoot ? "" : " WHERE \"_entity\" IN (\(codes.joined(separator: ", ")))"
            addIndex(on: table.name, columns, isUnique: true, condition: condition)
        }
        for index in entity.description.indexes {
            addIndex(
                on: table.name,
                index.properties.compactMap { entity.propertiesByName[$0].flatMap(table.column) }.map(\.name)
            )
        }
    }

    private mutating func addIndex(
        on table: String,
        _ columns: [String],
        isUnique: Bool = false,
        condition: String = ""
    ) {
        let name = SQL.quoted("_index_\(all.count)")
        let list = columns.joined(separator: ", ")
        let statement = " ON \(table) (\(list))\(condition)"
        guard isUnique || !all.contains(where: { $0.hasSuffix(statement) }) else { return }
        all.append("CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name)\(statement)")
    }
}
