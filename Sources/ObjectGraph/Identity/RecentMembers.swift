/// The arrays of the large to-many relationships that a program read or changed last, so that reading such a
/// relationship again, or changing its array in place, creates no new array.
///
/// A table keeps a few arrays of its objects until it releases an object. They retain no object that the table does not
/// retain.
struct RecentMembers {
    private static let limit = 4

    private var entries: [RecentMembersEntry] = []

    /// The entry for a relationship's members; nil if there is none in this state.
    func entry(for members: ToManyMembers, _ state: RecentMembersEntry.State) -> RecentMembersEntry? {
        entries.first { $0.members === members && $0.state == state }
    }

    mutating func add(_ entry: RecentMembersEntry) {
        remove(entry.members)
        entries.insert(entry, at: 0)
        if entries.count > Self.limit { entries.removeLast() }
    }

    mutating func remove(_ members: ToManyMembers) { entries.removeAll { $0.members === members } }

    /// Removes an object that has just been deleted from the arrays that contain it.
    mutating func remove(_ object: AnyObject, withKey key: Int64) {
        if entries.isEmpty { return }
        entries.removeAll { $0.members.contains(key) && !$0.remove(object) }
    }

    /// Empties the list and returns the arrays.
    mutating func removeAll() -> [AnyObject] {
        if entries.isEmpty { return [] }
        defer { entries = [] }
        return entries
    }
}

/// An array of members, independent of their class.
class RecentMembersEntry {
    /// Numbers that stay the same while the array contains the present members.
    struct State: Equatable {
        /// The number of changes of the members.
        var changes: Int
        /// The number of changes of the deleted or missing state of the context's objects, except for the deletion of
        /// single objects.
        let deletions: Int
        /// The number of times that the table of the members has released objects: while it is the same, the addresses
        /// belong to the same objects.
        let releases: Int
    }

    /// The members. Each relationship of an object has one such instance.
    let members: ToManyMembers
    /// The state when the array was stored.
    var state: State
    /// The last object that was removed from the array.
    private var removed: UnsafeMutableRawPointer?
    /// Whether the array was read since an object was removed. If it was not, a further removal drops the array:
    /// removing each of many objects would move the rest of the array as often, although the program does not read it.
    private var wasRead = true

    init(_ members: ToManyMembers, _ state: State) {
        self.members = members
        self.state = state
    }

    /// Records that the array is read.
    func noteRead() { wasRead = true }

    /// Records that the array is replaced by the present array.
    func noteReplacement() {
        removed = nil
        wasRead = true
    }

    /// Removes an object from the array. Both its deletion and its removal from the relationship call this.
    ///
    /// - Returns: whether the array now contains the members without the object.
    func remove(_ object: AnyObject) -> Bool {
        let address = Unmanaged.passUnretained(object).toOpaque()
        if removed == address { return true }
        guard wasRead, removeFromArray(object) else { return false }
        removed = address
        wasRead = false
        return true
    }

    /// Removes an object from the array.
    ///
    /// - Returns: false if the program is changing the array.
    func removeFromArray(_ object: AnyObject) -> Bool { false }
}
