/// What an object holds beyond its row, slot by slot.
@usableFromInline
final class ObjectChanges: ManagedBuffer<ObjectChanges.Header, SlotValue> {
    @usableFromInline
    struct Header {
        @usableFromInline let slotCount: Int
        /// The permanent key that the store gave a new object; 0 before. It is kept when a save fails.
        @usableFromInline var assignedKey: Int64 = 0

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
        _ = withUnsafeMutablePointers { header, elements in
            elements.deinitialize(count: header.pointee.slotCount)
        }
    }

    @inlinable
    subscript(slot: Int) -> SlotValue {
        get {
            precondition(slot >= 0 && slot < header.slotCount, "there is no such slot")
            return withUnsafeMutablePointerToElements { $0[slot] }
        }
        set {
            precondition(slot >= 0 && slot < header.slotCount, "there is no such slot")
            withUnsafeMutablePointerToElements { $0[slot] = newValue }
        }
    }

    /// The members of the to-many relationship in a slot, or nil where nothing is known of them.
    func members(at slot: Int) -> ToManyMembers? {
        if case .members(let members) = self[slot] { members } else { nil }
    }
}
