/// Merges the commits of other contexts and writers into a context, and passes its own commits on to other contexts.
///
/// Unchanged objects take their new rows, and relationships are unloaded, so that the next access loads them again.
/// Objects with unsaved changes keep them; their save reports the conflict. Objects that both this context and another
/// writer have deleted become missing.
final class CommitMerger {
    let loader: ObjectLoader
    /// Nothing is merged while the context is pinned.
    let generation: PinnedGeneration
    /// The commits that are not merged yet.
    let inbox = ContextInbox()
    let changeTracker: ChangeTracker
    /// The inboxes of the child contexts.
    private var childInboxes = InboxList()
    /// Receives all commits of this and other contexts, and whether a save of this context made them; nil without
    /// followers of the context.
    var onCommit: ((Commit, _ isOwnSave: Bool) -> Void)?

    var identityMap: IdentityMap { loader.identityMap }
    var model: ManagedObjectModel { loader.identityMap.model }
    var parent: CommitMerger? { loader.stores.parent?.commitMerger }

    init(_ loader: ObjectLoader, _ changeTracker: ChangeTracker, _ generation: PinnedGeneration) {
        self.loader = loader
        self.changeTracker = changeTracker
        self.generation = generation
        if let parent {
            parent.childInboxes.add(inbox)
        } else {
            loader.stores.coordinator.add(inbox)
        }
    }

    // MARK: Announcing

    /// Passes a commit of this context on to its followers, to the child contexts, and to the contexts with the same
    /// parent or coordinator. The commit is not made if there is no receiver.
    ///
    /// - Parameter origin: The inbox of the child context that made the changes; nil if this context did.
    func announce(_ commit: @autoclosure () -> Commit, from origin: ContextInbox? = nil) {
        let others =
            parent.map { $0.childInboxes.all(except: inbox) } ?? loader.stores.coordinator.inboxes(except: inbox)
        let inboxes = childInboxes.all(except: origin) + others
        guard onCommit != nil || !inboxes.isEmpty else { return }
        let commit = commit()
        onCommit?(commit, origin == nil && commit.origin == .save)
        inboxes.post(commit)
    }

    /// Announces to the child contexts that unsaved changes were dropped or undone.
    func announceRevert() { childInboxes.all().post(Commit.unknown(.revert)) }

    /// Announces to the followers and the child contexts that objects will be read again, and may have other values.
    func announceRefresh() {
        onCommit?(Commit.unknown(.revert), false)
        announceRevert()
    }

    /// Passes a commit that this context has merged on to its followers only.
    func noteMerged(_ commit: @autoclosure () -> Commit) {
        guard let onCommit else { return }
        let commit = commit()
        if !commit.isEmpty { onCommit(commit, false) }
    }

    // MARK: Merging

    /// Merges the commits of other contexts and writers, beginning with the commits of the parent context.
    func mergeCommits() {
        parent?.mergeCommits()
        guard !inbox.isEmpty, generation.token == nil else { return }
        var filled: [any GraphObject] = []
        for commit in inbox.take() {
            merge(commit, &filled)
            loader.unloadMembersOfSources()
            onCommit?(commit, false)
            childInboxes.all().post(commit)
        }
        // Called last, since an object may call the context.
        for object in filled { object.withLifecycle?.awakeFromFetch() }
    }

    /// Merges a commit of this context that has changed rows without its objects.
    func merge(_ commit: Commit) {
        var filled: [any GraphObject] = []
        merge(commit, &filled)
        for object in filled { object.withLifecycle?.awakeFromFetch() }
    }

    private func merge(_ commit: Commit, _ filled: inout [any GraphObject]) {
        identityMap.noteDeletion()
        switch commit.origin {
        case .save, .batch, .others: mergeChanges(commit, &filled)
        // A parent has objects that no store has.
        case .erasure where parent == nil: mergeErasure()
        case .replacement where parent == nil: mergeReplacement(of: commit.unknownRoots)
        case .replacement: reloadReplaced()
        case .erasure, .revert: reloadAll()
        case .overflow: mergeOverflow()
        }
    }

