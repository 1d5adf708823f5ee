import Foundation
import ObjectGraph

/// Converts the recorded values of attributes to the types of their properties.
enum RecordedValue {
    /// Returns a value; nil for null, and for a value that the type cannot represent any more.
    ///
    /// - Parameters:
    ///   - stored: The stored form.
    ///   - valueType: The type of the property.
    ///   - transformer: The value transformer that the property names, which is used for types that need one.
    static func value(
        _ stored: Value,
        as valueType: any Any.Type,
        by transformer: _AttributeTransformer?
    ) -> (any Sendable)? {
        let type = PropertyKind.unwrapped(valueType)
        if let storable = type as? any StorableValue.Type { return read(stored, as: storable) }
        if let raw = type as? any RawRepresentable.Type, let storable = PropertyKind.storableRawValue(of: raw) {
            return read(stored, as: storable).flatMap { make(raw, $0) }
        }
        if let codable = type as? any (Decodable & Encodable).Type {
            guard case .text(let text) = stored else { return nil }
            return decode(text, as: codable)
        }
        guard case .blob(let data) = stored else { return nil }
        return transformer?.value(of: data).map { sendable($0) }
    }

    private static func read<V: StorableValue>(_ stored: Value, as type: V.Type) -> (any Sendable)? {
        // A store holds a UUID as a blob.
        if V.attributeType.form == .uuid, case .blob(let bytes) = stored, bytes.count == 16 {
            return V(storedValue: .uuid(bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }))
        }
        return converted(stored, to: V.attributeType).flatMap { V(storedValue: $0) }
    }

    /// A number that was recorded before a migration has changed the type of its attribute; nil if the type cannot
    /// represent it exactly.
    private static func converted(_ stored: Value, to type: AttributeType) -> Value? {
        switch (stored, type.form) {
        case (.integer(let integer), .float), (.integer(let integer), .double):
            return Double(exactly: integer).map { .real($0) }
        case (.integer(let integer), _) where type.storage == .integer:
            return type.integerRange?.contains(integer) ?? true ? stored : nil
        case (.real(let real), _) where type.storage == .integer:
            return Int64(exactly: real).flatMap { converted(.integer($0), to: type) }
        default: return stored
        }
    }

    private static func make<Raw: RawRepresentable>(_ type: Raw.Type, _ value: any Sendable) -> (any Sendable)? {
        guard let rawValue = value as? Raw.RawValue, let made = Raw(rawValue: rawValue) else { return nil }
        return sendable(made)
    }

    private static func decode<V: Decodable & Encodable>(_ text: String, as type: V.Type) -> (any Sendable)? {
        guard let decoded = CompositeAttribute<V>.read((value: nil, text: text)) else { return nil }
        return sendable(decoded)
    }

    /// Marks a value that was just made, and to which no other code has a reference, as sendable.
    private static func sendable<V>(_ value: V) -> any Sendable {
        // `Sendable` has no representation at run time, so that no cast finds it: both types are an existential container
        // without a witness table.
        unsafeBitCast(value as Any, to: (any Sendable).self)
    }
}
