import EncryptedSQLite

/// The tables of a foreign database, as SQLite describes them.
struct DatabaseStructure {
    /// A column of a table.
    struct Column {
        let name: DatabaseName
        /// The declared type, in capitals.
        let declaredType: String
        let isNotNull: Bool
        /// The position in the primary key, from 1; 0 for a column outside of it.
        let primaryKeyPosition: Int
        /// Whether the value is computed from other columns.
        let isGenerated: Bool
    }

    /// A reference to another table.
    struct ForeignKey {
        let columns: [DatabaseName]
        let parent: DatabaseName
        /// The columns of the parent; nil for its primary key.
        let parentColumns: [DatabaseName]?
        let deletion: String
    }

    /// An index.
    struct Index {
        let columns: [DatabaseName]
        let isUnique: Bool
    }

    /// A table.
    struct Table {
        let name: DatabaseName
        let hasRowID: Bool
        private(set) var columns: [Column] = []
        var foreignKeys: [ForeignKey] = []
        /// The indexes over columns only, for all rows.
        var indexes: [Index] = []
        private var positions: [DatabaseName: Int] = [:]

        init(name: DatabaseName, hasRowID: Bool) {
            self.name = name
            self.hasRowID = hasRowID
        }

        mutating func append(_ column: Column) {
            positions[column.name] = columns.count
            columns.append(column)
        }

        /// The columns of the primary key, in its order.
        var primaryKey: [Column] {
            columns.filter { $0.primaryKeyPosition > 0 }.sorted { $0.primaryKeyPosition < $1.primaryKeyPosition }
        }

        /// The column that is another name of the row ID; nil if there is none.
        var rowIDColumn: Column? {
            guard hasRowID, primaryKey.count == 1, primaryKey[0].declaredType == "INTEGER" else { return nil }
            return primaryKey[0]
        }

        /// A name for the row ID that no column has; nil if the table has none.
        var rowIDName: DatabaseName? {
            guard hasRowID else { return nil }
            let names = Set(columns.map(\.name))
            return ["rowid", "_rowid_", "oid"].first { !names.contains($0) } ?? rowIDColumn?.name
        }

        func column(_ name: DatabaseName) -> Column? { positions[name].map { columns[$0] } }
    }

    private(set) var tables: [Table] = []
    /// The names of views, virtual tables and their content, and other parts that are not read, one line each.
    private(set) var notes: [String] = []
    private var positions: [DatabaseName: Int] = [:]

    /// - Throws: ``TransferError/unsupported(_:)`` for a schema beyond the limits.
    init(_ connection: Connection, _ limits: TransferLimits) throws {
        var kinds: [(name: DatabaseName, type: String, isWithoutRowID: Bool)] = []
        try connection.withStatement("PRAGMA main.table_list") { row in
            while try row.step() {
                guard row.string(at: 0) == "main" else { continue }
                kinds.append((try row.name(at: 1), row.string(at: 2), row.integer(at: 4) != 0))
            }
        }
        kinds.sort { $0.name.text < $1.name.text }
        for (name, type, isWithoutRowID) in kinds where !name.isReserved {
            guard type == "table" else {
                if type != "shadow" { notes.append("\(name.text): a \(type == "view" ? "view" : "virtual table")") }
                continue
            }
            guard tables.count < limits.entityCount else {
                throw TransferError.unsupported("a database with more than \(limits.entityCount) tables")
            }
            var table = Table(name: name, hasRowID: !isWithoutRowID)
            try readColumns(of: &table, connection, limits)
            try readForeignKeys(of: &table, connection, limits)
            try readIndexes(of: &table, connection)
            positions[name] = tables.count
            tables.append(table)
        }
    }

    /// Removes the tables of Core Data that hold no objects, from the database of a store of Core Data or SwiftData.
    mutating func removeTablesOfCoreData() {
        guard table("Z_PRIMARYKEY")?.column("Z_ENT") != nil, table("Z_METADATA")?.column("Z_UUID") != nil else {
            return
        }
        let removed = tables.filter { CoreDataLayout.ownTables.contains($0.name) }
        notes += removed.map { "\($0.name.text): a table of Core Data itself" }
        tables.removeAll { CoreDataLayout.ownTables.contains($0.name) }
        positions = Dictionary(uniqueKeysWithValues: tables.enumerated().map { ($1.name, $0) })
    }

