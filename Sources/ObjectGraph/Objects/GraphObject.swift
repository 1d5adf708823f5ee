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
    /// The class whose initializer takes the state of an object first: the class itself, or its nearest superclass with
    /// such an initializer.
    static var _$stateClass: AnyClass { get }
    /// Makes an object for a row or fault. Its state comes from ``ObjectState/materializing(_:)``.
    init(_materializing: Materialization)
    /// Copies the values that a new object itself stores to its state: constants, and the first values of the
    /// properties that subclasses add. It may be called again.
    func _$completeState()
    /// Called before a property changes, once ``_$beginObserving()`` was called.
    func _$willChange(at slot: Int)
    /// Called after a property has changed, once ``_$beginObserving()`` was called.
    func _$didChange(at slot: Int)
}

extension GraphObject {
    /// Where ``_$state`` is in memory.
    ///
    /// A stored property without observers keeps its address for the lifetime of the object, which makes the pointer
    /// valid beyond the call. The graph reads single fields through it: a read through the protocol would copy the
    /// whole state and change its reference counts.
    @inlinable
    public var _$address: UnsafeMutablePointer<ObjectState> { withUnsafeMutablePointer(to: &_$state) { $0 } }

    /// The address of the object's place in a graph and its values.
    @inlinable
    var state: UnsafeMutablePointer<ObjectState> { _$address }

    /// The class itself.
    public static var _$stateClass: AnyClass { self }

    /// Does nothing: the object itself stores no values.
    public func _$completeState() {}

    /// The entity.
    var entity: Entity { state.pointee.handler?.entity ?? Self._$entity(of: self) }
}
