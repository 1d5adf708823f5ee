/// Collects the changes of a context for its followers, and delivers them when the context processes its changes: with
/// each save, fetch and ``ManagedObjectContext/processPendingChanges()``.
///
/// Without followers it costs a save the test of an optional.
final class ChangeCollector {
    /// An object with unsaved changes that the followers know.
    private struct PendingObject {
        let object: any GraphObject
        var life: ObjectLife
        /// The changed slots.
        var slots: SlotSet
        /// The slots that other writers have changed since the unsaved changes began. Their values become visible when
        /// the unsaved changes end.
        var slotsOfOthers = SlotSet()
        /// Whether another writer may have deleted the object since the unsaved changes began.
        var mayBeMissing = false
    }

    /// Called when the context has changes that the followers do not know, and again for the first such changes after
    /// each delivery.
    var onUndeliveredChange: (() -> Void)?

    private let commitMerger: CommitMerger
    private let changeTracker: ChangeTracker
    private(set) var followers = ContextFollowers()
    private var committed = Commit(.others)
    /// The keys of the objects in ``committed`` that other writers have changed, by the root entities. When the unsaved
    /// changes of such an object have ended, its values may come from these writers.
    private var keysOfOthers: [Int: Set<Int64>] = [:]
    private var pending: [ObjectIdentifier: PendingObject] = [:]
    /// The objects whose unsaved changes have ended since the last delivery, and that have new unsaved changes.
    private var restarted: [PendingObject] = []
    /// The root entities of deleted objects that were inserted again since the last delivery.
    private var returnedRoots: Set<Int> = []
    /// The slots of pending objects that have changed since the last delivery.
    private var changedSlots: [ObjectIdentifier: SlotSet] = [:]
    /// The state of the lists of changes at the last delivery.
    private var stamp: ChangeTracker.Stamp?
    private var isDelivering = false
    private var hasAnnounced = false
    /// Makes the stores notice the commits of other processes while there are followers.
    private var subscription: CommitSubscription?

    private var identityMap: IdentityMap { changeTracker.identityMap }

    init(_ commitMerger: CommitMerger, _ changeTracker: ChangeTracker) {
        self.commitMerger = commitMerger
        self.changeTracker = changeTracker
    }

    // MARK: Followers

    /// Whether the context has, or had until the last delivery, followers.
    var isActive: Bool { !followers.isEmpty }

    /// Adds a follower, which is referred to weakly. It receives the changes after this call.
    func add(_ follower: any ContextFollower) {
        deliver()
        if !isActive { begin() }
        let known = followers.roots
        followers.add(follower)
        noteFollowedRoots(after: known)
    }

    /// Records that the changes that concern a follower have become different.
    func noteFollowedSlots(of follower: any ContextFollower) {
        let known = followers.roots
        followers.regroup(follower)
        noteFollowedRoots(after: known)
    }

    private func noteFollowedRoots(after known: Set<Int>) {
        // The pending objects of the entities that were not followed before must be found.
        if !followers.roots.isSubset(of: known) { stamp = nil }
    }

    private func begin() {
        subscription = commitMerger.loader.stores.coordinator.followOtherProcesses()
        let model = identityMap.model
        commitMerger.onCommit = { [unowned self] commit, isOwnSave in
            let added = commit.withConsequences(model, for: followers.roots)
            if !isOwnSave {
                for (root, changes) in added.roots { keysOfOthers[root, default: []].formUnion(changes.objects.keys) }
            }
            committed.add(added)
            if !committed.isEmpty { announce() }
        }
        changeTracker.onFollowedChange = { [unowned self] in announce() }
        changeTracker.onRestart = { [unowned self] object in noteRestart(of: object) }
        changeTracker.onReturn = { [unowned self] object in returnedRoots.insert(object.entity.rootIndex) }
        changeTracker.announcesNextChange = true
        stamp = nil
    }

    private func end() {
        subscription = nil
        commitMerger.onCommit = nil
        changeTracker.onFollowedChange = nil
        changeTracker.onRestart = nil
        changeTracker.onReturn = nil
        for entry in pending.values { entry.object.state.pointee.flags.remove(.followed) }
        pending = [:]
        restarted = []
        returnedRoots = []
        changedSlots = [:]
        committed = Commit(.others)
        keysOfOthers = [:]
    }

