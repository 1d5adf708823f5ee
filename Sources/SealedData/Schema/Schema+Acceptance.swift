import ObjectGraph

extension Schema.Attribute {
    /// Returns whether the type of the values accepts a stored value; nil if it accepts all of them, or if a value
    /// transformer makes them.
    var acceptance: ((Value) -> Bool)? {
        if transformer != nil { return nil }
        let type = PropertyKind.unwrapped(valueType)
        if let storable = type as? any StorableValue.Type { return Self.acceptance(of: storable) }
        if let raw = type as? any RawRepresentable.Type, PropertyKind.storableRawValue(of: raw) != nil {
            return Self.acceptance(ofRaw: raw)
        }
        return (type as? any (Decodable & Encodable).Type).map { Self.acceptance(ofComposite: $0) }
    }

    private static func acceptance<V: StorableValue>(of type: V.Type) -> ((Value) -> Bool)? {
        // Columns of all other types cannot have a value that the type does not accept.
        type.attributeType == .url ? { V(storedValue: $0) != nil } : nil
    }

    private static func acceptance<Raw: RawRepresentable>(ofRaw type: Raw.Type) -> (Value) -> Bool {
        func accepts<V: StorableValue>(_ value: Value, as type: V.Type) -> Bool {
            (V(storedValue: value) as? Raw.RawValue).flatMap { Raw(rawValue: $0) } != nil
        }
        return { value in PropertyKind.storableRawValue(of: type).map { accepts(value, as: $0) } ?? false }
    }

    private static func acceptance<V: Decodable & Encodable>(ofComposite type: V.Type) -> (Value) -> Bool {
        { value in
            guard case .text(let text) = value else { return false }
            return CompositeAttribute<V>.read((nil, text)) != nil
        }
    }
}
