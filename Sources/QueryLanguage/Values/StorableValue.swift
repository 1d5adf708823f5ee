public import Foundation

/// A Swift type whose values are stored in a column, so that a store can compare and sort them.
///
/// The package implements the conformances of the types of ``AttributeType``. Programs do not add further ones: they
/// use enums with a storable raw value, or `Codable` types, which are stored as JSON text.
public protocol StorableValue: Codable, Hashable, Sendable {
    /// The attribute type of the values.
    static var attributeType: AttributeType { get }
    /// Reads a slot of a row. Null is read as the type's zero.
    static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Self
    /// Creates a value from its stored form; nil for other values.
    init?(storedValue: Value)
    /// The stored form.
    ///
    /// - Throws: ``UnstorableValue`` for a value that the column type cannot hold exactly.
    var storedValue: Value { get throws(UnstorableValue) }
}

/// A value that its column type cannot hold exactly.
public struct UnstorableValue: Error, Hashable {
    /// The column type.
    public let type: AttributeType

    /// Creates the error for a value of a column type.
    public init(_ type: AttributeType) {
        self.type = type
    }
}

extension UnstorableValue: CustomStringConvertible, LocalizedError {
    /// A description without the value.
    public var description: String { "\(type.facts.description) that its column cannot hold exactly is not stored" }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension StorableValue where Self: FixedWidthInteger {
    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Self {
        Self(truncatingIfNeeded: row.integer(at: slot))
    }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .integer(let integer) = storedValue else { return nil }
        self.init(truncatingIfNeeded: integer)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .integer(Int64(truncatingIfNeeded: self)) }
}

extension Int: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .int64 }
}

extension Int8: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .int8 }
}

extension Int16: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .int16 }
}

extension Int32: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .int32 }
}

extension Int64: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .int64 }
}

extension UInt: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uint64 }
}

extension UInt8: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uint8 }
}

extension UInt16: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uint16 }
}

extension UInt32: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uint32 }
}

extension UInt64: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uint64 }
}

extension Bool: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .bool }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Bool { row.integer(at: slot) != 0 }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .integer(let integer) = storedValue else { return nil }
        self = integer != 0
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .integer(self ? 1 : 0) }
}

extension Double: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .double }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Double { row.real(at: slot) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self = real
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(self) }
}

extension Float: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .float }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Float { Float(row.real(at: slot)) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self = Float(real)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(Double(self)) }
}

extension CGFloat: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .double }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> CGFloat { CGFloat(row.real(at: slot)) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self.init(real)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(Double(self)) }
}

#if !((os(macOS) || targetEnvironment(macCatalyst)) && arch(x86_64))
    extension Float16: StorableValue {
        /// The attribute type of the values, which holds each of them exactly.
        @inlinable
        public static var attributeType: AttributeType { .float }

        /// Reads a slot of a row. Null is read as the type's zero.
        @inlinable
        public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Float16 { Float16(row.real(at: slot)) }

        /// Creates a value from its stored form; nil for other values.
        @inlinable
        public init?(storedValue: Value) {
            guard case .real(let real) = storedValue else { return nil }
            self.init(real)
        }

        /// The stored form.
        @inlinable
        public var storedValue: Value { .real(Double(self)) }
    }
#endif

extension String: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .string }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> String { row.text(at: slot) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .text(let text) = storedValue else { return nil }
        self = text
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .text(self) }
}

extension Date: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .date }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: row.real(at: slot))
    }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self.init(timeIntervalSinceReferenceDate: real)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(timeIntervalSinceReferenceDate) }
}

extension Duration: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .duration }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Duration {
        .nanoseconds(row.integer(at: slot))
    }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .integer(let nanoseconds) = storedValue else { return nil }
        self = .nanoseconds(nanoseconds)
    }

    /// The stored form: nanoseconds.
    ///
    /// - Throws: ``UnstorableValue`` for a duration with a fraction of a nanosecond, which would be lost, and for a
    ///   duration beyond 2⁶³ nanoseconds, about 292 years.
    public var storedValue: Value {
        get throws(UnstorableValue) {
            let (seconds, attoseconds) = components
            let (nanoseconds, fraction) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
            let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            let (sum, isSumTooLong) = whole.addingReportingOverflow(nanoseconds)
            guard fraction == 0, !isTooLong, !isSumTooLong else { throw UnstorableValue(.duration) }
            return .integer(sum)
        }
    }
}

extension UUID: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .uuid }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> UUID { row.uuid(at: slot) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        switch storedValue {
        case .uuid(let uuid): self = uuid
        case .blob(let data) where data.count == 16:
            self = data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        default: return nil
        }
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .uuid(self) }
}

extension Data: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .data }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Data { row.blob(at: slot) }

    /// Creates a value from its stored form; nil for other values.
    @inlinable
    public init?(storedValue: Value) {
        guard case .blob(let data) = storedValue else { return nil }
        self = data
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .blob(self) }
}

extension URL: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .url }

    /// Reads a slot of a row. Null and text that is not a URL are read as `about:blank`.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> URL {
        URL(string: row.text(at: slot)) ?? .blank
    }

    /// Creates a value from its stored form; nil for other values.
    public init?(storedValue: Value) {
        guard case .text(let text) = storedValue else { return nil }
        self.init(string: text)
    }

    /// The stored form.
    public var storedValue: Value { .text(absoluteString) }

    @usableFromInline static let blank = URL(string: "about:blank")!
}

extension Decimal: StorableValue {
    /// The attribute type of the values.
    @inlinable
    public static var attributeType: AttributeType { .decimal }

    /// Reads a slot of a row. Null is read as the type's zero.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Decimal {
        row.withBytes(at: slot) { SortableDecimal.decode($0) } ?? 0
    }

    /// Creates a value from its stored form; nil for other values.
    public init?(storedValue: Value) {
        guard case .blob(let data) = storedValue,
            let decimal = data.withUnsafeBytes({ SortableDecimal.decode($0) })
        else { return nil }
        self = decimal
    }

    /// The stored form.
    public var storedValue: Value { .blob(SortableDecimal.encode(self)) }
}