    // MARK: Collecting

    /// Records a further change of an object whose changes the followers know.
    func noteChange(of object: any GraphObject, at slot: Int) {
        guard isActive else { return }
        changedSlots[ObjectIdentifier(object), default: SlotSet()].insert(slot)
        announce()
    }

    /// Records that an object whose changes the followers know has taken a row of another writer.
    func noteChanges(of object: any GraphObject, from old: Row?, to new: Row) {
        for slot in 0..<new.slotCount where old?.differs(from: new, at: slot) ?? true {
            noteChange(of: object, at: slot)
        }
    }

    /// Records that unsaved changes of an object begin. If the followers know earlier unsaved changes, these have
    /// ended, and the object has had the values of its row in between.
    private func noteRestart(of object: any GraphObject) {
        let id = ObjectIdentifier(object)
        guard var entry = pending.removeValue(forKey: id) else { return }
        object.state.pointee.flags.remove(.followed)
        if let slots = changedSlots.removeValue(forKey: id) { entry.slots.formUnion(slots) }
        restarted.append(entry)
    }

    /// Records that the store has no row for an object, because another writer has deleted it: relationships that led
    /// to it have other values.
    func noteMissing(_ object: any GraphObject) {
        guard isActive else { return }
        let (entity, key) = (object.entity, object.state.pointee.key)
        if followers.roots.contains(entity.rootIndex) {
            committed.add(.init(.deleted), of: key, entity: entity)
            keysOfOthers[entity.rootIndex, default: []].insert(key)
        }
        for relationship in identityMap.model.relationships
        where !relationship.isToMany && relationship.destination.rootIndex == entity.rootIndex
            && followers.roots.contains(relationship.source.rootIndex)
        {
            committed.addSlotOfAnyObject(relationship.slot, of: relationship.source)
        }
        if !committed.isEmpty { announce() }
    }

    /// Records that all objects have left the context.
    func noteReset() {
        guard isActive else { return }
        committed.addUnknown()
    }

    private func announce() {
        guard !hasAnnounced, !isDelivering else { return }
        hasAnnounced = true
        onUndeliveredChange?()
    }

    // MARK: Delivering

    /// Delivers the changes since the last delivery.
    ///
    /// - Complexity: O(1) without changes; O(number of unsaved changes) if objects have been listed as changed since,
    ///   otherwise O(number of changes).
    func deliver() {
        guard isActive, !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        // Followers fetch, which merges further announcements.
        while let changes = take() {
            for follower in followers.concerned(by: changes) { follower.contextDidChange(changes) }
        }
        followers.removeReleased()
        hasAnnounced = false
        if isActive { changeTracker.announcesNextChange = true } else { end() }
    }

    /// Returns the changes since the last call; nil if there are none.
    private func take() -> ContextChanges? {
        let current = changeTracker.stamp
        guard !committed.isEmpty || !changedSlots.isEmpty || !restarted.isEmpty || current != stamp else { return nil }
        let followed = followers.roots
        let commits = committed
        let others = keysOfOthers
        committed = Commit(.others)
        keysOfOthers = [:]
        var changes = ContextChanges()
        changes.isUnknown = commits.isUnknown
        let slots = changedSlots
        changedSlots = [:]
        for (id, slots) in slots {
            guard let object = pending[id]?.object else { continue }
            pending[id]?.slots.formUnion(slots)
            changes.add(object, slots, .unchanged)
        }
        let returned = returnedRoots.intersection(followed)
        returnedRoots = []
        for root in returned { changes.roots[root, default: .init()].add(.deletedOrReturned) }
        let restarted = restarted
        self.restarted = []
        var ended: [ObjectIdentifier: PendingObject] = [:]
        if current != stamp {
            stamp = current
            addListed(followed, to: &changes)
            ended = takeEnded()
        }
        add(commits, followed, ended, others, to: &changes)
        if commits.isUnknown { noteUnknownChangesOfOthers { _ in true } }
        for entry in ended.values { add(entry, wasSaved: isSaved(entry, commits, others), to: &changes) }
        for entry in restarted { add(entry, wasSaved: false, to: &changes) }
        return changes.isEmpty ? nil : changes
    }

