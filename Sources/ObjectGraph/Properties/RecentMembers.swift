#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The arrays of the to-many relationships that a program changed last, so that adding to a large one in place does not
/// make it anew each time.
///
/// A context keeps a few of them until its next save. They hold their members, which are changed objects for the most
/// part, as the context does anyway.
struct RecentMembers {
    private static let limit = 4

    private var entries: [RecentMembersEntry] = []

    /// The entry for a relationship's members, where it still tells them; else nil.
    func entry(for members: ToManyMembers, deletions: Int) -> RecentMembersEntry? {
        entries.first { $0.members === members && $0.stamp == members.stamp && $0.deletions == deletions }
    }

    mutating func add(_ entry: RecentMembersEntry) {
        entries.removeAll { $0.members === entry.members }
        entries.insert(entry, at: 0)
        if entries.count > Self.limit { entries.removeLast() }
    }

    mutating func remove(_ members: ToManyMembers) { entries.removeAll { $0.members === members } }

    /// Empties the list and gives the arrays away.
    mutating func removeAll() -> [AnyObject] {
        defer { entries = [] }
        return entries
    }
}

/// What is known of an array of members, apart from their class.
class RecentMembersEntry {
    let members: ToManyMembers
    /// What ``ToManyMembers/stamp`` was.
    fileprivate(set) var stamp: Int
    /// What ``ManagedObjectContext/deletionStamp(of:)`` was.
    fileprivate(set) var deletions: Int
    /// The addresses of the members.
    fileprivate var addresses: [UInt] = []

    fileprivate init(_ members: ToManyMembers, deletions: Int) {
        self.members = members
        stamp = members.stamp
        self.deletions = deletions
    }
}

private final class RecentArray<M: GraphObject>: RecentMembersEntry {
    /// The members; empty while the program has them.
    var objects: [M] = []
    var isTaken = true
}

extension GraphObject {
    /// The members of a to-many relationship, to be changed in place and put back by ``putMembers(_:at:)``.
    public func takeMembers<M: GraphObject>(at slot: Int, as type: M.Type) -> [M] {
        guard let (context, relationship, members) = recentlyChangeable(at: slot) else {
            return memberObjects(at: slot, as: type)
        }
        let known = context.recentMembers.entry(for: members, deletions: context.deletionStamp(of: relationship))
        if let known = known as? RecentArray<M>, !known.isTaken {
            known.isTaken = true
            var objects: [M] = []
            swap(&objects, &known.objects)
            return objects
        }
        let objects = memberObjects(at: slot, as: type)
        let entry = RecentArray<M>(members, deletions: context.deletionStamp(of: relationship))
        entry.addresses = objects.withUnsafeBytes { Array($0.bindMemory(to: UInt.self)) }
        context.recentMembers.add(entry)
        return objects
    }

    /// Makes a to-many relationship lead to the objects that ``takeMembers(at:as:)`` gave, changed in place.
    ///
    /// - Complexity: O(1) for each object that was added at the end, besides a comparison of the others' addresses.
    public func putMembers<M: GraphObject>(_ objects: [M], at slot: Int) {
        guard let (context, relationship, members) = recentlyChangeable(at: slot),
            let entry = context.recentMembers.entry(
                for: members,
                deletions: context.deletionStamp(of: relationship)
            ) as? RecentArray<M>,
            entry.isTaken, entry.isPrefix(of: objects)
        else { return setMembers(objects.map { $0 }, at: slot) }
        let new = objects[entry.addresses.count...]
        for object in new { addMember(object, at: slot) }
        guard members.count == objects.count else { return context.recentMembers.remove(members) }
        entry.addresses += new.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
        entry.objects = objects
        entry.isTaken = false
        entry.stamp = members.stamp
        entry.deletions = context.deletionStamp(of: relationship)
    }

    /// The array of members that the program changed last; nil where it is not known any more.
    func recentMembers<M: GraphObject>(
        _ members: ToManyMembers,
        of relationship: Relationship,
        as type: M.Type
    ) -> [M]? {
        guard let context = state.pointee.handler?.context,
            let entry = context.recentMembers.entry(
                for: members,
                deletions: context.deletionStamp(of: relationship)
            ) as? RecentArray<M>,
            !entry.isTaken
        else { return nil }
        return entry.objects
    }

    private func recentlyChangeable(at slot: Int) -> (ManagedObjectContext, Relationship, ToManyMembers)? {
        settleFirstValues()
        guard let handler = state.pointee.handler, let context = handler.context,
            case .relationship(let relationship) = handler.entity.properties[slot]
        else { return nil }
        context.propagateDeletes()
        return (context, relationship, members(of: relationship))
    }
}

extension RecentArray {
    /// Whether the objects begin with the members that the array had.
    fileprivate func isPrefix(of other: [M]) -> Bool {
        guard other.count >= addresses.count else { return false }
        return other.withUnsafeBytes { new in
            addresses.withUnsafeBytes { old in
                old.isEmpty || memcmp(new.baseAddress!, old.baseAddress!, old.count) == 0
            }
        }
    }
}

extension ManagedObjectContext {
    /// Another number after each change of which objects count as deleted, and after each time that destinations of the
    /// relationship were let go of, so that their addresses may be those of others by now.
    fileprivate func deletionStamp(of relationship: Relationship) -> Int {
        deletionStamp &+ handlers[relationship.destination.index].table.sweeps
    }
}
