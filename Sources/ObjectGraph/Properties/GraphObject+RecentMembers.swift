private final class RecentArray<M: GraphObject>: RecentMembersEntry {
    /// The members; empty while the program changes the array.
    var objects: [M]
    /// The addresses of the members while the program changes the array; otherwise nil.
    var addresses: [UInt]?

    init(_ members: ToManyMembers, _ state: State, _ objects: [M]) {
        self.objects = objects
        super.init(members, state)
    }

    /// Returns the array, which has no other reference then.
    func take() -> [M] {
        addresses = objects.addresses
        var taken: [M] = []
        swap(&taken, &objects)
        return taken
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
        guard known?.addresses == nil else { return memberObjects(at: slot, as: type) }
        let entry = known ?? RecentArray(current.members, current.state, objects)
        if known == nil { current.table.recentMembers.add(entry) }
        objects = []
        return entry.take()
    }

    /// Sets a to-many relationship to the objects that ``takeMembers(at:as:)`` returned, changed in place.
    ///
    /// - Complexity: O(1) for each object that was added or removed, plus a comparison of the addresses of the others.
    public func putMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let current = currentMembers(at: slot), let entry = current.entry(of: M.self),
            let old = entry.addresses
        else { return setMembers(objects, at: slot) }
        apply(objects, old, to: current, entry, at: slot)
    }

    /// Sets the members of a to-many relationship, and updates the inverses. An object that occurs twice counts once.
    ///
    /// - Complexity: O(1) for each object that is added or removed, plus a comparison of the addresses of the others.
    public func setMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let current = currentMembers(at: slot), current.members.count >= Self.smallestKeptArray else {
            return setMembers(objects.map { $0 as any GraphObject }, at: slot)
        }
        let old = memberObjects(at: slot, as: M.self)
        withExtendedLifetime(old) {
            guard let current = currentMembers(at: slot) else { return }
            apply(objects, old.addresses, to: current, current.entry(of: M.self), at: slot)
        }
    }

    /// Changes the members from the objects at some addresses, which the table retains, to others.
    private func apply<M: GraphObject>(
        _ objects: [M],
        _ old: [UInt],
        to current: CurrentMembers,
        _ entry: RecentArray<M>?,
        at slot: Int
    ) {
        let new = objects.addresses
        let start = old.commonPrefix(with: new)
        let end = old.commonSuffix(with: new, after: start)
        let removed = old[start..<(old.count - end)]
        let added = objects[start..<(objects.count - end)]
        if current.relationship.isOrdered, !(removed.isEmpty && end == 0) {
            return setMembers(objects.map { $0 as any GraphObject }, at: slot)
        }
        for object in added { joinGraph(of: object) }
        let objectsToRemove = removed.compactMap { address -> (any GraphObject)? in
            UnsafeRawPointer(bitPattern: address).map { Unmanaged<M>.fromOpaque($0).takeUnretainedValue() }
        }
        replaceMembers(objectsToRemove, by: added.map { $0 as any GraphObject }, of: current.relationship)
        // Members are added at the end.
        guard let entry, removed.isEmpty ? end == 0 : added.isEmpty, current.members.count == objects.count else {
            return current.table.recentMembers.remove(current.members)
        }
        entry.objects = objects
        entry.addresses = nil
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
        guard let entry = current.entry(of: type), entry.addresses == nil else { return nil }
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
    let table: IdentityTable

    init(_ members: ToManyMembers, _ relationship: Relationship, _ identityMap: IdentityMap) {
        self.members = members
        self.relationship = relationship
        self.identityMap = identityMap
        table = identityMap.handlers[relationship.destination.index].table
    }

    var state: RecentMembersEntry.State {
        .init(changes: members.stamp, deletions: identityMap.deletionStamp, releases: table.releases)
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

extension [UInt] {
    /// The number of equal elements at the beginning.
    fileprivate func commonPrefix(with other: [UInt]) -> Int {
        let limit = Swift.min(count, other.count)
        return withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { other in (0..<limit).first { own[$0] != other[$0] } ?? limit }
        }
    }

    /// The number of equal elements at the end, without those before a position.
    fileprivate func commonSuffix(with other: [UInt], after start: Int) -> Int {
        let limit = Swift.min(count, other.count) - start
        let (end, otherEnd) = (count - 1, other.count - 1)
        return withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { other in
                (0..<limit).first { own[end - $0] != other[otherEnd - $0] } ?? limit
            }
        }
    }
}
