public import ObjectGraph
// Exported, as SwiftData exports them: a file that imports SwiftData uses `Date`, `#Predicate` and `@Observable` without a
// further import.
@_exported public import Foundation
@_exported public import Observation

/// A class whose instances a container stores. ``Model()`` writes the conformance.
///
/// Models belong to the thread or actor of their context. Two references to one object of a context are one reference:
/// equality is identity.
public protocol PersistentModel: GraphObject, Observable, Hashable, Identifiable {
    /// What the schema knows of each persisted property that the class itself declares, in the order of their declaration,
    /// followed by the class's indexes and uniqueness constraints.
    static var schemaMetadata: [Schema.PropertyMetadata] { get }

    /// The number of persisted properties, inherited ones included.
    static var _$slotCount: Int { get }

    /// Gives a new object the initial values of the properties that the topmost model class declares.
    static func _$applyDefaults(to state: inout _ObjectState)
}

/// An object's place in a graph and its values.
public typealias _ObjectState = ObjectGraph.ObjectState

/// The first values of the properties that a subclass adds.
public typealias _AddedValues = ObjectGraph.AddedValues

/// The proof that an object is made by a context.
public typealias _Materialization = ObjectGraph.Materialization

/// What a persisted property keeps in the object itself: nothing.
public struct _NoStorage: Sendable {
    /// Makes nothing.
    @inlinable
    public init() {}
}

extension PersistentModel {
    /// Whether both are the same object.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Nothing is kept in the object itself.
    public func _$completeState() {}

    /// The entity that the class stands for outside any container.
    public static func _$entity(of object: Self) -> Entity { DetachedEntities.entity(for: type(of: object)) }
}

extension ObjectState {
    /// The state of an object whose initializer is running: that of the row that a context makes the object for, else that
    /// of a new object with its initial values.
    public init<Model: PersistentModel>(_ type: Model.Type) {
        self.init(type, isComplete: true)
    }

    /// The same for a class that others inherit from: the object may be of one of them.
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
    /// The first values of an object whose initializer is running, with the initial values of the properties that `type`
    /// adds; none for an object that a context makes.
    public init<Model: PersistentModel>(
        _ type: Model.Type,
        superclass: AnyClass? = nil,
        applyDefaults: (inout AddedValues) -> Void
    ) {
        self.init(type, superclass: superclass, slotCount: Model._$slotCount)
        if isNew { applyDefaults(&self) }
    }
}
