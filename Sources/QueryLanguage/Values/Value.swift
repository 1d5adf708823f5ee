public import Foundation

/// A stored value, of one of SQLite's storage classes. UUIDs are stored inline.
///
/// Attributes, query literals and results of aggregates are `Value`s. ``StorableValue`` maps Swift types to values.
public enum Value: Hashable, Sendable {
    /// SQL's NULL, the stored form of `nil`.
    case null
    /// A 64-bit signed integer. Booleans are 0 and 1; `UInt64` keeps its bit pattern.
    case integer(Int64)
    /// An IEEE 754 double. Dates are seconds since 2001-01-01 00:00 UTC.
    case real(Double)
    /// Text, stored as UTF-8.
    case text(String)
    /// Bytes.
    case blob(Data)
    /// A UUID, stored as a blob of its 16 bytes.
    case uuid(UUID)

    /// Whether this is ``null``.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Whether this is NaN.
    package var isNotANumber: Bool {
        if case .real(let real) = self { real.isNaN } else { false }
    }
}

extension Value: CustomStringConvertible {
    /// The kind of the value. The value itself can be a secret and is never printed.
    public var description: String {
        switch self {
        case .null: "null"
        case .integer: "integer"
        case .real: "real"
        case .text(let text): "text(\(text.utf8.count) bytes)"
        case .blob(let data): "blob(\(data.count) bytes)"
        case .uuid: "uuid"
        }
    }
}
