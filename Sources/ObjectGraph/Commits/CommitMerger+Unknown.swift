// Commits that do not name what they have changed: every object may have changed.

extension CommitMerger {
    /// The positions of the root entities.
    var allRoots: Set<Int> { Set(model.entities.lazy.filter(\.isRoot).map(\.index)) }

    /// Merges commits that the inbox has dropped.
    ///
    /// The effect is the same as after a merge: unchanged objects have their new values at the next access, and
    /// deleted objects count as deleted at once, so that the store is asked for the existence of the objects.
    func mergeOverflow() {
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
    /// The rows of all saved objects are read again. The version of such a row says nothing: it may be earlier, or
    /// equal to the version of a row with other values. Earlier changes cannot be undone, since a row may belong to
    /// another object.
    func mergeReplacement(of roots: Set<Int>) {
        for handler in identityMap.handlers where roots.contains(handler.entity.index) {
            handler.table.sweep()
            let objects = identityMap.objects(of: handler.entity)
            for object in objects {
                object.unloadAllMembers()
                // Another program may have used the key in the file that replaced the store's file.
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
    func reloadReplaced() {
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
        // The next access to one of the objects reports an error of the store.
        guard let rows = try? loader.stores.rows(of: root, with: ids) else { return }
        let stored = Set(rows.map(\.key))
        var returned: [any GraphObject] = []
        for object in objects {
            let isStored = stored.contains(object.state.pointee.key)
            if !isStored, !object.life.isMissing {
                markDeleted(object)
            } else if isStored, object.life.isMissing, !object.life.hasChanges {
                // The undo of a deletion has inserted the object again.
                returned.append(object)
            }
        }
        loader.reload(returned, changedObjects: .becomeOutdated, missingRows: .keepObjects, failures: .report)
    }

    /// Merges commits that may have changed any object of root entities.
    ///
    /// Relationships are unloaded, and unchanged objects become outdated faults: the next access to one of them reads
    /// its row again, together with the rows that were fetched with it, in one request. Only objects with observers,
    /// which must be notified, are reloaded at once.
    func mergeUnknown(_ roots: Set<Int>) {
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
                    // A rollback reads the row of the object again.
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

    /// Reloads all saved objects from the parent, after its unsaved changes were reverted or its store has changed.
    func reloadAll() {
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
    func mergeErasure() {
        for root in identityMap.handlers where root.entity.isRoot {
            for object in identityMap.objects(of: root.entity) {
                object.unloadAllMembers()
                guard !object.life.isInserted else { continue }
                changeTracker.unlistUpdate(of: object)
                changeTracker.unlistDeletion(of: object)
                identityMap.markMissing(object)
            }
        }
        changeTracker.forgetUndo()
    }
}
