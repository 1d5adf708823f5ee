import ObjectGraph

/// An attribute of a generic class whose type is one of the class's parameters.
///
/// In the generic class the compiler only knows that such a type is `Codable`, and chooses the accessors for `Codable`
/// types. The schema uses the type that the property has at run time, which may be stored directly or by its raw value.
/// The accessors of a property with a value transformer do not know the type at all.
enum UnspecializedAttribute {
    /// A value that is not stored as JSON text.
    enum PlainValue {
        case null
        case value(any StorableValue)
    }

    /// Returns the value, or its raw value, that is stored directly; nil if its type is stored as JSON text.
    static func plainValue<V>(of value: V) -> PlainValue? {
        guard plainType(of: V.self) != nil else { return nil }
        if let value = value as? any StorableValue { return .value(value) }
        if let value = value as? any RawRepresentable, let raw = value.rawValue as? any StorableValue {
            return .value(raw)
        }
        return .null
    }

    /// Reads a value of a type that is not stored as JSON text; nil for other types, and for null.
    ///
    /// - Parameter attribute: Reads the stored value as a given type.
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

    /// Returns the type as which values are stored; nil for JSON text.
    private static func plainType<V>(of type: V.Type) -> (any StorableValue.Type)? {
        let type = PropertyKind.unwrapped(type)
        if let storable = type as? any StorableValue.Type { return storable }
        return (type as? any RawRepresentable.Type).flatMap { PropertyKind.storableRawValue(of: $0) }
    }
}

extension UnspecializedAttribute.PlainValue {
    /// Changes an attribute of a model.
    func set(_ slot: Int, of model: some PersistentModel) {
        switch self {
        case .null: model._$setAttribute(.null, at: slot)
        case .value(let value): model._$setAttribute(storing: value, at: slot)
        }
    }

    /// Sets the initial value of a new object's attribute.
    func initialize(_ slot: Int, of state: inout some InitialValues) {
        switch self {
        case .null: state.initialize(slot, attribute: .null)
        case .value(let value): state.initialize(slot, storing: value)
        }
    }
}

extension PersistentModel {
    /// Returns an attribute that is not stored as JSON text, although the compiler chose the accessors for JSON text.
    func unspecializedAttribute<V>(at slot: Int) -> V? {
        func attribute<S: StorableValue>(_: S.Type) -> Any? { _$optionalAttribute(at: slot, as: S.self) }
        return UnspecializedAttribute.read(V.self) { attribute($0) }
    }
}

extension Materialization {
    /// Returns a constant that is not stored as JSON text, although the compiler chose the accessors for JSON text.
    func unspecializedAttribute<V>(at slot: Int) -> V? {
        func read<S: StorableValue>(_: S.Type) -> Any? { attribute(at: slot) as S? }
        return UnspecializedAttribute.read(V.self) { read($0) }
    }
}
