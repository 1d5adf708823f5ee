/// Merges changes that other contexts have saved into a context, and announces its own changes to them.
///
/// Unchanged objects take their new rows, and relationships are unloaded, so that the next access loads them again.
/// Objects with unsaved changes keep them; their save reports the conflict. Objects that both this context and another
/// writer have deleted become missing.
final class RemoteChangeMerger {
    let loader: ObjectLoader
    /// Nothing is merged while the context is pinned.
    let generation: PinnedGeneration
    /// The announcements that are not merged yet.
    let inbox = ContextInbox()
    private let changeTracker: ChangeTracker
    /// The inboxes of the child contexts.
    private var childInboxes = InboxList()
    /// Receives all announced changes of this and other contexts, and whether a save of this context made them; nil
    /// without followers of the context.
    var onCommit: ((Announcement, _ isOwnSave: Bool) -> Void)?

    private var identityMap: IdentityMap { loader.identityMap }
    private var model: ManagedObjectModel { loader.identityMap.model }
    private var parent: RemoteChangeMerger? { loader.stores.parent?.remoteChanges }

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

    /// Announces changes to the child contexts, and to the contexts with the same parent or coordinator.
    ///
    /// - Parameter origin: The inbox of the child context that made the changes; nil if this context did.
    func announce(_ announcement: Announcement, from origin: ContextInbox? = nil) {
        let isOwnSave = if case .save = announcement { origin == nil } else { false }
        onCommit?(announcement, isOwnSave)
        childInboxes.all(except: origin).post(announcement)
        if let parent {
            parent.childInboxes.all(except: inbox).post(announcement)
        } else {
            loader.stores.coordinator.announce(announcement, from: inbox)
        }
    }

    /// Announces to the child contexts that unsaved changes were dropped or undone.
    func announceRevert() { childInboxes.all().post(.revert) }

    /// Announces to the followers and the child contexts that objects will be read again, and may have other values.
    func announceRefresh() {
        onCommit?(.revert, false)
        announceRevert()
    }

    /// Announces the changes of a batch request of this context to its followers only.
    func noteBatch(_ changes: BatchChanges, of entity: Entity) { onCommit?(.batch(changes, of: entity), false) }

    /// Announces changes of others that this context has merged to its followers only.
    func noteMerged(_ changes: CommittedChanges) {
        if !changes.isEmpty { onCommit?(.external(changes), false) }
    }

    // MARK: Merging

    /// Merges the announced changes, those of the parent context first.
    func mergeAnnouncements() {
        parent?.mergeAnnouncements()
        guard !inbox.isEmpty, generation.token == nil else { return }
        identityMap.noteDeletion()
        var filled: [any GraphObject] = []
        for announcement in inbox.take() {
            switch announcement {
            case .save(let changes): merge(changes, &filled)
            case .batch(let changes, _): merge(changes)
            case .external(let changes): mergeExternal(changes)
            // A parent has objects that no store has.
            case .erasure where parent == nil: mergeErasure()
            case .replacement(let roots) where parent == nil: mergeReplacement(of: roots)
            case .replacement: reloadReplaced()
            case .erasure, .revert: reloadAll()
            case .overflow: mergeOverflow()
            }
            loader.unloadMembersOfSources()
            onCommit?(announcement, false)
            childInboxes.all().post(announcement)
        }
        // Called last, since an object may call the context.
        for object in filled { object.withLifecycle?.awakeFromFetch() }
    }

    /// Merges a save.
    private func merge(_ changes: SaveChangesRequest, _ filled: inout [any GraphObject]) {
        mergeInsertions(changes.inserted.reporting(to: loader.readFailures))
        mergeUpdates(changes.updated.reporting(to: loader.readFailures), changes.updates, &filled)
        for deletion in changes.deleted {
            if let row = deletion.row { loader.unloadMembers(namedBy: row) }
            if let object = identityMap.object(forKey: deletion.key, of: deletion.entity) { markDeleted(object) }
        }
        for change in changes.memberships {
            loader.unloadMembers(of: change.relationship, owner: change.owner)
            guard let inverse = change.relationship.inverse else { continue }
            for key in change.added + change.removed { loader.unloadMembers(of: inverse, owner: key) }
        }
    }

