/// The arrays of the large to-many relationships that a program read or changed last, so that reading such a
/// relationship again, or changing its array in place, creates no new array.
///
/// A table keeps a few arrays of its objects until it releases an object. They retain no object that the table does not
/// retain.
struct RecentMembers {
    private static let limit = 4

    private var entries: [RecentMembersEntry] = []

    /// The entry for a relationship's members; nil if there is none in this state.
    func entry(for members: AnyObject, _ state: RecentMembersEntry.State) -> RecentMembersEntry? {
        entries.first { $0.members === members && $0.state == state }
    }

    mutating func add(_ entry: RecentMembersEntry) {
        remove(entry.members)
        entries.insert(entry, at: 0)
        if entries.count > Self.limit { entries.removeLast() }
    }

    mutating func remove(_ members: AnyObject) { entries.removeAll { $0.members === members } }

    /// Empties the list and returns the arrays.
    mutating func removeAll() -> [AnyObject] {
        if entries.isEmpty { return [] }
        defer { entries = [] }
        return entries
    }
}

/// An array of members, independent of their class.
class RecentMembersEntry {
    /// The numbers that are the same as long as the array is that of the members.
    struct State: Equatable {
        /// The number of changes of the members.
        let changes: Int
        /// The number of changes of the deleted or missing state of the context's objects.
        let deletions: Int
        /// The number of times that the table of the members has released objects: as long as it is the same, the
        /// addresses are those of the same objects.
        let releases: Int
    }

    /// The members, of which there is one object for each relationship of an object.
    let members: AnyObject
    /// The state when the array was stored.
    var state: State

    init(_ members: AnyObject, _ state: State) {
        self.members = members
        self.state = state
    }
}
