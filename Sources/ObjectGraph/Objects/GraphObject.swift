/// A class whose instances can live in an object graph: ``ManagedObject`` and its subclasses, and model classes.
///
/// Programs do not conform classes by hand. The members with `_$` in their names are the graph's own.
public protocol GraphObject: AnyObject, SendableMetatype {
    /// The object's place in a graph and its values.
    var _$state: ObjectState { get set }
    /// Where ``_$state`` is in memory.
    var _$address: UnsafeMutablePointer<ObjectState> { get }
    /// The entity, for an object that is not in a graph yet.
    static func _$entity(of object: Self) -> Entity
    /// Makes an object for a row or fault. Its state comes from ``ObjectState/materializing(_:)``.
    init(_materializing: Materialization)
    /// Copies the properties that are kept in the object itself to a new object's state.
    func _$recordConstants()
    /// Called before a property changes, once ``_$beginObserving()`` was called.
    func _$willChange(at slot: Int)
    /// Called after a property has changed, once ``_$beginObserving()`` was called.
    func _$didChange(at slot: Int)
}

extension GraphObject {
    /// Where ``_$state`` is in memory.
    ///
    /// A stored property of an object, without observers, stays where it is for as long as the object lives; that makes
    /// the pointer valid beyond the call that gives it. The graph reads single fields through it: read by way of the
    /// protocol, the whole state would be copied with its reference counts each time.
    @inlinable
    public var _$address: UnsafeMutablePointer<ObjectState> { withUnsafeMutablePointer(to: &_$state) { $0 } }

    /// The object's place in a graph and its values, where they are.
    @inlinable
    var state: UnsafeMutablePointer<ObjectState> { _$address }

    /// Nothing is kept in the object itself.
    public func _$recordConstants() {}

    /// The entity.
    var entity: Entity { state.pointee.handler?.entity ?? Self._$entity(of: self) }
}
