/// The values of an object beyond its row, slot by slot.
@usableFromInline
final class ObjectChanges: ManagedBuffer<ObjectChanges.Header, SlotValue> {
    @usableFromInline
    struct Header {
        @usableFromInline let slotCount: Int
        @usableFromInline var assignedKey: Int64 = 0
        /// See ``ObjectChanges/cachedRow``.
        var cachedRow: CachedRow?

        @inlinable
        init(slotCount: Int) {
            self.slotCount = slotCount
        }
    }

    @inlinable
    static func make(slotCount: Int) -> ObjectChanges {
        let buffer = ObjectChanges.create(minimumCapacity: slotCount) { _ in Header(slotCount: slotCount) }
        buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: .unset, count: slotCount) }
        return unsafeDowncast(buffer, to: ObjectChanges.self)
    }

    @inlinable
    deinit {
        let slots = slots
        for slot in 0..<slotCount where !slots[slot].isTrivial { (slots + slot).deinitialize(count: 1) }
    }

    // By pointers, not through `header`: no access calls the program, so dynamic exclusivity checks would only cost
    // time.

    /// The number of slots.
    @inlinable
    var slotCount: Int { withUnsafeMutablePointerToHeader { $0.pointee.slotCount } }

    /// The permanent key that the store assigned to a new object; 0 if none is assigned. It is kept when a save fails.
    @inlinable
    var assignedKey: Int64 {
        get { withUnsafeMutablePointerToHeader { $0.pointee.assignedKey } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.assignedKey = newValue } }
    }

    /// The row that can fill a fault. It is stored here since few objects have one, and reads of objects with changes
    /// are slower anyway.
    var cachedRow: CachedRow? {
        get { withUnsafeMutablePointerToHeader { $0.pointee.cachedRow } }
        set { withUnsafeMutablePointerToHeader { $0.pointee.cachedRow = newValue } }
    }

    /// Whether there are no values beyond the row, except ``cachedRow``.
    var isEmpty: Bool { assignedKey == 0 && (0..<slotCount).allSatisfy { slots[$0].isUnset } }

    /// The slots' values; valid for the lifetime of the changes.
    @inlinable
    var slots: UnsafeMutablePointer<SlotValue> { withUnsafeMutablePointerToElements { $0 } }

    @inlinable
    subscript(slot: Int) -> SlotValue {
        get {
            precondition(slot >= 0 && slot < slotCount, "there is no such slot")
            return slots[slot]
        }
        set {
            precondition(slot >= 0 && slot < slotCount, "there is no such slot")
            slots[slot] = newValue
        }
    }

    /// Whether a slot has a value of a class of the program, whose `deinit` may run code of the program.
    @inline(__always)
    func isComposite(at slot: Int) -> Bool {
        if slot < slotCount, case .composite = slots[slot] { true } else { false }
    }

    /// A separate copy.
    func copy() -> ObjectChanges {
        let copy = ObjectChanges.make(slotCount: slotCount)
        copy.assignedKey = assignedKey
        copy.cachedRow = cachedRow
        for slot in 0..<slotCount {
            copy[slot] = if case .members(let members) = self[slot] { .members(members.copy()) } else { self[slot] }
        }
        return copy
    }

    /// The members of the to-many relationship in a slot; nil if no members are known.
    func members(at slot: Int) -> ToManyMembers? {
        if case .members(let members) = self[slot] { members } else { nil }
    }
}
