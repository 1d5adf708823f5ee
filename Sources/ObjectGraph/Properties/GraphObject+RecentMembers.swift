private final class RecentArray<M: GraphObject>: RecentMembersEntry {
    /// The members; empty while the program changes the array.
    var objects: [M]
    /// The addresses of the members, once the program has changed the array.
    var addresses: [UInt] = []
    /// Whether the program changes the array.
    var isTaken = false

    init(_ members: ToManyMembers, _ state: State, _ objects: [M]) {
        self.objects = objects
        super.init(members, state)
    }

    /// Returns the array, which has no other reference then.
    func take() -> [M] {
        if addresses.count != objects.count { addresses = objects.addresses }
        isTaken = true
        var taken: [M] = []
        swap(&taken, &objects)
        return taken
    }

    override func removeFromArray(_ object: AnyObject) -> Bool {
        guard !isTaken, let position = objects.firstIndex(where: { $0 === object }) else { return false }
        objects.remove(at: position)
        addresses = []
        return true
    }
}

extension GraphObject {
    // MARK: Changing

    /// Returns the members of a to-many relationship, for a change in place that ``putMembers(_:at:)`` applies.
    public func takeMembers<M: GraphObject>(at slot: Int, as type: M.Type) -> [M] {
        guard let current = currentMembers(at: slot) else { return memberObjects(at: slot, as: type) }
        var objects: [M] = []
        if current.entry(of: type) == nil { objects = memberObjects(at: slot, as: type) }
        // Reading may have loaded the members, and stored the array.
        let known = current.entry(of: type)
        if known?.isTaken ?? false { return memberObjects(at: slot, as: type) }
        let entry = known ?? RecentArray(current.members, current.state, objects)
        if known == nil { current.table.recentMembers.add(entry) }
        objects = []
        return entry.take()
    }

    /// Sets a to-many relationship to the objects that ``takeMembers(at:as:)`` returned, changed in place.
    ///
    /// - Complexity: O(1) for each object that was added or removed, plus a comparison of the addresses of the other
    ///   objects.
    public func putMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let current = currentMembers(at: slot), let entry = current.entry(of: M.self), entry.isTaken else {
            return setMembers(objects, at: slot)
        }
        apply(ArrayChange(from: entry.addresses, to: objects), to: current, entry, at: slot)
    }

    /// Sets the members of a to-many relationship, and updates the inverses. An object that occurs twice counts once.
    ///
    /// - Complexity: O(1) for each object that is added or removed, plus a comparison of the addresses of the other
    ///   objects.
    public func setMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let current = currentMembers(at: slot), current.members.count >= Self.smallestKeptArray else {
            return setMembers(objects as [any GraphObject], at: slot)
        }
        let old = memberObjects(at: slot, as: M.self)
        guard let current = currentMembers(at: slot) else { return }
        let change = ArrayChange(from: old.addresses, to: objects)
        withExtendedLifetime(old) { apply(change, to: current, current.entry(of: M.self), at: slot) }
    }

    /// Changes the members as a program has changed their array. The table retains the previous objects.
    private func apply<M: GraphObject>(
        _ change: ArrayChange<M>,
        to current: CurrentMembers,
        _ entry: RecentArray<M>?,
        at slot: Int
    ) {
        if current.relationship.isOrdered, !change.added.isEmpty, !change.isAtEnd || !change.removed.isEmpty {
            return setMembers(change.objects as [any GraphObject], at: slot)
        }
        let removed = change.removed.compactMap { address -> (any GraphObject)? in
            UnsafeRawPointer(bitPattern: address).map { Unmanaged<M>.fromOpaque($0).takeUnretainedValue() }
        }
        let added = change.added.map { $0 as any GraphObject }
        for object in added { joinGraph(of: object) }
        replaceMembers(removed[...], by: added[...], of: current.relationship)
        // Members are added at the end.
        guard let entry, change.added.isEmpty || change.isAtEnd && change.removed.isEmpty,
            current.members.count == change.objects.count
        else { return current.table.recentMembers.remove(current.members) }
        if entry.isTaken { change.update(&entry.addresses) } else { entry.addresses = [] }
        entry.objects = change.objects
        entry.noteReplacement()
        entry.isTaken = false
        entry.state = current.state
    }

    // MARK: Reading

    /// The array of members that the program read or changed last; nil if the members have changed since.
    func recentMembers<M: GraphObject>(
        _ members: ToManyMembers,
        of relationship: Relationship,
        in context: ManagedObjectContext,
        as type: M.Type
    ) -> [M]? {
        let current = CurrentMembers(members, relationship, context.identityMap)
        guard let entry = current.entry(of: type), !entry.isTaken else { return nil }
        entry.noteRead()
        return entry.objects
    }

    /// Stores an array of members for the next read.
    func keepRecentMembers<M: GraphObject>(
        _ objects: [M],
        _ members: ToManyMembers,
        of relationship: Relationship,
        in context: ManagedObjectContext
    ) {
        let current = CurrentMembers(members, relationship, context.identityMap)
        current.table.recentMembers.add(RecentArray(members, current.state, objects))
    }

    /// Calls `remove`, which removes a member, and removes the object from the array of members that is kept for the
    /// next read.
    @inline(__always)
    func removingFromRecentMembers(
        _ key: Int64,
        _ members: ToManyMembers,
        of relationship: Relationship,
        _ remove: () -> ToManyMembers.Removal?
    ) -> ToManyMembers.Removal? {
        guard members.count >= Self.smallestKeptArray, let context = managedObjectContext else { return remove() }
        let before = CurrentMembers(members, relationship, context.identityMap)
        let entry = before.table.recentMembers.entry(for: members, before.state)
        let removal = remove()
        if let entry, removal != nil, let object = before.table.object(forKey: key)?.object, entry.remove(object) {
            entry.state.changes = members.stamp
        }
        return removal
    }

    /// The members of a to-many relationship of an object in a context.
    private func currentMembers(at slot: Int) -> CurrentMembers? {
        completeInitialization()
        guard let handler = state.pointee.handler, let context = handler.context,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else { return nil }
        context.deletePropagation.run()
        return CurrentMembers(members(of: relationship), relationship, context.identityMap)
    }
}

