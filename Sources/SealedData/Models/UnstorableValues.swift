public import ObjectGraph

// The accessors that `Model()` generates for a property of a type that cannot be stored call these functions, because
// every other overload is a better match. The read function is unavailable, which makes one compiler error for the
// property. The others compile, because their errors would only repeat the first one. They never run.

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
