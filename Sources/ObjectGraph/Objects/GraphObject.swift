/// A class whose instances can live in an object graph: ``ManagedObject`` and its subclasses, and model classes.
///
/// Programs do not conform classes by hand. The members with `_$` in their names are the graph's own.
public protocol GraphObject: QueryObject, SendableMetatype {
    /// The object's place in a graph and its values.
    var _$state: ObjectState { get set }
    /// Where ``_$state`` is in memory.
    var _$address: UnsafeMutablePointer<ObjectState> { get }
    /// The entity, for an object that is not in a graph yet.
    static func _$entity(of object: Self) -> Entity
    /// The class whose initializer asks for the state of an object first: the class itself, or the nearest one above that
    /// does, where a class inherits and leaves it at that.
    static var _$stateClass: AnyClass { get }
    /// Makes an object for a row or fault. Its state comes from ``ObjectState/materializing(_:)``.
    init(_materializing: Materialization)
    /// Copies what the object itself keeps to a new object's state: constants, and the first values of the properties that
    /// subclasses add. It may be called again.
    func _$completeState()
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

    /// The class itself.
    public static var _$stateClass: AnyClass { self }

    /// Nothing is kept in the object itself.
    public func _$completeState() {}

    /// The entity.
    var entity: Entity { state.pointee.handler?.entity ?? Self._$entity(of: self) }
}
