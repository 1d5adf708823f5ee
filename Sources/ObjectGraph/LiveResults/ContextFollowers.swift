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
    private struct Entry {
        weak var follower: (any ContextFollower)?
        /// The position in the order in which the followers were added.
        let number: Int
        /// The slots by which the follower is grouped, by root entity.
        var slots: [Int: SlotSet] = [:]
    }

    private var entries: [ObjectIdentifier: Entry] = [:]
    /// The followers whom changes of the same slots concern, by root entity. A follower of several root entities is in
    /// a group of each.
    private var groups: [Int: [SlotSet: Set<ObjectIdentifier>]] = [:]
    private var lastNumber = 0
    /// The number of calls of ``concerned(by:)`` since released followers were last looked for.
    private var callsSinceCleaning = 0
    /// The number of entries at which ``add(_:)`` looks for released followers.
    private var cleaningCount = Self.smallCount
    /// The number of groups that were compared with changes, and of followers in the groups that changes concern.
    private(set) var comparisons = 0
    /// The number of times that a follower was grouped, or examined whether it is released.
    private(set) var examinations = 0

    /// The number of released followers that are kept in any case.
    static let smallCount = 16

    /// Whether there are no followers, not even released followers that are not removed yet.
    var isEmpty: Bool { entries.isEmpty }

    /// The number of followers, with released followers that are not removed yet.
    var count: Int { entries.count }

    /// The root entities that have followers.
    private(set) var roots: Set<Int> = []

    // MARK: Adding and removing

    /// Adds a follower.
    ///
    /// - Complexity: O(number of root entities of the follower), amortised.
    mutating func add(_ follower: any ContextFollower) {
        if entries.count >= cleaningCount { clean() }
        let id = ObjectIdentifier(follower)
        // The address may have belonged to a released follower.
        remove(id)
        lastNumber += 1
        entries[id] = Entry(follower: follower, number: lastNumber)
        regroup(follower)
    }

    /// Groups a follower again, after the changes that concern it have become different.
    ///
    /// - Complexity: O(number of root entities of the follower).
    mutating func regroup(_ follower: any ContextFollower) {
        let id = ObjectIdentifier(follower)
        guard let entry = entries[id], entry.follower === follower else { return }
        examinations += 1
        let slots = follower.followedSlots
        guard slots != entry.slots else { return }
        // Added first, since a root entity without groups counts as a root entity without followers.
        for (root, slots) in slots {
            groups[root, default: [:]][slots, default: []].insert(id)
            roots.insert(root)
        }
        for (root, old) in entry.slots where slots[root] != old { removeFromGroup(id, root, old) }
        entries[id]?.slots = slots
    }

    private mutating func remove(_ id: ObjectIdentifier) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        for (root, slots) in entry.slots { removeFromGroup(id, root, slots) }
    }

    private mutating func removeFromGroup(_ id: ObjectIdentifier, _ root: Int, _ slots: SlotSet) {
        groups[root]?[slots]?.remove(id)
        guard groups[root]?[slots]?.isEmpty ?? false else { return }
        groups[root]?[slots] = nil
        guard groups[root]?.isEmpty ?? false else { return }
        groups[root] = nil
        roots.remove(root)
    }

    /// Removes released followers if ``concerned(by:)`` was called as often as there are followers since the last
    /// removal: it costs O(1) for each of these calls.
    mutating func removeReleased() {
        if callsSinceCleaning >= entries.count { clean() }
    }

    private mutating func clean() {
        callsSinceCleaning = 0
        examinations += entries.count
        for (id, entry) in entries where entry.follower == nil { remove(id) }
        cleaningCount = 2 * entries.count + Self.smallCount
    }

    // MARK: Finding

    /// Returns the followers that changes concern, each once, in the order in which they were added.
    ///
    /// - Complexity: O(number of groups of the changed root entities + *f* log *f*) for *f* concerned followers.
    mutating func concerned(by changes: ContextChanges) -> [any ContextFollower] {
        callsSinceCleaning += 1
        if changes.isUnknown { return followers(Set(entries.keys)) }
        var found: Set<ObjectIdentifier> = []
        for (root, changes) in changes.roots {
            for (slots, group) in groups[root] ?? [:] {
                comparisons += 1
                guard changes.concern(slots) else { continue }
                comparisons += group.count
                found.formUnion(group)
            }
        }
        return followers(found)
    }

    /// Returns followers in the order in which they were added, and removes the released followers among them.
    private mutating func followers(_ ids: Set<ObjectIdentifier>) -> [any ContextFollower] {
        var found: [(number: Int, follower: any ContextFollower)] = []
        for id in ids {
            guard let entry = entries[id] else { continue }
            if let follower = entry.follower { found.append((entry.number, follower)) } else { remove(id) }
        }
        return found.sorted { $0.number < $1.number }.map(\.follower)
    }
}

extension ContextChanges.Root {
    /// Whether the changes concern a follower of some slots.
    fileprivate func concern(_ slots: SlotSet) -> Bool {
        concernsExistence || isUnknown || !self.slots.isDisjoint(with: slots) || !savedSlots.isDisjoint(with: slots)
    }
}
