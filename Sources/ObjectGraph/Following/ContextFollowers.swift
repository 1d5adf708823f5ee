/// An object that follows the changes of a context, such as live results.
package protocol ContextFollower: AnyObject {
    /// The slots whose changes concern the follower, by the ``Entity/index`` of their root entities. Insertions and
    /// deletions of objects of these root entities, and changes whose extent is unknown, concern it in any case.
    var followedSlots: [Int: SlotSet] { get }
    /// Called after the context has processed changes, of which at least one concerns the follower.
    func contextDidChange(_ changes: ContextChanges)
}

/// The followers of a context, which are referred to weakly, grouped by the changes that concern them: changes that
/// concern no follower are compared with each group, not with each follower.
struct ContextFollowers {
    private struct WeakFollower {
        weak var follower: (any ContextFollower)?
        /// The position in the order in which the followers were added.
        let number: Int
    }

    /// The followers whom changes of the same slots concern.
    private struct Group {
        let slots: SlotSet
        var followers: [WeakFollower]
    }

    private var all: [WeakFollower] = []
    /// The groups by root entity. A follower of several root entities is in a group of each.
    private var groups: [Int: [Group]] = [:]
    private var lastNumber = 0
    /// The number of calls of ``concerned(by:)`` since released followers were last looked for.
    private var callsSinceCleaning = 0
    /// The number of groups that were compared with changes, and of followers in those that changes concern.
    private(set) var comparisons = 0

    /// Whether there are no followers, not even released ones that are not removed yet.
    var isEmpty: Bool { all.isEmpty }

    /// The number of followers, with the released ones that are not removed yet.
    var count: Int { all.count }

    /// The root entities that have followers.
    private(set) var roots: Set<Int> = []

    // MARK: Adding and removing

    /// Adds a follower.
    mutating func add(_ follower: any ContextFollower) {
        lastNumber += 1
        let entry = WeakFollower(follower: follower, number: lastNumber)
        all.append(entry)
        addToGroups(entry)
    }

    /// Groups the followers again, after the changes that concern one of them have become others.
    mutating func regroup() {
        all.removeAll { $0.follower == nil }
        groups = [:]
        roots = []
        callsSinceCleaning = 0
        for entry in all { addToGroups(entry) }
    }

    private mutating func addToGroups(_ entry: WeakFollower) {
        for (root, slots) in entry.follower?.followedSlots ?? [:] {
            roots.insert(root)
            if let group = groups[root]?.firstIndex(where: { $0.slots == slots }) {
                groups[root]?[group].followers.append(entry)
            } else {
                groups[root, default: []].append(Group(slots: slots, followers: [entry]))
            }
        }
    }

    /// Removes released followers, if ``concerned(by:)`` was called as often as there are followers since the last look:
    /// it costs O(1) for each of these calls.
    mutating func removeReleased() {
        guard callsSinceCleaning >= all.count else { return }
        callsSinceCleaning = 0
        if all.contains(where: { $0.follower == nil }) { regroup() }
    }

    // MARK: Finding

    /// Returns the followers that changes concern, each once, in the order in which they were added.
    ///
    /// - Complexity: O(number of groups of the changed root entities + *f* log *f*) for *f* concerned followers.
    mutating func concerned(by changes: ContextChanges) -> [any ContextFollower] {
        callsSinceCleaning += 1
        if changes.isUnknown { return all.compactMap(\.follower) }
        var found: [WeakFollower] = []
        var groupCount = 0
        for (root, changes) in changes.roots {
            for group in groups[root] ?? [] {
                comparisons += 1
                guard changes.concern(group.slots) else { continue }
                found += group.followers
                groupCount += 1
            }
        }
        comparisons += found.count
        guard groupCount > 1 else { return found.compactMap(\.follower) }
        found.sort { $0.number < $1.number }
        var last = 0
        return found.compactMap { entry in
            defer { last = entry.number }
            return entry.number == last ? nil : entry.follower
        }
    }
}

extension ContextChanges.Root {
    /// Whether the changes concern a follower of some slots.
    fileprivate func concern(_ slots: SlotSet) -> Bool {
        concernsExistence || isUnknown || !self.slots.isDisjoint(with: slots)
    }
}