    private func mergeInsertions(_ rows: RowBatch) {
        for row in rows {
            loader.unloadMembers(namedBy: row)
            // A row with a later version was deleted and inserted again.
            guard row.version > 1 || parent != nil else { continue }
            identityMap.object(for: row)?.adopt(refetched: row)
        }
    }

    private func mergeUpdates(
        _ rows: RowBatch,
        _ updates: [SaveChangesRequest.Update],
        _ filled: inout [any GraphObject]
    ) {
        // The announced rows do not name the previous owners.
        var leftMembers = CommittedChanges()
        defer { noteMerged(leftMembers) }
        var known: [any GraphObject] = []
        var left: Set<Relationship> = []
        // A store that announces rows itself does not announce which slots have changed.
        var updates = updates.makeIterator()
        for row in rows {
            let slots = updates.next()?.slots
            loader.unloadMembers(namedBy: row)
            let object = identityMap.object(for: row)
            let old = object?.lastRow
            if let old {
                loader.unloadMembers(namedBy: old)
                if onCommit != nil { leftMembers.addMembers(of: old, slots, model) }
            }
            // The row of an outdated object does not name the owner that it leaves, nor does a row that was read later
            // than the save. A parent does not count versions.
            let isOutdated = object?.state.pointee.flags.contains(.outdated) ?? false
            let isPrevious = parent != nil || (old?.isOlder(than: row) ?? false)
            left.formUnion(membershipsLeft(by: row, slots, from: isOutdated || !isPrevious ? nil : old))
            guard let object else { continue }
            if parent != nil {
                known.append(object)
            } else if object.adopt(refetched: row) {
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

    /// The to-many relationships that an object has left, if its former owner is unknown: their members may be loaded
    /// although the object is not registered, or lacks some values.
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
        var owners = CommittedChanges()
        owners.addMembers(of: old, moved, model)
        owners.addMembers(of: new, moved, model)
        noteMerged(owners)
    }

    /// Merges the changes of a batch request of this or another context.
    func merge(_ changes: BatchChanges) {
        identityMap.noteDeletion()
        for list in changes.updated + changes.cleared {
            let stale = list.keys.compactMap { identityMap.object(forKey: $0, of: list.entity) }
                .filter { $0.lastRow != nil && !$0.state.pointee.life.isMissing }
            loader.reload(stale, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
        }
        for list in changes.cleared { loader.unloadSharedMembers(of: list) }
        for list in changes.deleted {
            for key in list.keys {
                if let object = identityMap.object(forKey: key, of: list.entity) { markDeleted(object) }
            }
            for relationship in model.relationships
            where relationship.isToMany && relationship.destination.rootIndex == list.entity.rootIndex {
                loader.unloadMembers(of: relationship)
            }
        }
        for relationship in changes.relationships {
            if let inverse = relationship.inverse, inverse.isToMany { loader.unloadMembers(of: inverse) }
        }
    }

    /// Merges the commits of another coordinator.
    ///
    /// - Parameter changes: The changes; nil if they are unknown.
    private func mergeExternal(_ changes: CommittedChanges?) {
        guard let changes, !changes.isUnknown else { return mergeUnknown(allRoots) }
        let unknown = Set(changes.roots.filter(\.value.isUnknown).keys)
        if !unknown.isEmpty { mergeUnknown(unknown) }
        for (rootIndex, root) in changes.roots where !root.isUnknown {
            let known = root.objects.keys.compactMap { identityMap.object(forKey: $0, of: model.entities[rootIndex]) }
            for object in known {
                if let row = object.lastRow { loader.unloadMembers(namedBy: row) }
                for relationship in object.entity.relationships where relationship.isToMany {
                    object.unloadMembers(of: relationship)
                }
            }
            var present = known.filter { root.objects[$0.state.pointee.key]?.kind != .deleted }
            // An undo of a deletion inserts its objects again.
            let returned = present.filter { $0.life.isMissing && !$0.life.hasChanges }
            present.removeAll { $0.life.isMissing }
            loader.reload(returned, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
            reload(present)
            for object in known where root.objects[object.state.pointee.key]?.kind == .deleted { markDeleted(object) }
            for object in known { if let row = object.lastRow { loader.unloadMembers(namedBy: row) } }
            unloadMembers(leadingToUnknownOwnersOf: root, rootIndex)
        }
    }

    /// The positions of the root entities.
    private var allRoots: Set<Int> { Set(model.entities.lazy.filter(\.isRoot).map(\.index)) }

    /// Merges changes whose announcements the inbox has dropped.
    ///
    /// The effect is that of the announcements: unchanged objects have their new values at the next access, and deleted
    /// ones count as deleted at once, so that the store is asked which objects it has.
    private func mergeOverflow() {
        mergeUnknown(allRoots)
        for root in model.entities where root.isRoot {
            let saved = identityMap.objects(of: root).filter { $0.state.pointee.key > 0 && !$0.life.isInserted }
            for start in stride(from: 0, to: saved.count, by: Self.existenceBatch) {
                mergeExistence(of: saved[start..<min(start + Self.existenceBatch, saved.count)], root)
            }
        }
    }

    /// Merges the replacement of a store's file by another state of the store.
    ///
    /// The rows of all saved objects are read again. The version of such a row may be any one: also the same as that of a
    /// row with other values, or an earlier one. Earlier changes cannot be undone, since an object may be another one.
    private func mergeReplacement(of roots: Set<Int>) {
        for handler in identityMap.handlers where roots.contains(handler.entity.index) {
            handler.table.sweep()
            let objects = identityMap.objects(of: handler.entity)
            for object in objects {
                object.unloadAllMembers()
                // Others may have used the key meanwhile.
                if object.life.isInserted, object.state.pointee.key < 0 {
                    object.state.pointee.changes?.assignedKey = 0
                }
            }
            let saved = objects.filter { $0.state.pointee.key > 0 && !$0.life.isInserted }
            for start in stride(from: 0, to: saved.count, by: Self.existenceBatch) {
                replaceRows(of: saved[start..<min(start + Self.existenceBatch, saved.count)], handler.entity)
            }
        }
        changeTracker.forgetUndo()
    }

    private func replaceRows(of objects: ArraySlice<any GraphObject>, _ root: Entity) {
        let rows: RowBatch
        do {
            rows = try loader.stores.rows(of: root, with: objects.map { identityMap.id(of: $0) })
        } catch {
            // The next access to an unchanged object reads its row, and reports the error.
            for object in objects {
                if object.life == .unchanged { object.turnIntoFault() }
                if object.life.changesRow { object.state.pointee.flags.formUnion([.outdated, .replaced]) }
            }
            return
        }
        var stored: [Int64: Row] = [:]
        for row in rows.reporting(to: loader.readFailures) { stored[row.key] = row }
        for object in objects {
            if let row = stored[object.state.pointee.key] {
                object.adopt(replacement: row)
            } else if !object.life.isMissing {
                if object.life.isUpdated { object.state.pointee.flags.insert(.replaced) }
                markDeleted(object)
            }
        }
    }

    /// Reloads all saved objects from the parent, one of whose stores has another file.
    private func reloadReplaced() {
        let changed = identityMap.registeredObjects.filter { $0.life.changesRow }.map { ($0, row: $0.lastRow) }
        reloadAll()
        for (object, old) in changed {
            guard let old, object.life.changesRow, !(object.lastRow.map(old.hasValues) ?? false) else { continue }
            object.state.pointee.flags.formUnion([.outdated, .replaced])
        }
        changeTracker.forgetUndo()
    }

    /// The number of rows that a check of the existence of objects reads at once.
    private static let existenceBatch = 1000

    /// Marks the objects as missing that the store does not have, and reloads missing objects that it has again.
    private func mergeExistence(of objects: ArraySlice<any GraphObject>, _ root: Entity) {
        let ids = objects.map { identityMap.id(of: $0) }
        // An error of the store is reported at the next access to one of the objects.
        guard let rows = try? loader.stores.rows(of: root, with: ids) else { return }
        let stored = Set(rows.map(\.key))
        var returned: [any GraphObject] = []
        for object in objects {
            let isStored = stored.contains(object.state.pointee.key)
            if !isStored, !object.life.isMissing {
                markDeleted(object)
            } else if isStored, object.life.isMissing, !object.life.hasChanges {
                // An undo of a deletion has inserted it again.
                returned.append(object)
            }
        }
        loader.reload(returned, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
    }

    /// Merges commits that may have changed any object of root entities.
    ///
    /// Relationships are unloaded, and unchanged objects become outdated faults: the next access to one reads its row
    /// again, and those that were fetched with it, in one request. Only objects with observers, which must be notified,
    /// are reloaded at once.
    private func mergeUnknown(_ roots: Set<Int>) {
        guard parent == nil else { return reloadAll() }
        identityMap.noteUnknownDeletions()
        var observed: [any GraphObject] = []
        for handler in identityMap.handlers where handler.entity.isRoot {
            let isChanged = roots.contains(handler.entity.index)
            if isChanged { handler.table.sweep() }
            for object in identityMap.objects(of: handler.entity) where !object.state.pointee.life.isInserted {
                for relationship in object.entity.relationships
                where relationship.isToMany && (isChanged || roots.contains(relationship.destination.rootIndex)) {
                    object.unloadMembers(of: relationship)
                }
                guard isChanged else { continue }
                if object.state.pointee.life.changesRow {
                    // A rollback reads its row again.
                    object.state.pointee.flags.insert(.outdated)
                } else if object.state.pointee.flags.contains(.observed) {
                    observed.append(object)
                } else if object.state.pointee.life == .unchanged {
                    object.becomeOutdated()
                }
            }
        }
        reload(observed)
    }

    /// Unloads the to-many relationships that objects may have joined or left whose old or new owner is unknown: their
    /// rows are not in memory.
    private func unloadMembers(leadingToUnknownOwnersOf root: CommittedChanges.Root, _ rootIndex: Int) {
        for entity in model.entities where entity.rootIndex == rootIndex {
            for relationship in entity.relationships where !relationship.isToMany && relationship.source == entity {
                guard let inverse = relationship.inverse, inverse.isToMany else { continue }
                let isAffected = root.objects.values.contains { change in
                    change.kind != .updated || (change.slots?.contains(relationship.slot) ?? true)
                }
                if isAffected { loader.unloadMembers(of: inverse) }
            }
        }
    }

    /// Reloads objects that another coordinator may have changed. Objects without a row in the store become missing.
    private func reload(_ objects: [any GraphObject]) {
        let missing = loader.reload(
            objects.filter { !$0.state.pointee.life.isInserted && !$0.state.pointee.life.isMissing },
            changedObjects: .becomeOutdated,
            missingRows: .keepObjects,
            failures: .report
        )
        for object in missing { markDeleted(object) }
    }

    /// Reloads all saved objects from the parent, whose unsaved changes have been reverted or whose store has changed.
    private func reloadAll() {
        let saved = identityMap.registeredObjects.filter { !$0.state.pointee.life.isInserted }
        for object in saved { object.unloadAllMembers() }
        let missing = loader.reload(
            saved,
            changedObjects: .becomeOutdated,
            missingRows: .keepObjects,
            failures: .report
        )
        for object in missing { markDeleted(object) }
    }

    /// Marks all objects missing, since all stores were erased. Unsaved updates and deletions are dropped.
    private func mergeErasure() {
        for root in identityMap.handlers where root.entity.isRoot {
            for object in identityMap.objects(of: root.entity) {
                object.unloadAllMembers()
                guard !object.life.isInserted else { continue }
                changeTracker.unlistUpdate(of: object)
                changeTracker.unlistDeletion(of: object)
                object.life.markMissing()
                object.notifyObserversOfExistence()
            }
        }
        changeTracker.forgetUndo()
    }

    /// Marks an object that another context has deleted as missing. An updated object becomes outdated: its save
    /// reports the conflict.
    private func markDeleted(_ object: any GraphObject) {
        if object.life.isUpdated {
            object.state.pointee.flags.insert(.outdated)
            return
        }
        changeTracker.unlistDeletion(of: object)
        object.life.markMissing()
        object.notifyObserversOfExistence()
    }
}

extension GraphObject {
    /// Unloads all to-many relationships.
    fileprivate func unloadAllMembers() {
        for relationship in entity.relationships where relationship.isToMany { unloadMembers(of: relationship) }
    }
}
