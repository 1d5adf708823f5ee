public import ObjectGraph
// Exported, as SwiftData exports them: a file that imports SwiftData uses `Date`, `#Predicate` and `@Observable`
// without further imports.
@_exported public import Foundation
@_exported public import Observation

/// A class whose instances a container stores. ``Model()`` generates the conformance.
///
/// Models belong to the thread or actor of their context. A context has one instance for each object, so equality is
/// identity, unless the class declares `==`. An `==` in an extension needs `Equatable` in the declaration of the class
/// or extension.
public protocol PersistentModel: GraphObject, Observable, Hashable, Identifiable, _ReplaceableObject {
    /// The description of each persisted property that the class declares, in order of declaration, followed by the
    /// class's indexes and uniqueness constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    /// The number of persisted properties, including inherited ones.
    static var _$slotCount: Int { get }

    /// Sets the initial values of a new object's properties that the topmost model class declares.
    static func _$applyDefaults(to state: inout _ObjectState)
}

/// The context, the identifier and the values of an object.
public typealias _ObjectState = ObjectGraph.ObjectState

/// The initial values of the properties that a subclass adds.
public typealias _AddedValues = ObjectGraph.AddedValues

/// The token of an object that a context creates.
public typealias _Materialization = ObjectGraph.Materialization

/// The storage of a persisted property in the object itself, which is empty.
public struct _NoStorage: Sendable {
    /// Makes the empty storage.
    @inlinable
    public init() {}
}

extension PersistentModel {
    /// Whether both are the same object. A class can declare another `==`.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Does nothing: the state is already complete.
    public func _$completeState() {}

    /// Returns the entity of the class outside any container.
    public static func _$entity(of object: Self) -> Entity { DetachedEntities.entity(for: type(of: object)) }
}

extension ObjectState {
    /// Makes the state of an object whose initializer is running: the state of the row for which a context makes the
    /// object, or the state of a new object with its initial values.
    public init<Model: PersistentModel>(_ type: Model.Type) {
        self.init(type, isComplete: true)
    }

    /// Makes the state of an object of a class with subclasses: the object may be an instance of a subclass.
    public init<Model: _InheritableModel>(_ type: Model.Type) {
        self.init(type, isComplete: false)
    }

    private init<Model: PersistentModel>(_ type: Model.Type, isComplete: Bool) {
        if let state = ObjectState.materializing(type) {
            self = state
        } else {
            self.init(slotCount: Model._$slotCount, isComplete: isComplete)
            Model._$applyDefaults(to: &self)
        }
    }
}

extension AddedValues {
    /// Makes the initial values that `type` adds to an object whose initializer is running; empty for an object that a
    /// context makes.
    public init<Model: PersistentModel>(
        _ type: Model.Type,
        superclass: AnyClass? = nil,
        applyDefaults: (inout AddedValues) -> Void
    ) {
        self.init(type, superclass: superclass, slotCount: Model._$slotCount)
        if isNew { applyDefaults(&self) }
    }
}
