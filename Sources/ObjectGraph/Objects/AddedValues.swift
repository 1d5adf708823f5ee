/// The first values of the properties that a subclass adds.
///
/// An initializer assigns these values before it calls the initializer of the superclass, which creates the object's
/// ``ObjectState`` without slots for them. So each subclass stores them in the object until its state is complete: see
/// `_$completeState()`. A fetched object has no such values.
public struct AddedValues {
    /// The values, with space for the values of the superclasses; nil if there are none, or they have been moved to the
    /// state.
    @usableFromInline var changes: ObjectChanges?

    /// The first values of an object whose initializer is running.
    ///
    /// - Parameters:
    ///   - type: The class whose initializer is running.
    ///   - superclass: The `_$stateClass` of the superclass if its initializer is called next; nil if the class itself
    ///     calls ``Materialization/passed(to:)``.
    ///   - slotCount: The number of slots, including the slots of the superclasses.
    public init(_ type: AnyClass, superclass: AnyClass?, slotCount: Int) {
        let isMaterialized = PendingState.claim(for: type, superclass: superclass)
        changes = isMaterialized ? nil : ObjectChanges.make(slotCount: slotCount)
    }

    /// Whether the program itself creates the object, which needs its initial values.
    public var isNew: Bool { changes != nil }
}

extension GraphObject {
    /// Copies the values that a new object stores itself to its state.
    func completeState() {
        state.pointee.flags.remove(.incomplete)
        _$completeState()
    }

    /// Completes the state if values may be missing in it.
    @inline(__always)
    func completeStateIfNeeded() {
        if state.pointee.flags.contains(.incomplete) { completeState() }
    }
}
