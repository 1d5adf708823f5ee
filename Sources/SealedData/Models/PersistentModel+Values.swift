public import ObjectGraph

// The accessors that `Model()` generates call these functions; the property's type selects the overload. The overloads
// for JSON text are disfavored, because models, identifiers and plain values are `Codable` as well.

extension PersistentModel {
    // MARK: Reading

    /// Returns an attribute.
    @inlinable @inline(__always)
    public func _$value<V: StorableValue>(at slot: Int) -> V {
        _$willRead(slot)
        return _$attribute(at: slot)
    }

    /// Returns an optional attribute.
    @inlinable @inline(__always)
    public func _$value<V: StorableValue>(at slot: Int) -> V? {
        _$willRead(slot)
        return _$optionalAttribute(at: slot)
    }

    /// Returns an attribute that is stored as its raw value.
    @inlinable
    public func _$value<V: RawRepresentable>(at slot: Int) -> V where V.RawValue: StorableValue {
        _$willRead(slot)
        return V(rawValue: _$attribute(at: slot)) ?? missingValue(at: slot)
    }

    /// Returns an optional attribute that is stored as its raw value.
    @inlinable
    public func _$value<V: RawRepresentable>(at slot: Int) -> V? where V.RawValue: StorableValue {
        _$willRead(slot)
        guard let rawValue: V.RawValue = _$optionalAttribute(at: slot) else { return nil }
        return V(rawValue: rawValue) ?? missingValue(at: slot)
    }

    /// Returns an attribute that is stored as JSON text, optional or not.
    @_disfavoredOverload
    public func _$value<V: Codable>(at slot: Int) -> V {
        _$willRead(slot)
        let stored = _$composite(at: slot)
        if stored.value == nil, let value: V = unspecializedAttribute(at: slot) { return value }
        return CompositeAttribute<V>.read(stored) ?? missingValue(at: slot)
    }

    /// Returns the destination of a relationship. If it no longer exists, the result is the last known destination, or
    /// a deleted model without values.
    @inlinable
    public func _$value<M: PersistentModel>(at slot: Int) -> M {
        _$willRead(slot)
        return lastDestination(at: slot) as? M ?? missingDestination(at: slot)
    }

    /// Returns the destination of an optional relationship.
    @inlinable
    public func _$value<M: PersistentModel>(at slot: Int) -> M? {
        _$willRead(slot)
        return destination(at: slot) as? M
    }

    /// Returns the members of a relationship.
    @inlinable
    public func _$value<C: RelationshipCollection>(at slot: Int) -> C {
        _$willRead(slot)
        return C(_$models: memberObjects(at: slot, as: C.PersistentElement.self))
    }

    // MARK: Writing

    /// Changes an attribute.
    @inlinable @inline(__always)
    public func _$setValue<V: StorableValue>(_ value: V, at slot: Int) {
        _$setAttribute(storing: value, at: slot)
    }

    /// Changes an optional attribute.
    @inlinable @inline(__always)
    public func _$setValue<V: StorableValue>(_ value: V?, at slot: Int) {
        if let value {
            _$setAttribute(storing: value, at: slot)
        } else {
            _$setAttribute(.null, at: slot)
        }
    }

    /// Changes an attribute that is stored as its raw value.
    @inlinable
    public func _$setValue<V: RawRepresentable>(_ value: V, at slot: Int) where V.RawValue: StorableValue {
        _$setAttribute(storing: value.rawValue, at: slot)
    }

    /// Changes an optional attribute that is stored as its raw value.
    @inlinable
    public func _$setValue<V: RawRepresentable>(_ value: V?, at slot: Int) where V.RawValue: StorableValue {
        _$setValue(value?.rawValue, at: slot)
    }

    /// Changes an attribute that is stored as JSON text.
    @_disfavoredOverload
    public func _$setValue<V: Codable>(_ value: V, at slot: Int) {
        if let plain = UnspecializedAttribute.plainValue(of: value) {
            plain.set(slot, of: self)
        } else {
            _$setComposite(CompositeAttribute(value), at: slot)
        }
    }

    /// Changes an optional attribute that is stored as JSON text.
    @_disfavoredOverload
    public func _$setValue<V: Codable>(_ value: V?, at slot: Int) {
        if let value {
            _$setValue(value, at: slot)
        } else {
            _$setAttribute(.null, at: slot)
        }
    }