    func table(_ name: DatabaseName) -> Table? { positions[name].map { tables[$0] } }

    private mutating func readColumns(of table: inout Table, _ connection: Connection, _ limits: TransferLimits) throws
    {
        try connection.withUncachedStatement("PRAGMA main.table_xinfo(\(table.name.quoted))") { row in
            while try row.step() {
                let hidden = row.integer(at: 6)
                let column = Column(
                    name: try row.name(at: 1),
                    declaredType: row.string(at: 2).uppercased(),
                    isNotNull: row.integer(at: 3) != 0,
                    primaryKeyPosition: Int(row.integer(at: 5)),
                    isGenerated: hidden == 2 || hidden == 3
                )
                table.append(column)
            }
        }
        for column in table.columns where column.isGenerated {
            notes.append("\(table.name.text).\(column.name.text): a generated column")
        }
        guard table.columns.count <= limits.propertyCount else {
            throw TransferError.unsupported("a table with more than \(limits.propertyCount) columns")
        }
    }

    private func readForeignKeys(of table: inout Table, _ connection: Connection, _ limits: TransferLimits) throws {
        let columnCount = table.columns.count
        var rows: [(id: Int64, parent: DatabaseName, from: DatabaseName, to: DatabaseName?, deletion: String)] = []
        try connection.withUncachedStatement("PRAGMA main.foreign_key_list(\(table.name.quoted))") { row in
            while try row.step() {
                guard columnCount + rows.count < limits.propertyCount else {
                    throw TransferError.unsupported(
                        "a table with more than \(limits.propertyCount) columns and columns of foreign keys"
                    )
                }
                let to = row.isNull(at: 4) ? nil : try row.name(at: 4)
                rows.append((row.integer(at: 0), try row.name(at: 2), try row.name(at: 3), to, row.string(at: 6)))
            }
        }
        // SQLite numbers the keys backwards, from the last one in the statement that created the table.
        for (_, own) in Dictionary(grouping: rows, by: { $0.id }).sorted(by: { $0.key > $1.key }) {
            let targets = own.compactMap(\.to)
            table.foreignKeys.append(
                ForeignKey(
                    columns: own.map(\.from),
                    parent: own[0].parent,
                    parentColumns: targets.count == own.count ? targets : nil,
                    deletion: own[0].deletion
                )
            )
        }
    }

    private mutating func readIndexes(of table: inout Table, _ connection: Connection) throws {
        var names: [(name: DatabaseName, isUnique: Bool, isPartial: Bool)] = []
        try connection.withUncachedStatement("PRAGMA main.index_list(\(table.name.quoted))") { row in
            while try row.step() {
                names.append((try row.name(at: 1), row.integer(at: 2) != 0, row.integer(at: 4) != 0))
            }
        }
        for (name, isUnique, isPartial) in names.sorted(by: { $0.name.text < $1.name.text }) {
            var columns: [DatabaseName?] = []
            var hasCollation = false
            try connection.withUncachedStatement("PRAGMA main.index_xinfo(\(name.quoted))") { row in
                while try row.step() {
                    guard row.integer(at: 5) != 0 else { continue }
                    columns.append(row.isNull(at: 2) ? nil : try row.name(at: 2))
                    if row.string(at: 4).uppercased() != "BINARY" { hasCollation = true }
                }
            }
            let found = columns.compactMap(\.self)
            if isPartial || found.count < columns.count || isUnique && hasCollation {
                let reason =
                    isPartial
                    ? "a partial index" : hasCollation ? "an index with a collation" : "an index of expressions"
                notes.append("\(table.name.text): \(reason), '\(name.text)'")
            } else {
                table.indexes.append(Index(columns: found, isUnique: isUnique))
            }
        }
        // A primary key that is the row ID has no index.
        if let column = table.rowIDColumn { table.indexes.append(Index(columns: [column.name], isUnique: true)) }
    }
}
