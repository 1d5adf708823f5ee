import ObjectGraph

/// An R*Tree over numeric columns, for ranges of several of them at once.
///
/// Triggers in the file update it together with its table, also for other programs that write. Rows with NULL in one of
/// the columns are not in it: no range contains them. It stores coordinates as 32-bit floats, rounded outwards, so it
/// finds a superset of the rows in a range.
struct CoordinateIndex: Sendable {
    /// The virtual table, quoted.
    let table: String
    let indexed: IndexedTable

    private let name: String

    /// The largest coordinate that the tree stores. It would round larger numbers to infinity.
    private static let largestCoordinate: Float = 3.4e38

    init(name: String, _ indexed: IndexedTable) {
        self.name = name
        self.indexed = indexed
        table = SQL.quoted(name)
    }

    /// The column with the lower bound of a coordinate: the largest float that is not above it.
    static func lowerColumn(_ dimension: Int) -> String { "min\(dimension)" }
    /// The column with the upper bound of a coordinate.
    static func upperColumn(_ dimension: Int) -> String { "max\(dimension)" }

    /// A number in the precision of the tree. The conversion is monotonic: the order of two numbers stays, or they
    /// become equal.
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
        ["_insert", "_update", "_delete"].map { "DROP TRIGGER IF EXISTS \(SQL.quoted(name + $0))" }
            + ["DROP TABLE IF EXISTS \(table)"]
    }

    /// The conditions under which a row is in the tree.
    func conditions(on row: String) -> [String] {
        indexed.conditions(on: row) + indexed.columns.map { "\(row).\($0.name) IS NOT NULL" }
    }

    /// The value of a column, clamped to the range of the tree.
    func coordinate(of column: Column, in row: String) -> String {
        "max(min(\(row).\(column.name), \(Self.largestCoordinate)), -\(Self.largestCoordinate))"
    }

    private func insertion(of row: String) -> String {
        let values = indexed.columns.map { coordinate(of: $0, in: row) }.flatMap { [$0, $0] }
        return #"INSERT INTO \#(table) SELECT \#(row)."_id", \#(values.joined(separator: ", "))"#
    }
}