    /// Changes the destination of a relationship, and its inverse.
    public func _$setValue<M: PersistentModel>(_ model: M?, at slot: Int) {
        setDestination(model, at: slot)
    }

    /// Changes the members of a relationship, and its inverse.
    public func _$setValue<C: RelationshipCollection>(_ models: C, at slot: Int) {
        setMembers(models._$models, at: slot)
    }

    // MARK: Changing in place

    /// Takes the members of a relationship, to change them in place.
    public func _$take<M: PersistentModel>(at slot: Int) -> [M] {
        _$willRead(slot)
        return takeMembers(at: slot, as: M.self)
    }

    /// Takes the members of an optional relationship, to change them in place.
    public func _$take<M: PersistentModel>(at slot: Int) -> [M]? {
        _$willRead(slot)
        return takeMembers(at: slot, as: M.self)
    }

    /// Takes the elements of an attribute, to change them in place.
    @_disfavoredOverload
    public func _$take<V: Codable>(at slot: Int) -> V { _$value(at: slot) }

    /// Stores the members of a relationship that were changed in place.
    public func _$put<M: PersistentModel>(_ models: [M], at slot: Int) { putMembers(models, at: slot) }

    /// Stores the members of an optional relationship that were changed in place.
    public func _$put<M: PersistentModel>(_ models: [M]?, at slot: Int) { putMembers(models ?? [], at: slot) }

    /// Stores the elements of an attribute that were changed in place.
    @_disfavoredOverload
    public func _$put<V: Codable>(_ value: V, at slot: Int) { _$setValue(value, at: slot) }

    // MARK: Initializing

    /// Sets the initial value of a new object's attribute.
    @inlinable
    public static func _$initialize<V: StorableValue>(_ state: inout some InitialValues, _ slot: Int, to value: V) {
        state.initialize(slot, storing: value)
    }

    /// Sets the initial value of a new object's optional attribute.
    @inlinable
    public static func _$initialize<V: StorableValue>(_ state: inout some InitialValues, _ slot: Int, to value: V?) {
        if let value {
            state.initialize(slot, storing: value)
        } else {
            state.initialize(slot, attribute: .null)
        }
    }

    /// Sets the initial value of a new object's attribute that is stored as its raw value.
    @inlinable
    public static func _$initialize<V: RawRepresentable>(_ state: inout some InitialValues, _ slot: Int, to value: V)
    where V.RawValue: StorableValue {
        state.initialize(slot, storing: value.rawValue)
    }

    /// Sets the initial value of a new object's optional attribute that is stored as its raw value.
    @inlinable
    public static func _$initialize<V: RawRepresentable>(_ state: inout some InitialValues, _ slot: Int, to value: V?)
    where V.RawValue: StorableValue {
        _$initialize(&state, slot, to: value?.rawValue)
    }

    /// Sets the initial value of a new object's attribute that is stored as JSON text.
    @_disfavoredOverload
    public static func _$initialize<V: Codable>(_ state: inout some InitialValues, _ slot: Int, to value: V) {
        if let plain = UnspecializedAttribute.plainValue(of: value) {
            plain.initialize(slot, of: &state)
        } else {
            state.initialize(slot, composite: CompositeAttribute(value))
        }
    }

    /// Sets the initial value of a new object's optional attribute that is stored as JSON text.
    @_disfavoredOverload
    public static func _$initialize<V: Codable>(_ state: inout some InitialValues, _ slot: Int, to value: V?) {
        if let value {
            _$initialize(&state, slot, to: value)
        } else {
            state.initialize(slot, attribute: .null)
        }
    }

    /// Sets the initial destination of a new object's relationship.
    public static func _$initialize<M: PersistentModel>(_ state: inout some InitialValues, _ slot: Int, to model: M?) {
        state.initialize(slot, related: model.map { [$0] } ?? [])
    }

    /// Sets the initial members of a new object's relationship.
    public static func _$initialize<C: RelationshipCollection>(
        _ state: inout some InitialValues,
        _ slot: Int,
        to models: C
    ) {
        state.initialize(slot, related: models._$models)
    }
}
