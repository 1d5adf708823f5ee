/// The storage class of a value in a result row; the raw values are SQLite's codes.
package enum ColumnType: Int32, Sendable {
    case integer = 1
    case real = 2
    case text = 3
    case blob = 4
    case null = 5
}