    /// Adds the objects whose first unsaved change, or deletion, the followers do not know.
    private func addListed(_ followed: Set<Int>, to changes: inout ContextChanges) {
        for list in [changeTracker.inserted, changeTracker.updated, changeTracker.deleted] {
            for entry in list.changed {
                let object = entry.object
                guard followed.contains(object.entity.rootIndex) else { continue }
                let id = ObjectIdentifier(object)
                let known = pending[id]
                guard known?.life != entry.life else { continue }
                let slots = entry.life.isUpdated ? object.unsavedSlots : SlotSet(allOf: object.entity)
                var new = slots
                if let known { new.subtract(known.slots) }
                let existence: ContextChanges.Existence =
                    switch (known?.life, entry.life) {
                    case (nil, let life) where life.isUpdated: .unchanged
                    case (let known?, let life) where known.isUpdated && life.isUpdated: .unchanged
                    case (nil, .inserted): .inserted
                    default: .deletedOrReturned
                    }
                var listed = known ?? PendingObject(object: object, life: entry.life, slots: slots)
                (listed.life, listed.slots) = (entry.life, slots)
                pending[id] = listed
                // Another writer changed the object before its changes were followed.
                if object.state.pointee.flags.contains(.outdated) {
                    noteChangeOfOthers(in: object, SlotSet(allOf: object.entity), mayBeMissing: true)
                }
                entry.state.pointee.flags.insert(.followed)
                changes.add(object, new, existence)
            }
        }
    }

    /// Removes and returns the objects whose changes were saved or dropped.
    private func takeEnded() -> [ObjectIdentifier: PendingObject] {
        // A new object that a rollback has dropped may be in another context.
        let ended = pending.filter { !$0.value.object.life.hasChanges || !identityMap.contains($0.value.object) }
        for (id, entry) in ended {
            pending[id] = nil
            if identityMap.contains(entry.object) { entry.object.state.pointee.flags.remove(.followed) }
        }
        return ended
    }

    /// Whether a commit of this context has ended the unsaved changes of an object, and no other writer has changed it.
    private func isSaved(
        _ entry: PendingObject,
        _ commits: Commit,
        _ others: [Int: Set<Int64>]
    ) -> Bool {
        let (root, key) = (entry.object.entity.rootIndex, entry.object.state.pointee.key)
        return commits.roots[root]?.objects[key] != nil && !(others[root]?.contains(key) ?? false)
    }

    /// Adds an object whose unsaved changes have ended.
    ///
    /// - Parameter wasSaved: Whether the changes were saved as the followers know them.
    private func add(_ entry: PendingObject, wasSaved: Bool, to changes: inout ContextChanges) {
        let object = entry.object
        let root = object.entity.rootIndex
        let existence: ContextChanges.Existence =
            if object.life.isDeletedOrMissing {
                .deletedOrReturned
            } else if entry.life.isUpdated {
                .unchanged
            } else {
                wasSaved && entry.life.isInserted ? .inserted : .deletedOrReturned
            }
        var slots = entry.slotsOfOthers
        if !wasSaved { slots.formUnion(entry.slots) }
        changes.add(object, slots, existence)
        // Only the store knows whether it has the object.
        if entry.mayBeMissing, !object.life.isDeletedOrMissing { changes.roots[root]?.isUnknown = true }
    }

    /// Adds commits.
    private func add(
        _ commits: Commit,
        _ followed: Set<Int>,
        _ ended: [ObjectIdentifier: PendingObject],
        _ others: [Int: Set<Int64>],
        to changes: inout ContextChanges
    ) {
        for (rootIndex, committed) in commits.roots where followed.contains(rootIndex) {
            let entity = identityMap.model.entities[rootIndex]
            for (key, change) in committed.objects {
                let object = identityMap.object(forKey: key, of: entity)
                var slots = change.slots ?? SlotSet(allOf: object?.entity ?? changedEntity(change, entity))
                guard let object else {
                    changes.roots[rootIndex, default: .init()].add(change, slots, of: key)
                    continue
                }
                merge(change, into: object)
                if others[rootIndex]?.contains(key) ?? false {
                    noteChangeOfOthers(in: object, slots, mayBeMissing: change.kind == .deleted)
                } else if let known = ended[ObjectIdentifier(object)] {
                    var saved = slots
                    slots.subtract(known.slots)
                    saved.subtract(slots)
                    changes.roots[rootIndex, default: .init()].savedSlots.formUnion(saved)
                }
                changes.add(object, slots, change.existence)
            }
            let isUnknown = committed.isUnknown || committed.hasFurtherInsertions
            guard isUnknown || !committed.slotsOfAnyObject.isEmpty else { continue }
            changes.roots[rootIndex, default: .init()].slots.formUnion(committed.slotsOfAnyObject)
            changes.roots[rootIndex, default: .init()].slotsOfAnyObject.formUnion(committed.slotsOfAnyObject)
            if isUnknown {
                changes.roots[rootIndex, default: .init()].isUnknown = true
                noteUnknownChangesOfOthers { $0.rootIndex == rootIndex }
            }
        }
    }

