public import Foundation

/// A value as it stands in a store: one of the storage classes of SQLite, with UUIDs kept inline.
///
/// Attributes, query literals and results of aggregates are all `Value`s. How a Swift type maps to a
/// value is told by ``StorableValue``.
public enum Value: Hashable, Sendable {
    /// No value; what `nil` is stored as.
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
    /// The kind of the value; the value itself is never printed, since it may be a secret.
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
