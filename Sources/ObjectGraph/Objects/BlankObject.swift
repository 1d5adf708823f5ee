/// The making of a new object by the initializer that contexts use: one with its initial values, which is in no graph.
///
/// ```swift
/// let blank = BlankObject()
/// self.init(_materializing: blank.materialization)
/// blank.end()
/// ```
package struct BlankObject: ~Copyable {
    private let entry: UnsafeMutablePointer<PendingState.Entry>
    private let suspension: PendingState.Suspension

    /// Begins; the next thing to do is to call the initializer.
    package init() {
        entry = .allocate(capacity: 1)
        entry.initialize(to: PendingState.Entry(stateClass: nil, state: ObjectState(slotCount: 0)))
        // An object that a context is making further up must not give its state to this one.
        suspension = PendingState.Suspension()
    }

    /// What the initializer takes; valid until ``end()``.
    package var materialization: Materialization { Materialization(entry, isBlank: true) }

    /// Ends, after the initializer has returned.
    package consuming func end() {
        suspension.end()
        entry.deinitialize(count: 1)
        entry.deallocate()
    }
}

extension ManagedObjectContext {
    /// Inserts a new object of an entity, of the class that the coordinator knows for it, with its initial values.
    package func insertNewObject(of entity: Entity) -> any GraphObject {
        let type = coordinator.objectTypes[entity.index]
        if let type = type as? ManagedObject.Type { return type.init(entity: entity, insertInto: self) }
        let object = type.blank()
        insert(object)
        return object
    }
}

extension GraphObject {
    /// A new object with its initial values, in no graph.
    ///
    /// - Precondition: The class is no ``ManagedObject``, which needs its entity.
    package static func blank() -> Self {
        let blank = BlankObject()
        let object = Self(_materializing: blank.materialization)
        blank.end()
        return object
    }
}
