public import ObjectGraph

// A property that is declared with `let` is kept in the object itself. When a context makes the object, these give it the
// value of its row.

extension Materialization {
    /// An attribute.
    public func _$value<V: StorableValue>(at slot: Int) -> V { attribute(at: slot) ?? V.read(.nullSlot, 0) }

    /// An optional attribute.
    public func _$value<V: StorableValue>(at slot: Int) -> V? { attribute(at: slot) }

    /// An attribute that is stored as its raw value.
    public func _$value<V: RawRepresentable>(at slot: Int) -> V where V.RawValue: StorableValue {
        attribute(at: slot).flatMap(V.init(rawValue:)) ?? missingValue(at: slot)
    }

    /// An optional attribute that is stored as its raw value.
    public func _$value<V: RawRepresentable>(at slot: Int) -> V? where V.RawValue: StorableValue {
        guard let rawValue: V.RawValue = attribute(at: slot) else { return nil }
        return V(rawValue: rawValue) ?? missingValue(at: slot)
    }

    /// An attribute that is stored as JSON text, optional or not.
    @_disfavoredOverload
    public func _$value<V: Codable>(at slot: Int) -> V {
        if let value: V = unspecializedAttribute(at: slot) { return value }
        return CompositeAttribute<V>.read(composite(at: slot)) ?? missingValue(at: slot)
    }

    /// The model that a relationship leads to.
    public func _$value<M: PersistentModel>(at slot: Int) -> M {
        destination(at: slot) as? M ?? M._$placeholder(slotCount: M._$slotCount)
    }

    /// The model that an optional relationship leads to.
    public func _$value<M: PersistentModel>(at slot: Int) -> M? { destination(at: slot) as? M }
}
