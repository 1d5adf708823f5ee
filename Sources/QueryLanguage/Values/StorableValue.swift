public import Foundation

/// A Swift type whose values a store keeps in a column of their own, so that they can be compared and sorted there.
///
/// The package conforms the types of ``AttributeType``; programs do not conform types of their own, but use enums with a
/// storable raw value, or any `Codable` type, which is kept as JSON text.
public protocol StorableValue: Codable, Hashable, Sendable {
    /// The type of an attribute that holds such values.
    static var attributeType: AttributeType { get }
    /// Reads a slot of a row; the type's zero where the slot is null.
    static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Self
    /// The value out of its stored form, or nil where it has another form.
    init?(storedValue: Value)
    /// The stored form.
    var storedValue: Value { get }
}

extension StorableValue where Self: FixedWidthInteger {
    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Self {
        Self(truncatingIfNeeded: row.integer(at: slot))
    }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .int64 }
}

extension Int8: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .int8 }
}

extension Int16: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .int16 }
}

extension Int32: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .int32 }
}

extension Int64: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .int64 }
}

extension UInt: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uint64 }
}

extension UInt8: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uint8 }
}

extension UInt16: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uint16 }
}

extension UInt32: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uint32 }
}

extension UInt64: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uint64 }
}

extension Bool: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .bool }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Bool { row.integer(at: slot) != 0 }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .double }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Double { row.real(at: slot) }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .float }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Float { Float(row.real(at: slot)) }

    /// The value out of its stored form, or nil where it has another form.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self = Float(real)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(Double(self)) }
}

extension String: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .string }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> String { row.text(at: slot) }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .date }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Date {
        Date(timeIntervalSinceReferenceDate: row.real(at: slot))
    }

    /// The value out of its stored form, or nil where it has another form.
    @inlinable
    public init?(storedValue: Value) {
        guard case .real(let real) = storedValue else { return nil }
        self.init(timeIntervalSinceReferenceDate: real)
    }

    /// The stored form.
    @inlinable
    public var storedValue: Value { .real(timeIntervalSinceReferenceDate) }
}

extension UUID: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .uuid }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> UUID { row.uuid(at: slot) }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .data }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Data { row.blob(at: slot) }

    /// The value out of its stored form, or nil where it has another form.
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
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .url }

    /// The URL in a slot; `about:blank` where the slot is null or its text is no URL.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> URL {
        URL(string: row.text(at: slot)) ?? .blank
    }

    /// The value out of its stored form, or nil where it has another form.
    public init?(storedValue: Value) {
        guard case .text(let text) = storedValue else { return nil }
        self.init(string: text)
    }

    /// The stored form.
    public var storedValue: Value { .text(absoluteString) }

    @usableFromInline static let blank = URL(string: "about:blank")!
}

extension Decimal: StorableValue {
    /// The type of an attribute that holds such values.
    @inlinable
    public static var attributeType: AttributeType { .decimal }

    /// Reads a slot of a row; the type's zero where the slot is null.
    @inlinable
    public static func read<Row: SlotValues>(_ row: Row, _ slot: Int) -> Decimal {
        row.withBytes(at: slot) { SortableDecimal.decode($0) } ?? 0
    }

    /// The value out of its stored form, or nil where it has another form.
    public init?(storedValue: Value) {
        guard case .blob(let data) = storedValue,
            let decimal = data.withUnsafeBytes({ SortableDecimal.decode($0) })
        else { return nil }
        self = decimal
    }

    /// The stored form.
    public var storedValue: Value { .blob(SortableDecimal.encode(self)) }
}
