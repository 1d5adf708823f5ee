import ObjectGraph

/// The tables of a store as subqueries with the columns of another model, for a store that is read without a migration.
///
/// SQLite merges such a subquery into the statement that contains it, so that the indexes of the table are used.
struct TableSources: Hashable, Sendable {
    /// The subqueries by the names of root entities. Entities whose table has all columns are missing.
    private(set) var tables: [String: String] = [:]
    /// The subqueries by the recorded names of join tables.
    private(set) var joinTables: [String: String] = [:]
    /// The declared indexes that the store has under the same names.
    private(set) var indexes: [SchemaNames.IndexName] = []
    /// The reasons why the store cannot be read with the model, one on each line.
    private(set) var obstacles: [String] = []

    init(_ context: MigrationContext, _ tables: [TableMigration]) {
        for table in tables { add(table) }
        for relationship in context.mapping.new.relationships
        where relationship.placement == .joinTable(isCanonical: true) {
            add(relationship, context)
        }
        indexes = context.newSchema.names.indexes.filter { name in
            guard let old = context.oldSchema.names.indexes.first(where: { $0.name == name.name }),
                old.index.kind == name.index.kind
            else { return false }
            let (oldSchema, newSchema) = (context.oldSchema, context.newSchema)
            let before = SchemaIndex(old, model: oldSchema.model, table: oldSchema.table)?.indexedTable
            let after = SchemaIndex(name, model: newSchema.model, table: newSchema.table)?.indexedTable
            guard let before, let after else { return false }
            return before.table == after.table && before.codes == after.codes
                && before.columns.map(\.name) == after.columns.map(\.name)
        }
    }

    private mutating func add(_ table: TableMigration) {
        guard table.sources.count <= 1 else {
            obstacles.append("the objects of '\(table.root.name)' and its subentities come from several tables")
            return
        }
        guard let source = table.sources.first else {
            var names = [#""_id""#] + (table.table.hasEntityColumn ? [#""_entity""#] : []) + [#""_version""#]
            names += table.columns.map(\.name)
            tables[table.root.name] = Self.empty(names)
            return
        }
        var values = [#"s."_id" AS "_id""#]
        var isSame = source.oldTable.name == table.table.name
        if table.table.hasEntityColumn {
            let code = table.entityCode(in: source)
            values.append(#"\#(code) AS "_entity""#)
            isSame = isSame && code == #"s."_entity""#
        }
        values.append(#"\#(table.versions[0]) AS "_version""#)
        isSame = isSame && table.keepsVersions
        for column in table.columns {
            let expression = column.expressions[0]
            if case .computed = expression {
                let name = column.property.map { "property '\($0.declaringEntityName).\($0.name)'" }
                obstacles.append(
                    "\(name ?? "the order of objects of '\(table.root.name)'") has to be stored in another form"
                )
            }
            isSame = isSame && expression == .column(column.name)
            values.append("\(expression.sql) AS \(column.name)")
        }
        let conditions = source.conditions(source.members.map(\.old))
        guard !isSame || !conditions.isEmpty else { return }
        tables[table.root.name] = """
            (SELECT \(values.joined(separator: ", ")) FROM \(source.oldTable.name) AS s\
            \(conditions.joined(behind: "WHERE")))
            """
    }

    private mutating func add(_ relationship: Relationship, _ context: MigrationContext) {
        guard let table = context.newSchema.joinTables[relationship.index] else { return }
        let back = relationship.inverse.flatMap {
            $0 === relationship ? nil : context.newSchema.joinTables[$0.index]
        }
        let names = [table.owner, table.member, table.position, back?.position].compactMap(\.self)
        let recorded = SQL.unquoted(table.name)
        let sources = context.pairs(of: relationship).filled
        guard let source = sources.first else {
            joinTables[recorded] = Self.empty(names)
            return
        }
        guard sources.count == 1, source.ownerOffset == 0, source.memberOffset == 0 else {
            obstacles.append(
                "the members of '\(relationship.source.name).\(relationship.name)' have to be stored in another form"
            )
            return
        }
        var values = [source.newOwner, source.newMember]
        if table.position != nil { values.append(source.memberPosition ?? "NULL") }
        if back?.position != nil { values.append(source.ownerPosition ?? "NULL") }
        let columns = zip(values, names).map { "\($0) AS \($1)" }
        joinTables[recorded] = """
            (SELECT \(columns.joined(separator: ", ")) FROM \(source.table) AS p\
            \(source.conditions.joined(behind: "WHERE")))
            """
    }

    /// A subquery without rows.
    private static func empty(_ columns: [String]) -> String {
        "(SELECT \(columns.map { "NULL AS \($0)" }.joined(separator: ", ")) WHERE 0)"
    }
}
