/// A set of slots.
public struct SlotSet: Hashable, Sendable {
    private var low: UInt64 = 0
    /// The slots from 64 on, 64 to a word, without zeros at the end.
    private var high: [UInt64] = []

    /// The empty set.
    public init() {}

    /// Whether the set is empty.
    public var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Adds a slot.
    public mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 << UInt64(slot)
        } else {
            let word = slot / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 << UInt64(slot % 64)
        }
    }

    /// The set of all slots of an entity.
    package init(allOf entity: Entity) {
        for slot in 0..<entity.slotCount { insert(slot) }
    }

    /// The set of the slots of properties.
    package init(_ properties: some Sequence<Property>) {
        for property in properties { insert(property.slot) }
    }

    /// Adds the slots of another set.
    package mutating func formUnion(_ other: SlotSet) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for (word, bits) in other.high.enumerated() { high[word] |= bits }
    }

    /// Removes the slots of another set.
    package mutating func subtract(_ other: SlotSet) {
        low &= ~other.low
        for (word, bits) in zip(high.indices, other.high) { high[word] &= ~bits }
        while high.last == 0 { high.removeLast() }
    }

    /// Whether the sets have no common slot.
    public func isDisjoint(with other: SlotSet) -> Bool {
        low & other.low == 0 && zip(high, other.high).allSatisfy { $0 & $1 == 0 }
    }

    /// Whether a slot is in the set.
    public func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
        let word = slot / 64 - 1
        return word < high.count && high[word] & (1 << UInt64(slot % 64)) != 0
    }
}
