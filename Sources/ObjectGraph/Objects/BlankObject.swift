/// Creates a new object with its initial values, in no graph, by the initializer that contexts use.
///
/// ```swift
/// let blank = BlankObject()
/// self.init(_materializing: blank.materialization)
/// blank.end()
/// ```
package struct BlankObject: ~Copyable {
    private let entry: UnsafeMutablePointer<PendingState.Entry>
    private let suspension: PendingState.Suspension

    /// Begins the creation. The call of the initializer follows.
    package init() {
        entry = .allocate(capacity: 1)
        entry.initialize(to: PendingState.Entry(stateClass: nil, state: ObjectState(slotCount: 0)))
        // An object that a context is creating further up the call stack must not pass its state to this object.
        suspension = PendingState.Suspension()
    }

    /// The argument of the initializer; valid until ``end()``.
    package var materialization: Materialization { Materialization(entry, isBlank: true) }

    /// Ends the creation, after the initializer has returned.
    package consuming func end() {
        suspension.end()
        entry.deinitialize(count: 1)
        entry.deallocate()
    }
}

extension GraphObject {
    /// A new object with its initial values, in no graph.
    ///
    /// - Precondition: The class is not a ``ManagedObject``, which needs its entity.
    package static func blank() -> Self {
        let blank = BlankObject()
        let object = Self(_materializing: blank.materialization)
        blank.end()
        return object
    }
}
