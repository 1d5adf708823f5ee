/// The storage class of a value in a result row; the raw values are SQLite's codes.
///
/// Public for the same reason as `Statement`.
public enum ColumnType: Int32, Sendable {
    /// A signed integer of up to 64 bits.
    case integer = 1
    /// A floating-point number of 64 bits.
    case real = 2
    /// Text. This layer reads it as UTF-8.
    case text = 3
    /// Bytes.
    case blob = 4
    /// No value.
    case null = 5
}
