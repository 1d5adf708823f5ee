import ObjectGraph

/// A B-tree over columns of a table, for equality, ranges and sorting.
struct BinaryIndex: Sendable {
    private let name: String
    let indexed: IndexedTable

    init(name: String, _ indexed: IndexedTable) {
        self.name = name
        self.indexed = indexed
    }

    /// An index of all rows of the table has no condition: SQLite needs no proof that a query asks only for rows in the
    /// index.
    var creation: [String] {
        // The column of a to-one relationship always has an index.
        if indexed.columns.count == 1, case .relationship = indexed.columns[0].property { return [] }
        return ["CREATE INDEX \(SQL.quoted(name)) ON \(indexed.table) (\(indexed.columnList))"]
    }

    var removal: [String] { ["DROP INDEX IF EXISTS \(SQL.quoted(name))"] }
}
