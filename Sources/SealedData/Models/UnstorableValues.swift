public import ObjectGraph

// The accessors that `Model()` writes call these for a property of a type that cannot be stored, since every other overload
// fits better. Reading is unavailable, which makes one error of the compiler for the property. The rest compiles, because
// errors about it would only repeat the first one; it never runs.

extension PersistentModel {
    /// A value of a type that cannot be stored.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "values of the property's type can't be stored; make the type Codable, or mark the property @Transient"
    )
    public func _$value<V>(at slot: Int) -> V { missingValue(at: slot) }

    /// Does nothing.
    @_disfavoredOverload
    public func _$setValue<V>(_ value: V, at slot: Int) {}

    /// A value of a type that cannot be stored.
    @_disfavoredOverload
    public func _$take<V>(at slot: Int) -> V { missingValue(at: slot) }

    /// Does nothing.
    @_disfavoredOverload
    public func _$put<V>(_ value: V, at slot: Int) {}

    /// Does nothing.
    @_disfavoredOverload
    public static func _$initialize<V>(_ state: inout some InitialValues, _ slot: Int, to value: V) {}
}

extension Materialization {
    /// A constant of a type that cannot be stored.
    @_disfavoredOverload
    @available(
        *,
        unavailable,
        message: "values of the constant's type can't be stored; make the type Codable, or mark the property @Transient"
    )
    public func _$value<V>(at slot: Int) -> V { missingValue(at: slot) }
}
