import ObjectGraph

/// The statements that create the tables and indexes of a schema.
struct SchemaStatements {
    private let schema: StoreSchema
    /// The statements, in the order in which they must run.
    private(set) var all: [String] = []
    private var names: UniqueNames

    /// The statements for the tables that every store has.
    static let own = StoreFeatures.tables.filter(\.isInEveryStore).map(\.creation)

    init(_ schema: StoreSchema) {
        self.schema = schema
        names = UniqueNames(schema.names.tableNames, schema.names.indexes)
        all = Self.own
        for entity in schema.model.entities where entity.isRoot { addTable(of: entity) }
        for relationship in schema.model.relationships { addJoinTable(of: relationship) }
        for entity in schema.model.entities {
            for index in DerivedIndex.ofConstraints(of: entity, schema) { add(index) }
        }
        for index in schema.indexes { all += index.creation }
    }

    /// The statement that creates the table of a root entity.
    ///
    /// - Parameter name: The name of the table, quoted; nil for its name in the schema.
    static func creation(of table: EntityTable, named name: String? = nil) -> String {
        var columns = [#""_id" INTEGER PRIMARY KEY NOT NULL"#]
        if table.hasEntityColumn { columns.append(entityColumn) }
        columns.append(#""_version" INTEGER NOT NULL DEFAULT 1"#)
        columns += table.columns.map(definition)
        columns += table.positionColumns.values.sorted().map(positionDefinition)
        return "CREATE TABLE \(name ?? table.name) (\(columns.joined(separator: ", "))) STRICT"
    }

    /// The definition of the column that distinguishes the rows of subentities.
    static let entityColumn = #""_entity" INTEGER NOT NULL"#

    /// The definition of a column.
    static func definition(of column: Column) -> String { "\(column.name) \(column.storage.rawValue.uppercased())" }

    /// The definition of a column of positions.
    static func positionDefinition(of column: String) -> String { "\(column) INTEGER" }

    /// The statement that creates a join table.
    ///
    /// - Parameters:
    ///   - relationship: The canonical relationship.
    ///   - name: The name of the table, quoted; nil for its name in the schema.
    static func creation(ofJoinTable relationship: Relationship, _ schema: StoreSchema, named name: String? = nil)
        -> String?
    {
        guard relationship.placement == .joinTable(isCanonical: true),
            let table = schema.joinTables[relationship.index]
        else { return nil }
        let inverse = relationship.inverse.flatMap { $0 === relationship ? nil : schema.joinTables[$0.index] }
        var columns = [
            "\(table.owner) INTEGER NOT NULL", "\(table.member) INTEGER NOT NULL",
        ]
        columns += [table.position, inverse?.position].compactMap { $0.map(positionDefinition) }
        columns.append("PRIMARY KEY (\(table.owner), \(table.member))")
        return "CREATE TABLE \(name ?? table.name) (\(columns.joined(separator: ", "))) STRICT, WITHOUT ROWID"
    }

    private mutating func addTable(of root: Entity) {
        let table = schema.table(of: root)
        all.append(Self.creation(of: table))
        for index in DerivedIndex.ofKeys(in: table) { add(index) }
    }

    private mutating func addJoinTable(of relationship: Relationship) {
        guard let statement = Self.creation(ofJoinTable: relationship, schema) else { return }
        all.append(statement)
        for index in DerivedIndex.ofPairs(in: relationship, schema) { add(index) }
    }

    private mutating func add(_ index: DerivedIndex) { all.append(index.creation(named: names.add(index.name))) }
}

/// An index that a store creates for a relationship or a uniqueness constraint, without a declaration.
struct DerivedIndex: Hashable {
    /// The name in a new store. A file may have another name: only the rest of the statement is compared.
    let name: String
    /// The table, quoted.
    var table: String
    /// The columns, quoted.
    var columns: [String]
    let isUnique: Bool
    /// The numbers of the entities whose rows are in the index, separated by commas; nil for all rows.
    let codes: String?

    /// The statement that creates the index.
    func creation(named name: String) -> String {
        "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(SQL.quoted(name)) ON \(target)"
    }

    /// The part of the statement after ON.
    var target: String {
        let condition = codes.map { #" WHERE \#(table)."_entity" IN (\#($0))"# } ?? ""
        return "\(table) (\(columns.joined(separator: ", ")))\(condition)"
    }

    /// The indexes of the columns of keys in a table. Keys are looked up when the inverse is read, and when their
    /// object is deleted.
    static func ofKeys(in table: EntityTable) -> [DerivedIndex] {
        table.columns.compactMap { column in
            guard case .relationship(let relationship) = column.property else { return nil }
            return DerivedIndex(
                name: "_index_\(relationship.source.name)_\(relationship.name)",
                table: table.name,
                columns: [column.name],
                isUnique: false,
                codes: nil
            )
        }
    }

    /// The index of a join table from the members to the owners of its canonical relationship.
    static func ofPairs(in relationship: Relationship, _ schema: StoreSchema) -> [DerivedIndex] {
        guard let table = schema.joinTables[relationship.index] else { return [] }
        return [
            DerivedIndex(
                name: "_index_\(relationship.source.name)_\(relationship.name)_reverse",
                table: table.name,
                columns: [table.member, table.owner],
                isUnique: false,
                codes: nil
            )
        ]
    }

    /// The indexes of the uniqueness constraints that an entity declares itself.
    static func ofConstraints(of entity: Entity, _ schema: StoreSchema) -> [DerivedIndex] {
        entity.description.uniquenessConstraints.compactMap { properties in
            guard let indexed = IndexedTable(entity, schema.table(of: entity), properties) else { return nil }
            return DerivedIndex(
                name: "_unique_\(entity.name)_\(properties.joined(separator: "_"))",
                table: indexed.table,
                columns: indexed.columns.map(\.name),
                isUnique: true,
                // Objects of another subentity may have the same value of an inherited property.
                codes: indexed.codes
            )
        }
    }
}

extension StoreSchema {
    /// The statements that create the tables of entities and of the pairs of relationships.
    var tableStatements: Set<String> {
        let roots = model.entities.filter(\.isRoot).map { SchemaStatements.creation(of: table(of: $0)) }
        return Set(roots + model.relationships.compactMap { SchemaStatements.creation(ofJoinTable: $0, self) })
    }

    /// Whether another schema has the tables, names and numbers of entities of this schema.
    func makesTables(of other: StoreSchema) -> Bool {
        names.differsInIndexesOnly(from: other.names) && tableStatements == other.tableStatements
    }
}
