public import ObjectGraph

/// A row of a table of Core Data, for a conversion that the program makes.
public struct CoreDataRow {
    private let values: [String: Value]

    init(_ values: [String: Value]) {
        self.values = values
    }

    /// The value of a column by its name in the table, such as `ZLATITUDE`; null if there is no such column.
    public subscript(column column: String) -> Value { values[column.uppercased()] ?? .null }

    /// The names of the columns, in capitals.
    public var columns: [String] { values.keys.sorted() }
}

/// Makes the value of an attribute from a row of a table of Core Data; nil for a row without a value.
///
/// An error counts as a value that does not fit.
public typealias CoreDataConversion = @Sendable (CoreDataRow) throws -> Value?
