/// Primary keys in an order, without duplicates; adding and removing a key costs O(1).
struct KeyList {
    /// The mark in the position of a removed key.
    private static let hole = Int64.min
    /// Up to this count a search scans the list, which takes no longer than to hash the key; above it, it uses an
    /// index.
    private static let searchLimit = 64
    /// The number of empty positions that a short list may have.
    private static let maximumHoles = 16

    private var slots: ContiguousArray<Int64>
    private var positions: [Int64: Int]?
    private(set) var count: Int

    /// Creates a list of distinct keys.
    init(_ keys: some Sequence<Int64> = []) {
        slots = ContiguousArray(keys)
        count = slots.count
    }

    private mutating func position(of key: Int64) -> Int? {
        if slots.count <= Self.searchLimit { return slots.firstIndex(of: key) }
        if positions == nil {
            var index: [Int64: Int] = Dictionary(minimumCapacity: slots.count)
            for (position, key) in slots.enumerated() where key != Self.hole { index[key] = position }
            positions = index
        }
        return positions?[key]
    }

    mutating func contains(_ key: Int64) -> Bool { position(of: key) != nil }

    /// Adds a key at the end. Returns whether it was new.
    @discardableResult
    mutating func append(_ key: Int64) -> Bool {
        guard position(of: key) == nil else { return false }
        appendNew(key)
        return true
    }

    /// Adds a key that is known to be new at the end.
    mutating func appendNew(_ key: Int64) {
        positions?[key] = slots.count
        slots.append(key)
        count += 1
    }

    /// Removes a key.
    ///
    /// - Returns: the position that becomes empty, for ``insert(_:at:)``; nil if the list does not contain the key.
    @discardableResult
    mutating func remove(_ key: Int64) -> Int? {
        guard let position = position(of: key) else { return nil }
        slots[position] = Self.hole
        positions?[key] = nil
        count -= 1
        if slots.count > 2 * count + Self.maximumHoles {
            self = KeyList(self)
        }
        return position
    }

    /// Replaces all keys. Keys for which `newKey` returns 0 are dropped; the remaining keys must stay distinct.
    mutating func replace(by newKey: (Int64) -> Int64) {
        var end = 0
        for position in slots.indices where slots[position] != Self.hole {
            let key = newKey(slots[position])
            guard key != 0 else { continue }
            slots[end] = key
            end += 1
        }
        slots.removeSubrange(end...)
        positions = nil
        count = end
    }

    /// Replaces some of the keys, as ``replace(by:)`` replaces all. The other keys and their order stay.
    mutating func replace(_ keys: some Collection<Int64>, by newKey: (Int64) -> Int64) {
        // If many keys are replaced, it costs less to build a new index when it is needed.
        guard keys.count < count / 4 else {
            let replaced = Set(keys)
            return replace { replaced.contains($0) ? newKey($0) : $0 }
        }
        for key in keys {
            guard let position = position(of: key) else { continue }
            let new = newKey(key)
            guard new != 0 else {
                remove(key)
                continue
            }
            slots[position] = new
            positions?[key] = nil
            positions?[new] = position
        }
    }

    /// Adds a key that is known to be new in the empty position of a removed key, or at the end if that position no
    /// longer exists.
    mutating func insert(_ key: Int64, at position: Int) {
        guard position < slots.count, slots[position] == Self.hole else { return appendNew(key) }
        slots[position] = key
        positions?[key] = position
        count += 1
    }
}

extension KeyList: Sequence {
    func makeIterator() -> some IteratorProtocol<Int64> {
        slots.lazy.filter { $0 != Self.hole }.makeIterator()
    }

    var underestimatedCount: Int { count }
}
