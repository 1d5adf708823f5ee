/// The arrays of the to-many relationships that a program changed last, so that adding to a large array in place does
/// not create a new array each time.
///
/// A context keeps a few arrays until its next save. They retain their members, most of which are changed objects that
/// the context retains anyway.
struct RecentMembers {
    private static let limit = 4

    private var entries: [RecentMembersEntry] = []

    /// The entry for a relationship's members; nil if they have changed since.
    func entry(for members: ToManyMembers, deletions: Int) -> RecentMembersEntry? {
        entries.first { $0.members === members && $0.stamp == members.stamp && $0.deletions == deletions }
    }

    mutating func add(_ entry: RecentMembersEntry) {
        entries.removeAll { $0.members === entry.members }
        entries.insert(entry, at: 0)
        if entries.count > Self.limit { entries.removeLast() }
    }

    mutating func remove(_ members: ToManyMembers) { entries.removeAll { $0.members === members } }

    /// Empties the list and returns the arrays.
    mutating func removeAll() -> [AnyObject] {
        defer { entries = [] }
        return entries
    }
}

/// An array of members, independent of their class.
class RecentMembersEntry {
    let members: ToManyMembers
    /// The ``ToManyMembers/stamp`` when the array was stored.
    var stamp: Int
    /// The deletion stamp of the relationship when the array was stored.
    var deletions: Int
    /// The addresses of the members.
    var addresses: [UInt] = []

    init(_ members: ToManyMembers, deletions: Int) {
        self.members = members
        stamp = members.stamp
        self.deletions = deletions
    }
}
