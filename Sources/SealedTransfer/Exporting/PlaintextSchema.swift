import ObjectGraph

/// The tables of a plaintext export.
///
/// Each root entity is a table with its name and the column `_id`, a column `_entity` if it has subentities, and a
/// column for each attribute and to-one relationship of the family. A to-many relationship with a to-one inverse is the
/// inverse's column, and a column of positions if it is ordered; any other to-many relationship is a table with the
/// columns `source` and `target`.
struct PlaintextSchema {
    /// The table of a root entity.
    struct EntityTable {
        let root: Entity
        let name: String
        let hasEntityColumn: Bool
        /// The columns of properties, in their order.
        let columns: [(property: Property, name: String)]
        /// The columns of positions among the members of ordered relationships that lead to the table's objects.
        let positions: [(relationship: Relationship, name: String)]
    }

    /// The table of the pairs of a to-many relationship.
    struct PairTable {
        let relationship: Relationship
        let name: String
        /// Whether the inverse is ordered, too, and its positions have a column.
        let isInverseOrdered: Bool
    }

    private(set) var tables: [EntityTable] = []
    private(set) var pairs: [PairTable] = []
    /// The names of tables, which indexes cannot have.
    private var names = UniqueColumnNames()
    private let model: ManagedObjectModel

    /// - Parameter entities: The exported entities.
    init(_ model: ManagedObjectModel, _ entities: [Entity]) {
        self.model = model
        let roots = Set(entities.map(\.rootIndex))
        for root in model.entities where roots.contains(root.index) {
            var columnNames = UniqueColumnNames(["_id", "_entity"])
            var columns: [(property: Property, name: String)] = []
            for property in root.family.flatMap(\.properties)
            where !columns.contains(where: { $0.property == property }) {
                if case .relationship(let relationship) = property, relationship.isToMany { continue }
                columns.append((property, columnNames.add(property.name)))
            }
            var positions: [(relationship: Relationship, name: String)] = []
            for relationship in model.relationships
            where relationship.isOrdered && relationship.placement == .destinationKey
                && relationship.destination.rootIndex == root.index
            {
                positions.append((relationship, columnNames.add("_position_\(relationship.name)")))
            }
            tables.append(
                EntityTable(
                    root: root,
                    name: names.add(root.name),
                    hasEntityColumn: root.family.count > 1,
                    columns: columns,
                    positions: positions
                )
            )
        }
        for relationship in model.relationships
        where relationship.placement == .joinTable(isCanonical: true) && roots.contains(relationship.source.rootIndex) {
            pairs.append(
                PairTable(
                    relationship: relationship,
                    name: names.add("\(relationship.source.name)_\(relationship.name)"),
                    isInverseOrdered: relationship.inverse.map { $0.isOrdered && $0 !== relationship } ?? false
                )
            )
        }
    }

    func table(of entity: Entity) -> EntityTable? { tables.first { $0.root.index == entity.rootIndex } }

    /// The statements that make the tables.
    var tableStatements: [String] {
        tables.map { table in
            var columns = [#""_id" INTEGER PRIMARY KEY"#]
            if table.hasEntityColumn { columns.append(#""_entity" TEXT NOT NULL"#) }
            columns += table.columns.map { "\(quoted($0.name))\(Self.definition(of: $0.property, references))" }
            columns += table.positions.map { "\(quoted($0.name)) INTEGER" }
            return "CREATE TABLE \(quoted(table.name)) (\(columns.joined(separator: ", ")))"
        }
            + pairs.map { pair in
                let source = references(pair.relationship.source)
                let target = references(pair.relationship.destination)
                var columns = ["source INTEGER NOT NULL\(source)", "target INTEGER NOT NULL\(target)"]
                if pair.relationship.isOrdered { columns.append("target_position INTEGER") }
                if pair.isInverseOrdered { columns.append("source_position INTEGER") }
                columns.append("PRIMARY KEY (source, target)")
                return "CREATE TABLE \(quoted(pair.name)) (\(columns.joined(separator: ", "))) WITHOUT ROWID"
            }
    }

    /// The statements that make the indexes of relationships and of uniqueness constraints.
    var indexStatements: [String] {
        var statements: [String] = []
        var names = names
        func add(_ table: EntityTable, _ columns: [String], isUnique: Bool, _ condition: String = "") {
            let list = columns.map(quoted).joined(separator: ", ")
            let name = quoted(names.add("index_\(statements.count + 1)"))
            statements.append(
                "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(name) ON \(quoted(table.name)) (\(list))\(condition)"
            )
        }
        for table in tables {
            for (property, name) in table.columns {
                if case .relationship = property { add(table, [name], isUnique: false) }
            }
            for entity in table.root.family {
                for properties in entity.description.uniquenessConstraints {
                    let columns = properties.compactMap { name in
                        entity.propertiesByName[name].flatMap { property in
                            table.columns.first { $0.property == property }?.name
                        }
                    }
                    let names = entity.family.map { "'\($0.name.replacing("'", with: "''"))'" }.joined(separator: ", ")
                    add(table, columns, isUnique: true, entity.isRoot ? "" : " WHERE _entity IN (\(names))")
                }
            }
        }
        for pair in pairs {
            let name = quoted(names.add(pair.name + "_reverse"))
            statements.append("CREATE INDEX \(name) ON \(quoted(pair.name)) (target)")
        }
        return statements
    }

    private func references(_ entity: Entity) -> String {
        table(of: entity).map { " REFERENCES \(quoted($0.name))" } ?? ""
    }

    /// The type and rules of a column. A column of unsigned 64-bit integers has no type: SQLite would turn a text with
    /// a large number into a real.
    private static func definition(of property: Property, _ references: (Entity) -> String) -> String {
        switch property {
        case .relationship(let relationship): return " INTEGER" + references(relationship.destination)
        case .attribute(let attribute):
            switch attribute.type.form {
            case .integer: return " INTEGER"
            case .unsigned: return ""
            case .boolean: return " BOOLEAN"
            case .float, .double: return " REAL"
            case .decimal, .text, .uuid, .url, .json: return " TEXT"
            case .date: return " DATETIME"
            case .bytes: return " BLOB"
            }
        }
    }

    /// The value of an attribute in the form that other tools show: dates, UUIDs and decimal numbers as texts.
    static func value(_ value: Value, as type: AttributeType) -> Value {
        switch (value, type.form) {
        case (.real(let seconds), .date): DateText.text(secondsSince2001: seconds).map(Value.text) ?? value
        case (.integer(let integer), .unsigned) where integer < 0: .text(String(UInt64(bitPattern: integer)))
        case (.blob, .decimal), (.blob, .uuid), (.uuid, _):
            ValueText(value, as: type).map { .text($0.plain) } ?? .null
        default: value
        }
    }
}

/// Names of tables and indexes, or of columns, that differ from each other for SQLite.
private struct UniqueColumnNames {
    private var taken: Set<DatabaseName>

    init(_ taken: Set<DatabaseName> = []) {
        self.taken = taken
    }

    mutating func add(_ name: String) -> String {
        var base = name.replacing("\0", with: "")
        if base.isEmpty || DatabaseName(base).isReserved { base = "x" + base }
        var result = base
        var number = 2
        while !taken.insert(DatabaseName(result)).inserted {
            result = "\(base)\(number)"
            number += 1
        }
        return result
    }
}
