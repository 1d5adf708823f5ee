/// The members of one object's to-many relationship, and their differences from the stored members.
///
/// No access to the variables calls the program, so dynamic exclusivity checks would only cost time.
@usableFromInline
final class ToManyMembers {
    /// The keys of the members; before the relationship is loaded, the keys of the added members.
    private(set) var keys: KeyList {
        get { list }
        _modify {
            stamp &+= 1
            yield &list
        }
    }
    /// A search may build the index of the list, which is no change of the members.
    @exclusivity(unchecked) private var list: KeyList
    /// A number that differs after each change of the members.
    @exclusivity(unchecked) private(set) var stamp = 0
    /// Whether `keys` contains all members.
    @exclusivity(unchecked) private(set) var isLoaded: Bool
    /// The added members, in any order. Before the relationship is loaded, the store may have some of them. A stored
    /// member that was removed before is added at another position.
    var added: [Int64] { areAllAdded ? Array(keys) : Array(addedKeys) }
    /// Whether all `keys` are added: the members of a new object. `addedKeys` is empty then.
    @exclusivity(unchecked) private var areAllAdded: Bool
    /// The number of times that the stored members were forgotten.
    @exclusivity(unchecked) private var unloadCount: UInt32 = 0
    @exclusivity(unchecked) private var addedKeys: Set<Int64> = []
    /// The removed members. The store may lack some of them.
    @exclusivity(unchecked) private(set) var removed: Set<Int64> = []
    /// Whether the order of an ordered relationship differs from the store's.
    @exclusivity(unchecked) private(set) var isReordered = false

    /// Makes the members of a relationship that is not loaded.
    init() {
        list = KeyList()
        isLoaded = false
        areAllAdded = false
    }

    /// Creates the members of a new object's relationship, which no store has.
    init(new keys: some Sequence<Int64>) {
        list = KeyList(keys)
        isLoaded = true
        areAllAdded = true
    }

    /// The ``unloadCount`` at which the store has the order of the members; nil if it has another order.
    var storedOrder: UInt32? { isReordered ? nil : unloadCount }

    /// A separate copy.
    func copy() -> ToManyMembers {
        let copy = ToManyMembers()
        copy.keys = keys
        copy.isLoaded = isLoaded
        copy.areAllAdded = areAllAdded
        copy.addedKeys = addedKeys
        copy.removed = removed
        copy.isReordered = isReordered
        return copy
    }

    /// Whether a save has something to write.
    var isChanged: Bool { hasAdded || !removed.isEmpty || isReordered }

    private var hasAdded: Bool { areAllAdded ? keys.count > 0 : !addedKeys.isEmpty }

    /// Whether a key belongs to an added member.
    func isAdded(_ key: Int64) -> Bool { areAllAdded ? contains(key) : addedKeys.contains(key) }

    /// Adds the stored members. Earlier changes stay: an added member that the store has is no change.
    ///
    /// - Returns: the keys of these added members.
    @discardableResult
    func load(_ stored: some Sequence<Int64>) -> Set<Int64> {
        guard !isLoaded else { return [] }
        isLoaded = true
        if keys.count == 0, !isChanged {
            keys = KeyList(stored)
            return []
        }
        let known = keys
        let stored = KeyList(stored)
        let storedKeys = Set(stored)
        // A member that was removed and added again is new if another writer has removed it.
        removed.subtract(addedKeys.subtracting(storedKeys))
        let found = addedKeys.intersection(storedKeys).subtracting(removed)
        addedKeys.subtract(found)
        let current = storedKeys.subtracting(removed).union(addedKeys)
        // An order that was set in this context takes precedence over the stored order.
        keys = KeyList(isReordered ? known.filter(current.contains) : [])
        for key in stored where !removed.contains(key) { keys.append(key) }
        for key in known where current.contains(key) { keys.append(key) }
        return found
    }

    /// Records that the store has an added member, so that the addition is no change.
    func noteStored(_ key: Int64) {
        guard !areAllAdded, !removed.contains(key), addedKeys.remove(key) != nil, !isLoaded, !isReordered else {
            return
        }
        keys.remove(key)
    }

    /// The number of ``keys``.
    var count: Int { keys.count }

    /// Whether the key is among ``keys``.
    func contains(_ key: Int64) -> Bool { list.contains(key) }

    /// Whether one of the keys belongs to a member that was not added.
    func hasStored(among keys: Set<Int64>) -> Bool {
        if areAllAdded { return false }
        let isStored = { (key: Int64) in self.contains(key) && !self.addedKeys.contains(key) }
        return keys.count > count
            ? self.keys.contains { keys.contains($0) && isStored($0) } : keys.contains(where: isStored)
    }

    /// Returns whether the key was new.
    @discardableResult
    func add(_ key: Int64) -> Bool {
        guard keys.append(key) else { return false }
        if !areAllAdded { addedKeys.insert(key) }
        return true
    }

    /// Removes a member. Before the relationship is loaded, any key may belong to a member.
    ///
    /// - Parameter isPair: Whether the store has the members as pairs, so that it may have an added member, too. Otherwise
    ///   the member's own row decides.
    /// - Returns: how to restore the key; nil if it was not a member.
    @discardableResult
    func remove(_ key: Int64, isPair: @autoclosure () -> Bool) -> Removal? {
        if isLoaded, !list.contains(key) { return nil }
        let position = keys.remove(key)
        let wasAdded = areAllAdded || addedKeys.remove(key) != nil
        guard wasAdded else {
            guard removed.insert(key).inserted else { return nil }
            return Removal(position: isLoaded ? position : nil, wasAdded: false, wasRemoved: false)
        }
        let mayBeStored = !isLoaded && key > 0 && isPair()
        let wasRemoved = mayBeStored ? !removed.insert(key).inserted : removed.contains(key)
        return Removal(position: isLoaded ? position : nil, wasAdded: true, wasRemoved: wasRemoved)
    }

