/// A class whose instances can belong to an object graph: ``ManagedObject`` and its subclasses, and model classes.
///
/// Programs do not implement conformances. The members with `_$` in their names are internal to the graph.
public protocol GraphObject: QueryObject, SendableMetatype {
    /// The object's handler, identity and values.
    var _$state: ObjectState { get set }
    /// The address of ``_$state``.
    var _$address: UnsafeMutablePointer<ObjectState> { get }
    /// The entity of an object that is not in a graph yet.
    static func _$entity(of object: Self) -> Entity
    /// The class whose initializer takes the state of an object first: the class itself, or its nearest superclass with
    /// such an initializer.
    static var _$stateClass: AnyClass { get }
    /// Creates an object for a row or fault. Its state comes from ``ObjectState/materializing(_:)``.
    init(_materializing: Materialization)
    /// Copies the values that a new object stores itself to its state: constants, and the first values of the
    /// properties that subclasses add. It may be called again.
    func _$completeState()
    /// Called before a property changes, after ``_$beginObserving(at:)`` was called.
    func _$willChange(at slot: Int)
    /// Called after a property has changed, after ``_$beginObserving(at:)`` was called.
    func _$didChange(at slot: Int)
}

extension GraphObject {
    /// The address of ``_$state``.
    ///
    /// A stored property without observers keeps its address for the lifetime of the object, which makes the pointer
    /// valid beyond the call. The graph reads single fields through it: a read through the protocol would copy the
    /// whole state and change its reference counts.
    @inlinable
    public var _$address: UnsafeMutablePointer<ObjectState> { withUnsafeMutablePointer(to: &_$state) { $0 } }

    /// The address of ``_$state``.
    @inlinable
    var state: UnsafeMutablePointer<ObjectState> { _$address }

    /// The class itself.
    public static var _$stateClass: AnyClass { self }

    /// Does nothing: the object stores no values itself.
    public func _$completeState() {}

    /// The entity.
    var entity: Entity { state.pointee.handler?.entity ?? Self._$entity(of: self) }
}