    /// Records that other writers may have changed or deleted the objects of some entities.
    private func noteUnknownChangesOfOthers(where condition: (Entity) -> Bool) {
        for entry in pending.values where condition(entry.object.entity) {
            noteChangeOfOthers(in: entry.object, SlotSet(allOf: entry.object.entity), mayBeMissing: true)
        }
    }

    /// Records that other writers have changed slots of an object, which may have unsaved changes.
    private func noteChangeOfOthers(in object: any GraphObject, _ slots: SlotSet, mayBeMissing: Bool) {
        let id = ObjectIdentifier(object)
        pending[id]?.slotsOfOthers.formUnion(slots)
        if mayBeMissing { pending[id]?.mayBeMissing = true }
    }

    /// Merges a commit into an object that a follower has registered with an earlier row, after the context merged the
    /// commit.
    private func merge(_ change: Commit.Change, into object: any GraphObject) {
        guard object.life == .unchanged else { return }
        if change.kind == .deleted {
            identityMap.markMissing(object)
        } else if let row = change.row, object.state.pointee.row?.isOlder(than: row) ?? false {
            object.adopt(refetched: row)
        }
    }

    /// The entity of a changed object; without its row, the entity of the root's family with the most slots.
    private func changedEntity(_ change: Commit.Change, _ root: Entity) -> Entity {
        if let row = change.row { return identityMap.model.entities[row.entityIndex] }
        return root.family.max { $0.slotCount < $1.slotCount } ?? root
    }
}

extension ContextChanges.Root {
    /// Adds the committed change of an object that is not registered.
    fileprivate mutating func add(_ change: Commit.Change, _ slots: SlotSet, of key: Int64) {
        unregistered[key] = change
        self.slots.formUnion(slots)
        add(change.existence)
    }
}

extension Commit.Change {
    /// The change of the object's existence.
    fileprivate var existence: ContextChanges.Existence {
        switch kind {
        case .updated: hasReturned ? .deletedOrReturned : .unchanged
        // A row with a later version may have been deleted and inserted again.
        case .inserted: row?.version == 1 ? .inserted : .deletedOrReturned
        case .deleted: .deletedOrReturned
        }
    }
}

extension GraphObject {
    /// The slots with unsaved values.
    fileprivate var unsavedSlots: SlotSet {
        var slots = SlotSet()
        guard let changes = state.pointee.changes else { return slots }
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .unset: continue
            case .members(let members): if members.isChanged { slots.insert(slot) }
            case .value, .composite, .pending: slots.insert(slot)
            }
        }
        return slots
    }
}

extension ManagedObjectContext {
    /// Adds a follower of the context's changes, which is referred to weakly. It is called with each save, fetch and
    /// ``processPendingChanges()`` of the context that finds changes.
    package func addFollower(_ follower: any ContextFollower) { changeCollector.add(follower) }

    /// Records that the changes that concern a follower have become different.
    package func followedSlotsDidChange(of follower: any ContextFollower) {
        changeCollector.noteFollowedSlots(of: follower)
    }

    /// Called when the context has changes that its followers do not know, and again for the first such changes after
    /// each delivery: ``processPendingChanges()`` delivers them.
    package var onUndeliveredChange: (() -> Void)? {
        get { changeCollector.onUndeliveredChange }
        set { changeCollector.onUndeliveredChange = newValue }
    }
}
