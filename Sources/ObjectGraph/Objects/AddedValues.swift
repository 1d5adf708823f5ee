/// The first values of the properties that a subclass adds.
///
/// An initializer assigns them before it calls the one of the superclass, which makes the object's ``ObjectState``, and
/// makes it without slots for them, since it does not know of the subclass. So each class below the topmost one keeps
/// them in the object until its state is complete: see `_$completeState()`. An object that was fetched has
/// none.
public struct AddedValues {
    /// The values, with room for those of the classes above; nil where there are none, or none any more.
    @usableFromInline var changes: ObjectChanges?

    /// The first values of an object whose initializer is running.
    ///
    /// - Parameters:
    ///   - type: The class whose initializer is running.
    ///   - superclass: The `_$stateClass` of the one above it, where the initializer of that one follows at
    ///     once; nil where the class itself calls ``Materialization/passed(to:)``.
    ///   - slotCount: The number of slots, those of the classes above included.
    public init(_ type: AnyClass, superclass: AnyClass?, slotCount: Int) {
        let isMaterialized = PendingState.claim(for: type, superclass: superclass)
        changes = isMaterialized ? nil : ObjectChanges.make(slotCount: slotCount)
    }

    /// Whether the program itself makes the object, so that it needs its initial values.
    public var isNew: Bool { changes != nil }
}

extension GraphObject {
    /// Brings what the object itself keeps into the state of a new object.
    func completeState() {
        state.pointee.flags.remove(.incomplete)
        _$completeState()
    }

    /// The same, where nobody has done it yet and values may be missing without it.
    @inline(__always)
    func completeStateIfNeeded() {
        if state.pointee.flags.contains(.incomplete) { completeState() }
    }
}