    /// Merges the changes that a commit names, and its unknown changes.
    private func mergeChanges(_ commit: Commit, _ filled: inout [any GraphObject]) {
        if commit.isUnknown { return mergeUnknown(allRoots) }
        let unknown = commit.unknownRoots
        if !unknown.isEmpty { mergeUnknown(unknown) }
        let roots = commit.roots.filter { !$0.value.isUnknown }
        for root in roots.values { mergeInsertions(root) }
        mergeUpdates(roots.values.lazy.flatMap(\.objects.values), &filled)
        for (index, root) in roots { mergeUnknownRows(root, model.entities[index]) }
        for (index, root) in roots { mergeDeletions(root, model.entities[index]) }
        for (index, root) in roots { mergeMembers(root, model.entities[index]) }
    }

    /// Merges the insertions whose rows are known.
    private func mergeInsertions(_ root: Commit.Root) {
        for change in root.objects.values where change.kind == .inserted {
            guard let row = change.row else { continue }
            loader.unloadMembers(namedBy: row)
            // A row with a later version was deleted and inserted again.
            guard row.version > 1 || parent != nil else { continue }
            identityMap.object(for: row)?.adopt(refetched: row.reporting(to: loader.readFailures))
        }
    }

    /// Merges the updates whose rows are known.
    private func mergeUpdates(_ changes: some Sequence<Commit.Change>, _ filled: inout [any GraphObject]) {
        // The announced rows do not name the owners that the objects have left.
        var leftMembers = Commit(.others)
        defer { noteMerged(leftMembers) }
        var known: [any GraphObject] = []
        var left: Set<Relationship> = []
        for change in changes where change.kind == .updated {
            guard let row = change.row else { continue }
            loader.unloadMembers(namedBy: row)
            let object = identityMap.object(for: row)
            let old = object?.lastRow
            if let old {
                loader.unloadMembers(namedBy: old)
                if onCommit != nil { leftMembers.addMembers(of: old, change.slots, model) }
            }
            // The row of an outdated object does not name the owner that the object leaves, nor does a row that was
            // read after the save. A parent does not count versions.
            let isOutdated = object?.state.pointee.flags.contains(.outdated) ?? false
            let isPrevious = parent != nil || (old?.isOlder(than: row) ?? false)
            left.formUnion(membershipsLeft(by: row, change.slots, from: isOutdated || !isPrevious ? nil : old))
            guard let object else { continue }
            if parent != nil {
                known.append(object)
            } else if object.adopt(refetched: row.reporting(to: loader.readFailures)) {
                filled.append(object)
            }
        }
        for relationship in left { loader.unloadMembers(of: relationship) }
        // The parent may have further changes of the objects.
        loader.reload(
            known.filter { $0.state.pointee.row != nil },
            changedObjects: .takeRow,
            missingRows: .keepObjects,
            failures: .report
        )
    }

