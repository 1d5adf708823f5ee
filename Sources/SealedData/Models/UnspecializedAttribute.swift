import ObjectGraph

/// An attribute of a generic class whose type is one of the class's parameters.
///
/// All that the compiler knows of such a type is that it is `Codable`, and it chooses the accessors by that. The schema goes
/// by the type that the property has in the end, which may be one that is stored as it is or by its raw value.
enum UnspecializedAttribute {
    /// A value in the form in which those of its type are stored; nil where that is JSON text.
    static func storedForm<V>(of value: V) -> Value? {
        guard plainType(of: V.self) != nil else { return nil }
        if let value = value as? any StorableValue { return value.storedValue }
        if let value = value as? any RawRepresentable, let raw = value.rawValue as? any StorableValue {
            return raw.storedValue
        }
        return .null
    }

    /// Reads a value of a type that is not stored as JSON text; nil for other types, and where there is none.
    ///
    /// - Parameter attribute: Gives the stored value as one of a type.
    static func read<V>(_ type: V.Type, _ attribute: (any StorableValue.Type) -> Any?) -> V? {
        guard let stored = plainType(of: type), let value = attribute(stored) else { return nil }
        if let raw = PropertyKind.unwrapped(type) as? any RawRepresentable.Type, !(raw is any StorableValue.Type) {
            return make(raw, value) as? V
        }
        return value as? V
    }

    private static func make<Raw: RawRepresentable>(_ type: Raw.Type, _ value: Any) -> Any? {
        (value as? Raw.RawValue).flatMap { Raw(rawValue: $0) }
    }

    /// The type as which values are stored; nil where that is JSON text.
    private static func plainType<V>(of type: V.Type) -> (any StorableValue.Type)? {
        let type = PropertyKind.unwrapped(type)
        if let storable = type as? any StorableValue.Type { return storable }
        return (type as? any RawRepresentable.Type).flatMap { PropertyKind.storableRawValue(of: $0) }
    }
}

extension PersistentModel {
    /// An attribute of a type that is not stored as JSON text, though the compiler took it for one that is.
    func unspecializedAttribute<V>(at slot: Int) -> V? {
        func attribute<S: StorableValue>(_: S.Type) -> Any? { _$optionalAttribute(at: slot, as: S.self) }
        return UnspecializedAttribute.read(V.self) { attribute($0) }
    }
}

extension Materialization {
    /// The same for a constant.
    func unspecializedAttribute<V>(at slot: Int) -> V? {
        func read<S: StorableValue>(_: S.Type) -> Any? { attribute(at: slot) as S? }
        return UnspecializedAttribute.read(V.self) { read($0) }
    }
}
