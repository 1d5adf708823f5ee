import ObjectGraph

/// A B-tree over columns of a table, for equality, ranges and sorting.
struct BinaryIndex: Sendable {
    private let name: String
    let indexed: IndexedTable

    init(name: String, _ indexed: IndexedTable) {
        self.name = name
        self.indexed = indexed
    }

    /// All rows of the table are in it: a query for the entity's objects need not be proven to want no others.
    var creation: [String] {
        // The column of a to-one relationship has an index in any case.
        if indexed.columns.count == 1, case .relationship = indexed.columns[0].property { return [] }
        return ["CREATE INDEX \(SQL.quoted(name)) ON \(indexed.table) (\(indexed.columnList))"]
    }

    var removal: [String] { ["DROP INDEX IF EXISTS \(SQL.quoted(name))"] }
}