    /// Merges the insertions and updates whose rows are not known: registered objects read them.
    private func mergeUnknownRows(_ root: Commit.Root, _ entity: Entity) {
        let changes = root.objects.filter(\.value.hasUnknownRow)
        guard !changes.isEmpty else { return }
        let known = changes.keys.compactMap { identityMap.object(forKey: $0, of: entity) }
        // The other changes move no object from one owner to another.
        let moved = known.filter { object in
            guard let slots = changes[object.state.pointee.key]?.slots else { return true }
            return object.entity.relationships.contains { !$0.isToMany && slots.contains($0.slot) }
        }
        for object in moved { if let row = object.lastRow { loader.unloadMembers(namedBy: row) } }
        for object in known where changes[object.state.pointee.key]?.slots == nil { object.unloadAllMembers() }
        // The undo of a deletion inserts missing objects again.
        let returned = known.filter { $0.life.isMissing && !$0.life.hasChanges }
        loader.reload(returned, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
        // A fault reads its row when it is filled.
        reload(known.filter { !$0.life.isMissing && ($0.lastRow != nil || $0.life.hasChanges) })
        for object in moved { if let row = object.lastRow { loader.unloadMembers(namedBy: row) } }
        unloadMembers(leadingToUnknownOwnersOf: changes.values, entity.rootIndex)
    }

    /// Merges deletions.
    private func mergeDeletions(_ root: Commit.Root, _ entity: Entity) {
        var isOwnerUnknown = false
        for (key, change) in root.objects where change.kind == .deleted {
            let object = identityMap.object(forKey: key, of: entity)
            if let row = change.row ?? object?.lastRow { loader.unloadMembers(namedBy: row) }
            if change.row == nil { isOwnerUnknown = true }
            // A deleted object keeps its last members.
            if let object { markDeleted(object) }
        }
        guard isOwnerUnknown else { return }
        for relationship in model.relationships
        where relationship.isToMany && relationship.destination.rootIndex == entity.rootIndex {
            loader.unloadMembers(of: relationship)
        }
    }

    /// Unloads the to-many relationships that have changed without the rows of their owners.
    private func mergeMembers(_ root: Commit.Root, _ entity: Entity) {
        for (key, change) in root.objects {
            guard change.slots != nil || change.kind == .inserted,
                let object = identityMap.object(forKey: key, of: entity)
            else { continue }
            // An object that was inserted again has all members anew.
            guard let slots = change.slots, change.kind == .updated else {
                object.unloadAllMembers()
                continue
            }
            for relationship in object.entity.relationships
            where relationship.isToMany && slots.contains(relationship.slot) {
                object.unloadMembers(of: relationship)
            }
        }
        guard !root.slotsOfAnyObject.isEmpty else { return }
        for relationship in model.relationships
        where relationship.isToMany && relationship.source.rootIndex == entity.rootIndex
            && root.slotsOfAnyObject.contains(relationship.slot)
        {
            loader.unloadMembers(of: relationship)
        }
    }

    /// The to-many relationships that an object has left, if the owner that it left is unknown: their members may be
    /// loaded although the object is not registered, or lacks some values.
    ///
    /// - Parameter slots: The slots that changed; nil if any slot may have changed.
    private func membershipsLeft(by row: Row, _ slots: SlotSet?, from old: Row?) -> [Relationship] {
        model.entities[row.entityIndex].relationships.compactMap { relationship in
            guard !relationship.isToMany, slots?.contains(relationship.slot) ?? true,
                !(old?.hasValue(at: relationship.slot) ?? false), let inverse = relationship.inverse, inverse.isToMany
            else { return nil }
            return inverse
        }
    }

    /// Unloads the to-many relationships that an object has joined or left between two rows.
    func mergeMemberships(from old: Row, to new: Row) {
        var moved = SlotSet()
        for relationship in model.entities[new.entityIndex].relationships where !relationship.isToMany {
            let slot = relationship.slot
            guard let inverse = relationship.inverse, inverse.isToMany, old.hasValue(at: slot), new.hasValue(at: slot),
                old.integer(at: slot) != new.integer(at: slot)
            else { continue }
            loader.unloadMembers(of: inverse, owner: old.integer(at: slot))
            loader.unloadMembers(of: inverse, owner: new.integer(at: slot))
            moved.insert(slot)
        }
        guard onCommit != nil, !moved.isEmpty else { return }
        var owners = Commit(.others)
        owners.addMembers(of: old, moved, model)
        owners.addMembers(of: new, moved, model)
        noteMerged(owners)
    }

    /// Unloads the to-many relationships that objects may have joined or left if their old or new owner is unknown,
    /// because the rows of the objects are not in memory.
    private func unloadMembers(leadingToUnknownOwnersOf changes: some Collection<Commit.Change>, _ rootIndex: Int) {
        for relationship in model.relationships
        where !relationship.isToMany && relationship.source.rootIndex == rootIndex {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            let isAffected = changes.contains { change in
                change.kind != .updated || (change.slots?.contains(relationship.slot) ?? true)
            }
            if isAffected { loader.unloadMembers(of: inverse) }
        }
    }

    /// Reloads objects that another coordinator may have changed. Objects without a row in the store become missing.
    func reload(_ objects: [any GraphObject]) {
        let missing = loader.reload(
            objects.filter { !$0.state.pointee.life.isInserted && !$0.state.pointee.life.isMissing },
            changedObjects: .becomeOutdated,
            missingRows: .keepObjects,
            failures: .report
        )
        for object in missing { markDeleted(object) }
    }

    /// Marks an object that another context has deleted as missing. An updated object becomes outdated: its save
    /// reports the conflict.
    func markDeleted(_ object: any GraphObject) {
        if object.life.isUpdated {
            object.state.pointee.flags.insert(.outdated)
            return
        }
        changeTracker.unlistDeletion(of: object)
        identityMap.markMissing(object)
    }
}

extension GraphObject {
    /// Unloads all to-many relationships.
    func unloadAllMembers() {
        for relationship in entity.relationships where relationship.isToMany { unloadMembers(of: relationship) }
    }
}
