public import ObjectGraph

// A property that is declared with `let` is stored in the object itself. These functions read its value from the row
// when a context makes the object.

extension Materialization {
    /// Returns an attribute.
    public func _$value<V: StorableValue>(at slot: Int) -> V { attribute(at: slot) ?? V.read(Row.nullSlot, 0) }

    /// Returns an optional attribute.
    public func _$value<V: StorableValue>(at slot: Int) -> V? { attribute(at: slot) }

    /// Returns an attribute that is stored as its raw value.
    public func _$value<V: RawRepresentable>(at slot: Int) -> V where V.RawValue: StorableValue {
        attribute(at: slot).flatMap(V.init(rawValue:)) ?? missingValue(at: slot)
    }

    /// Returns an optional attribute that is stored as its raw value.
    public func _$value<V: RawRepresentable>(at slot: Int) -> V? where V.RawValue: StorableValue {
        guard let rawValue: V.RawValue = attribute(at: slot) else { return nil }
        return V(rawValue: rawValue) ?? missingValue(at: slot)
    }

    /// Returns an attribute that is stored as JSON text, optional or not.
    @_disfavoredOverload
    public func _$value<V: Codable>(at slot: Int) -> V {
        if let value: V = unspecializedAttribute(at: slot) { return value }
        return CompositeAttribute<V>.read(composite(at: slot)) ?? missingValue(at: slot)
    }

    /// Returns the destination of a relationship.
    public func _$value<M: PersistentModel>(at slot: Int) -> M {
        destination(at: slot) as? M ?? M._$placeholder(slotCount: M._$slotCount)
    }

    /// Returns the destination of an optional relationship.
    public func _$value<M: PersistentModel>(at slot: Int) -> M? { destination(at: slot) as? M }
}
