import Foundation
public import ObjectGraph

// The accessors that `Model()` generates for a property with the option `transformable(by:)`. The transformer makes the
// data of values whose type cannot be stored otherwise. Values of all other types are stored as without the option, so
// that files from before transformers were supported stay readable. The type at run time decides, as it does for the
// schema.

/// The stored form of a value with the option `transformable(by:)`.
private enum StoredForm {
    case plain(UnspecializedAttribute.PlainValue)
    case data(Data)
    case composite(any CompositeValue)

    init<V>(of value: V, by transformer: _AttributeTransformer) {
        if let plain = UnspecializedAttribute.plainValue(of: value) {
            self = .plain(plain)
            return
        }
        guard let present = unwrapped(value) else {
            self = .plain(.null)
            return
        }
        if let composite = Self.composite(present, as: PropertyKind.unwrapped(V.self)) {
            self = .composite(composite)
        } else if let data = transformer.data(of: present) {
            self = .data(data)
        } else {
            self = .composite(UntransformedValue(present))
        }
    }

    private static func composite(_ value: Any, as type: any Any.Type) -> (any CompositeValue)? {
        func make<C: Codable>(_ type: C.Type) -> (any CompositeValue)? { (value as? C).map { CompositeAttribute($0) } }
        return (type as? any (Decodable & Encodable).Type).flatMap { make($0) }
    }
}

/// A value that its transformer does not transform into data. A save reports it as not encodable.
private final class UntransformedValue: CompositeValue, AnyValueHolder {
    private struct HasNoData: Error {}

    let anyValue: Any

    init(_ value: Any) {
        anyValue = value
    }

    func encodedText() throws -> String { throw HasNoData() }
}

/// `Optional` of any wrapped type.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { map { $0 as Any } }
}

/// Returns the wrapped value of an optional, nil for nil, and other values as they are.
private func unwrapped<V>(_ value: V) -> Any? {
    if let optional = value as? any OptionalValue { return optional.wrapped }
    return value
}

extension _AttributeTransformer {
    /// Reads a value that is not stored directly or by its raw value; nil if the object has no value, or the stored
    /// value cannot be read as the type.
    ///
    /// - Parameters:
    ///   - composite: The value that was set, or the stored text, of a composite value.
    ///   - data: Returns the stored data of another value.
    fileprivate func read<V>(
        _ composite: (value: (any CompositeValue)?, text: String?),
        _ data: () -> Data?
    ) -> V? {
        if let holder = composite.value as? any AnyValueHolder { return holder.anyValue as? V }
        if let codable = V.self as? any (Decodable & Encodable).Type {
            func read<C: Codable>(_ type: C.Type) -> V? { CompositeAttribute<C>.read(composite) as? V }
            return read(codable)
        }
        // A raw value of no case is not data of the transformer.
        guard PropertyKind(of: V.self) == nil else { return nil }
        // If the transformer returns nil, the data cannot be read, also if the type is optional.
        guard let data = data(), let value = value(of: data).flatMap(unwrapped) else { return nil }
        return value as? V
    }
}

extension PersistentModel {
    /// Returns an attribute with a value transformer.
    public func _$value<V>(at slot: Int, by transformer: _AttributeTransformer) -> V {
        _$willRead(slot)
        if let value: V = unspecializedAttribute(at: slot) { return value }
        let value: V? = transformer.read(_$composite(at: slot)) { _$optionalAttribute(at: slot) }
        return value ?? missingValue(at: slot)
    }

    /// Changes an attribute with a value transformer.
    public func _$setValue<V>(_ value: V, at slot: Int, by transformer: _AttributeTransformer) {
        switch StoredForm(of: value, by: transformer) {
        case .plain(let value): value.set(slot, of: self)
        case .data(let data): _$setAttribute(.blob(data), at: slot)
        case .composite(let value): _$setComposite(value, at: slot)
        }
    }

    /// Sets the initial value of a new object's attribute with a value transformer.
    public static func _$initialize<V>(
        _ state: inout some InitialValues,
        _ slot: Int,
        to value: V,
        by transformer: _AttributeTransformer
    ) {
        switch StoredForm(of: value, by: transformer) {
        case .plain(let value): value.initialize(slot, of: &state)
        case .data(let data): state.initialize(slot, attribute: .blob(data))
        case .composite(let value): state.initialize(slot, composite: value)
        }
    }
}

extension Materialization {
    /// Returns an attribute with a value transformer.
    public func _$value<V>(at slot: Int, by transformer: _AttributeTransformer) -> V {
        if let value: V = unspecializedAttribute(at: slot) { return value }
        let value: V? = transformer.read(composite(at: slot)) { attribute(at: slot) }
        return value ?? missingValue(at: slot)
    }
}
