/// The handler, identity and values of an object, stored inline in the object: a fetched, unchanged object has no other
/// allocation.
///
/// | row | changes | the object is |
/// |---|---|---|
/// | – | – | a fault |
/// | – | with a `CachedRow` | a fault that a row can fill without a request to the store |
/// | set | – | clean |
/// | set | set | changed, or clean with members of to-many relationships loaded |
/// | – | set | new |
public struct ObjectState {
    /// The handler of the object's entity in its graph; nil for an object in no graph.
    @usableFromInline var handler: FaultHandler?
    /// The primary key; negative while it is temporary, 0 for an object in no graph.
    @usableFromInline var key: Int64 = 0
    /// The row, with `rowOffset`.
    @usableFromInline var chunk: RowChunk?
    @usableFromInline var rowOffset: UInt32 = 0
    @usableFromInline var life = ObjectLife.unchanged
    @usableFromInline var flags: ObjectFlags = []
    /// The values that differ from the row.
    @usableFromInline var changes: ObjectChanges?

    /// The state of a new object outside any graph.
    ///
    /// - Parameters:
    ///   - slotCount: The number of slots.
    ///   - isComplete: False if the object may be an instance of a subclass, which has further slots: see
    ///     ``AddedValues``.
    public init(slotCount: Int, isComplete: Bool = true) {
        changes = ObjectChanges.make(slotCount: slotCount)
        if !isComplete { flags = .incomplete }
    }

    init(handler: FaultHandler?, key: Int64) {
        self.handler = handler
        self.key = key
    }

    /// The row the object was read from or saved to.
    @inlinable
    var row: Row? {
        get {
            guard let chunk else { return nil }
            return Row(chunk: chunk, offset: rowOffset)
        }
        set {
            chunk = newValue?.chunk
            rowOffset = newValue?.offset ?? 0
        }
    }

    /// Sets the value of a slot while the object is being initialized; ignored for an object that is materialized.
    @inlinable
    mutating func initialize(_ slot: Int, to value: SlotValue) {
        guard handler == nil, let changes else { return }
        changes[slot] = value
        if case .pending = value { flags.insert(.hasPendingRelationships) }
    }

    /// Takes the first values of the properties that a subclass adds, after the values of its superclasses.
    public mutating func take(_ added: inout AddedValues) {
        guard handler == nil, let changes, let new = added.changes else { return }
        added.changes = nil
        for slot in 0..<changes.slotCount { new[slot] = changes[slot] }
        new.assignedKey = changes.assignedKey
        for slot in changes.slotCount..<new.slotCount {
            if case .pending = new[slot] { flags.insert(.hasPendingRelationships) }
        }
        self.changes = new
    }
}
