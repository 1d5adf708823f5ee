/// A class whose instances can live in an object graph: ``ManagedObject`` and its subclasses, and model classes.
///
/// Programs do not conform classes by hand. The members with `_$` in their names are the graph's own.
public protocol GraphObject: AnyObject, SendableMetatype {
    /// The object's place in a graph and its values.
    var _$state: ObjectState { get set }
    /// The entity, for an object that is not in a graph yet.
    static func _$entity(of object: Self) -> Entity
    /// Makes an object for a row or fault. Its state comes from ``ObjectState/materializing(_:)``.
    init(_materializing: Materialization)
    /// Copies the properties that are kept in the object itself to a new object's state.
    func _$recordConstants()
}

extension GraphObject {
    /// Nothing is kept in the object itself.
    public func _$recordConstants() {}

    /// The entity.
    var entity: Entity { _$state.handler?.entity ?? Self._$entity(of: self) }
}
