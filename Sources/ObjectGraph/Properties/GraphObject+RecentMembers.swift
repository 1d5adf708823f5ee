#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

private final class RecentArray<M: GraphObject>: RecentMembersEntry {
    /// The members; empty while the program has the array.
    var objects: [M] = []
    var isTaken = true
}

extension GraphObject {
    /// Returns the members of a to-many relationship, for a change in place that ``putMembers(_:at:)`` applies.
    public func takeMembers<M: GraphObject>(at slot: Int, as type: M.Type) -> [M] {
        guard let (changeTracker, relationship, members) = recentlyChangeable(at: slot) else {
            return memberObjects(at: slot, as: type)
        }
        let known = changeTracker.recentMembers.entry(
            for: members,
            deletions: changeTracker.identityMap.deletionStamp(of: relationship)
        )
        if let known = known as? RecentArray<M>, !known.isTaken {
            known.isTaken = true
            var objects: [M] = []
            swap(&objects, &known.objects)
            return objects
        }
        let objects = memberObjects(at: slot, as: type)
        let entry = RecentArray<M>(members, deletions: changeTracker.identityMap.deletionStamp(of: relationship))
        entry.addresses = objects.withUnsafeBytes { Array($0.bindMemory(to: UInt.self)) }
        changeTracker.recentMembers.add(entry)
        return objects
    }

    /// Sets a to-many relationship to the objects that ``takeMembers(at:as:)`` returned, changed in place.
    ///
    /// - Complexity: O(1) for each object that was added at the end, plus a comparison of the addresses of the others.
    public func putMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let (changeTracker, relationship, members) = recentlyChangeable(at: slot),
            let entry = changeTracker.recentMembers.entry(
                for: members,
                deletions: changeTracker.identityMap.deletionStamp(of: relationship)
            ) as? RecentArray<M>,
            entry.isTaken, entry.isPrefix(of: objects)
        else { return setMembers(objects.map { $0 }, at: slot) }
        let new = objects[entry.addresses.count...]
        for object in new { addMember(object, at: slot) }
        guard members.count == objects.count else { return changeTracker.recentMembers.remove(members) }
        entry.addresses += new.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
        entry.objects = objects
        entry.isTaken = false
        entry.stamp = members.stamp
        entry.deletions = changeTracker.identityMap.deletionStamp(of: relationship)
    }

    /// The array of members that the program changed last; nil if the members have changed since.
    func recentMembers<M: GraphObject>(
        _ members: ToManyMembers,
        of relationship: Relationship,
        as type: M.Type
    ) -> [M]? {
        guard let context = state.pointee.handler?.context,
            let entry = context.changeTracker.recentMembers.entry(
                for: members,
                deletions: context.identityMap.deletionStamp(of: relationship)
            ) as? RecentArray<M>,
            !entry.isTaken
        else { return nil }
        return entry.objects
    }

    private func recentlyChangeable(at slot: Int) -> (ChangeTracker, Relationship, ToManyMembers)? {
        completeInitialization()
        guard let handler = state.pointee.handler, let context = handler.context,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else { return nil }
        context.deletePropagation.run()
        return (context.changeTracker, relationship, members(of: relationship))
    }
}

extension RecentArray {
    /// Whether the objects begin with the previous members of the array.
    fileprivate func isPrefix(of other: [M]) -> Bool {
        guard other.count >= addresses.count else { return false }
        return other.withUnsafeBytes { new in
            addresses.withUnsafeBytes { old in
                old.isEmpty || memcmp(new.baseAddress!, old.baseAddress!, old.count) == 0
            }
        }
    }
}

extension IdentityMap {
    /// A number that changes whenever the deleted or missing state of an object changes, and whenever destinations of
    /// the relationship are released, after which other objects may reuse their addresses.
    fileprivate func deletionStamp(of relationship: Relationship) -> Int {
        deletionStamp &+ handlers[relationship.destination.index].table.sweeps
    }
}