    /// Reverts the addition of a key since the last save. A member that the store has stays: it was not added.
    ///
    /// - Returns: how to restore the key; nil if nothing has changed.
    func revertAddition(of key: Int64) -> Removal? {
        guard isAdded(key), let position = keys.remove(key) else { return nil }
        addedKeys.remove(key)
        let wasRemoved = removed.contains(key)
        return Removal(
            position: isLoaded ? position : nil,
            wasAdded: true,
            wasRemoved: wasRemoved,
            revertsAddition: true
        )
    }

    /// The information to restore a removed member.
    struct Removal {
        /// The member's position; nil if the members were not loaded.
        let position: Int?
        /// Whether the key belonged to an added member.
        let wasAdded: Bool
        /// Whether a stored member with the key had been removed before.
        let wasRemoved: Bool
        /// Whether the addition of the member was reverted.
        var revertsAddition = false
    }

    /// Restores a removed member. Returns whether it was missing.
    ///
    /// - Parameter isUnsavedPair: Whether the store has the members as pairs, and the removal was not saved. If the
    ///   removal is no longer a change, another writer has removed the stored member, too: the store decides.
    func revert(_ removal: Removal, of key: Int64, isUnsavedPair: Bool) -> Bool {
        guard !contains(key) else { return false }
        if isUnsavedPair, !removal.wasAdded, !removal.wasRemoved, !removed.contains(key) { return false }
        // The removal of an added member, before the relationship was loaded, has also removed a stored member.
        let isStored = !removal.wasRemoved && removed.remove(key) != nil
        if isStored, !removal.wasAdded || isLoaded {
            guard isLoaded else { return true }
            guard let position = removal.position else {
                // Only the store knows the position, and whether an added member was stored.
                if removal.wasAdded {
                    addedKeys.insert(key)
                    keys.append(key)
                }
                unload()
                return true
            }
            keys.insert(key, at: position)
        } else {
            if !areAllAdded { addedKeys.insert(key) }
            keys.insert(key, at: removal.position ?? .max)
        }
        return true
    }

    /// Restores a stored member that was removed; only the store knows its position. If the store had lost the member
    /// before the members were read, it is the last member until they are read again.
    func restoreStored(_ key: Int64) {
        if removed.remove(key) != nil { unload() } else if isLoaded { keys.append(key) }
    }

    /// Forgets the stored members, and whether a member was added or removed: the store decides.
    func forgetChange(of key: Int64) {
        if isAdded(key) {
            keys.remove(key)
            addedKeys.remove(key)
        }
        removed.remove(key)
        unload()
    }

    /// Turns members that the store has lost into new members. Returns whether there are any.
    func readd(_ lost: Set<Int64>) -> Bool {
        if areAllAdded { return false }
        let readded = keys.filter { lost.contains($0) && !addedKeys.contains($0) }
        addedKeys.formUnion(readded)
        return !readded.isEmpty
    }

    /// Changes the order of the keys, which are already members. Keys of deleted members, which are not among them,
    /// follow: an undo may restore the members.
    func reorder(_ ordered: [Int64]) {
        let named = Set(ordered)
        keys = KeyList(ordered + keys.filter { !named.contains($0) })
        isReordered = true
    }

    /// Changes the order of the members. Members that the order does not contain follow.
    ///
    /// - Parameter storedAt: The value of ``storedOrder`` before the change. If the stored members were forgotten
    ///   since, another writer may have changed their order, so that the next access reads it, unless some members are
    ///   added: only `ordered` has their positions.
    func restoreOrder(_ ordered: [Int64], storedAt: UInt32?) {
        let current = Set(keys)
        let named = Set(ordered)
        keys = KeyList(ordered.filter(current.contains) + keys.filter { !named.contains($0) })
        isReordered = storedAt == nil
        if let storedAt, storedAt != unloadCount, !hasAdded { unload() }
    }

    /// Replaces keys by other keys.
    ///
    /// - Precondition: The keys belong to added members.
    func replaceKeys(_ newKeys: [Int64: Int64]) {
        let replaced = added.filter { newKeys[$0] != nil }
        guard !replaced.isEmpty else { return }
        keys.replace(replaced) { newKeys[$0] ?? $0 }
        addedKeys = Set(addedKeys.map { newKeys[$0] ?? $0 })
    }

    /// Records that all changes are saved, new objects under their permanent keys.
    func didSave(keyInStore: (Int64) -> Int64) {
        if !isLoaded {
            keys = KeyList()
        } else if areAllAdded {
            keys.replace(by: keyInStore)
        } else {
            // Only members added since the last save may have temporary keys.
            let temporary = addedKeys.filter { $0 < 0 }
            if !temporary.isEmpty { keys.replace(temporary, by: keyInStore) }
        }
        areAllAdded = false
        addedKeys = []
        removed = []
        isReordered = false
    }

    /// Forgets the stored members, so that the next access reads the store. Earlier changes stay.
    func unload() {
        guard isLoaded else { return }
        stamp &+= 1
        unloadCount &+= 1
        if areAllAdded {
            addedKeys = Set(keys)
            areAllAdded = false
        }
        if !isReordered { keys = KeyList(keys.filter(addedKeys.contains)) }
        isLoaded = false
    }
}
