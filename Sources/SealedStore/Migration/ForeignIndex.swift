import EncryptedSQLite

/// An index that another program has added to a table, and that a rebuilt table keeps if its columns still exist.
///
/// Indexes over expressions and over a part of the rows depend on more than the names of columns; they go with their
/// table.
struct ForeignIndex {
    /// The name of the index.
    let name: String
    /// The table, quoted.
    let table: String
    private(set) var columns: [Column] = []

    struct Column {
        /// The name, quoted.
        let name: String
        let isDescending: Bool
        let collation: String
    }

    /// The statement that creates the index on another table; nil if the table lacks a column.
    ///
    /// - Parameter newColumns: The columns of that table, by the names that the columns have now, all quoted.
    func creation(on table: String, _ newColumns: [String: String]) -> String? {
        let definitions = columns.compactMap { column in
            newColumns[column.name].map {
                "\($0) COLLATE \(SQL.quoted(column.collation))\(column.isDescending ? " DESC" : "")"
            }
        }
        guard definitions.count == columns.count else { return nil }
        return "CREATE INDEX \(SQL.quoted(name)) ON \(table) (\(definitions.joined(separator: ", ")))"
    }

    /// The indexes of a file that consist of columns, those of the store included.
    static func all(on connection: Connection) throws -> [ForeignIndex] {
        let sql = """
            SELECT m.name, m.tbl_name, x.name, x.desc, x.coll FROM sqlite_schema AS m, pragma_index_xinfo(m.name) AS x \
            WHERE m.type = 'index' AND m.sql NOT LIKE '%) WHERE %' AND x.key = 1 ORDER BY m.name, x.seqno
            """
        var indexes: [ForeignIndex] = []
        var hasExpression: Set<String> = []
        try connection.withUncachedStatement(sql) { row in
            while try row.step() {
                let name = row.string(at: 0)
                if indexes.last?.name != name {
                    indexes.append(ForeignIndex(name: name, table: SQL.quoted(row.string(at: 1))))
                }
                if row.isNull(at: 2) {
                    hasExpression.insert(name)
                } else {
                    indexes[indexes.count - 1].columns.append(
                        Column(
                            name: SQL.quoted(row.string(at: 2)),
                            isDescending: row.integer(at: 3) != 0,
                            collation: row.string(at: 4)
                        )
                    )
                }
            }
        }
        return indexes.filter { !hasExpression.contains($0.name) }
    }
}