/// The members of a to-many relationship of an object in a context, with the table of all objects of their class.
private struct CurrentMembers {
    let members: ToManyMembers
    let relationship: Relationship
    let identityMap: IdentityMap
    let table: ObjectTable

    init(_ members: ToManyMembers, _ relationship: Relationship, _ identityMap: IdentityMap) {
        self.members = members
        self.relationship = relationship
        self.identityMap = identityMap
        table = identityMap.handlers[relationship.destination.index].table
    }

    var state: RecentMembersEntry.State {
        .init(changes: members.stamp, deletions: identityMap.unnamedDeletionStamp, releases: table.releases)
    }

    /// The array of the members in their present state; nil if it is not stored.
    func entry<M: GraphObject>(of type: M.Type) -> RecentArray<M>? {
        table.recentMembers.entry(for: members, state) as? RecentArray<M>
    }
}

extension Array where Element: AnyObject {
    /// The addresses of the objects.
    fileprivate var addresses: [UInt] { withUnsafeBytes { Array<UInt>($0.bindMemory(to: UInt.self)) } }
}

/// The difference between the previous array of members and the present one.
private struct ArrayChange<M: GraphObject> {
    let objects: [M]
    /// The position of the first difference.
    let start: Int
    /// The addresses of the objects that differ in the previous array.
    let removed: [UInt]
    /// The objects that differ in the present array.
    let added: ArraySlice<M>

    init(from old: [UInt], to objects: [M]) {
        let (start, end) = old.commonEnds(with: objects)
        self.objects = objects
        self.start = start
        removed = Array(old[start..<(old.count - end)])
        added = objects[start..<(objects.count - end)]
    }

    /// Whether no object follows the difference.
    var isAtEnd: Bool { added.endIndex == objects.count }

    /// Changes the addresses of the previous array into the addresses of the present array.
    func update(_ addresses: inout [UInt]) {
        addresses.replaceSubrange(start..<(start + removed.count), with: Array(added).addresses)
    }
}

extension [UInt] {
    /// The number of equal addresses at the beginning, and the number of equal addresses at the end behind them.
    fileprivate func commonEnds(with objects: [some AnyObject]) -> (start: Int, end: Int) {
        withUnsafeBufferPointer { old in
            objects.withUnsafeBytes { bytes in
                let new = bytes.bindMemory(to: UInt.self)
                let limit = Swift.min(old.count, new.count)
                var start = 0
                while start < limit, old[start] == new[start] { start += 1 }
                var end = 0
                while end < limit - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
                return (start, end)
            }
        }
    }
}
