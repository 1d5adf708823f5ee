import ObjectGraph

/// An R*Tree over numeric columns, for ranges of several of them at once.
///
/// Triggers in the file keep it in step with its table, whoever writes. Rows without a value in one of the columns are not
/// in it: no range holds them. It keeps coordinates as 32-bit floats, rounded outwards, so that it can only tell which rows
/// may be in a range.
struct CoordinateIndex: Sendable {
    /// The virtual table, quoted.
    let table: String
    let indexed: IndexedTable

    private let name: String

    /// What the tree keeps of larger numbers, which it would round to infinity.
    private static let largestCoordinate: Float = 3.4e38

    init(name: String, _ indexed: IndexedTable) {
        self.name = name
        self.indexed = indexed
        table = SQL.quoted(name)
    }

    /// The column with the lower bound of a coordinate, which is the largest float that is not above it.
    static func lowerColumn(_ dimension: Int) -> String { "min\(dimension)" }
    /// The column with the upper bound of a coordinate.
    static func upperColumn(_ dimension: Int) -> String { "max\(dimension)" }

    /// A number as the tree knows it: of two numbers the larger one stays the larger one, or both become the same.
    static func coordinate(_ number: Double) -> Double {
        Double(max(min(Float(number), largestCoordinate), -largestCoordinate))
    }

    var creation: [String] {
        let bounds = indexed.columns.indices.map { "\(Self.lowerColumn($0)), \(Self.upperColumn($0))" }
        let deletion = #"DELETE FROM \#(table) WHERE id = old."_id""#
        return [
            "CREATE VIRTUAL TABLE \(table) USING rtree(id, \(bounds.joined(separator: ", ")))",
            """
            CREATE TRIGGER \(SQL.quoted(name + "_insert")) AFTER INSERT ON \(indexed.table)\
            \(conditions(on: "new").joined(behind: "WHEN")) \
            BEGIN \(insertion(of: "new")); END
            """,
            """
            CREATE TRIGGER \(SQL.quoted(name + "_update")) AFTER UPDATE OF \(indexed.watchedColumns) ON \(indexed.table) \
            BEGIN \(deletion); \(insertion(of: "new"))\(conditions(on: "new").joined(behind: "WHERE")); END
            """,
            "CREATE TRIGGER \(SQL.quoted(name + "_delete")) AFTER DELETE ON \(indexed.table) BEGIN \(deletion); END",
        ]
    }

    var population: [String] {
        ["\(insertion(of: "t0")) FROM \(indexed.table) AS t0\(conditions(on: "t0").joined(behind: "WHERE"))"]
    }

    var removal: [String] {
        ["_insert", "_update", "_delete"].map { "DROP TRIGGER \(SQL.quoted(name + $0))" } + ["DROP TABLE \(table)"]
    }

    /// The conditions that a row is in the tree.
    func conditions(on row: String) -> [String] {
        indexed.conditions(on: row) + indexed.columns.map { "\(row).\($0.name) IS NOT NULL" }
    }

    /// A column's value within what the tree can keep.
    func coordinate(of column: Column, in row: String) -> String {
        "max(min(\(row).\(column.name), \(Self.largestCoordinate)), -\(Self.largestCoordinate))"
    }

    private func insertion(of row: String) -> String {
        let values = indexed.columns.map { coordinate(of: $0, in: row) }.flatMap { [$0, $0] }
        return #"INSERT INTO \#(table) SELECT \#(row)."_id", \#(values.joined(separator: ", "))"#
    }
}
