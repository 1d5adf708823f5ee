import Foundation

/// The rows of a ``DictionaryFetchRequest``: values under the names of its columns.
public struct DictionaryResults: Sendable {
    private let header: Header
    /// The values of all rows, row after row.
    private var values: [Value] = []
    /// The number of rows.
    public private(set) var count = 0

    /// The names and types of the columns.
    fileprivate final class Header: Sendable {
        let names: [String]
        let positions: [String: Int]
        let types: [AttributeType?]

        init(_ columns: [ExpressionDescription]) {
            names = columns.map(\.name)
            positions = Dictionary(
                columns.enumerated().map { ($1.name, $0) },
                uniquingKeysWith: { first, _ in first }
            )
            types = columns.map(\.expression.resultType)
        }
    }

    /// The results of a request before its first row.
    public init(for request: DictionaryFetchRequest) {
        header = Header(request.columns)
    }

    /// The names of the columns, in the order of the request.
    public var columnNames: [String] { header.names }

    /// Adds a row that a store has computed: a value for each column. The bytes of a UUID become a UUID.
    ///
    /// - Throws: ``QueryError/arithmeticOverflow`` for a real in a column of integers, to which SQLite converts an
    ///   integer that overflows.
    public mutating func append(_ row: some Collection<Value>) throws(QueryError) {
        precondition(row.count == header.names.count, "a row has a value for each column")
        for (value, type) in zip(row, header.types) {
            switch (value, type) {
            case (.real, let type?) where type.storage == .integer: throw .arithmeticOverflow
            case (.blob, let type?) where type.form == .uuid:
                values.append(UUID(storedValue: value).map(Value.uuid) ?? value)
            default: values.append(value)
            }
        }
        count += 1
    }
}

extension DictionaryResults: RandomAccessCollection {
    /// The position of the first row.
    public var startIndex: Int { 0 }

    /// The position after the last row.
    public var endIndex: Int { count }

    /// The row at a position.
    public subscript(position: Int) -> DictionaryRow {
        precondition(indices.contains(position), "there is no row at this position")
        let width = header.names.count
        return DictionaryRow(header: header, values: values[position * width..<(position + 1) * width])
    }
}

/// A row of ``DictionaryResults``.
public struct DictionaryRow: Sendable {
    fileprivate let header: DictionaryResults.Header
    /// The values, in the order of the columns.
    public let values: ArraySlice<Value>

    /// The value under a name.
    ///
    /// - Precondition: The results have a column with this name.
    public subscript(name: String) -> Value {
        guard let position = header.positions[name] else { preconditionFailure("there is no column '\(name)'") }
        return values[values.startIndex + position]
    }

    /// The values by their names.
    public var dictionary: [String: Value] { header.positions.mapValues { values[values.startIndex + $0] } }
}
