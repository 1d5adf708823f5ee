extension ManagedObjectContext {
    /// Takes in what other contexts saved since the last time: unchanged objects get their new rows, and relationships are
    /// loaded again when they are next read. Objects with changes of their own keep them; that they conflict shows when
    /// they are saved. What was deleted here and there is deleted.
    func takeInSavedChanges() {
        parent?.takeInSavedChanges()
        guard !inbox.isEmpty, pinnedGeneration == nil else { return }
        deletionStamp &+= 1
        var awakened: [any GraphObject] = []
        for announcement in inbox.take() {
            switch announcement {
            case .save(let changes): merge(changes, &awakened)
            case .batch(let changes): merge(changes)
            // A parent has objects that no store has.
            case .erasure where parent == nil: forgetSavedObjects()
            case .erasure, .revert: readAllAgain()
            }
            childInboxes.inboxes.post(announcement, except: nil)
        }
        // Only now, since an object may do anything.
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
    }

    private func merge(_ changes: SaveChangesRequest, _ awakened: inout [any GraphObject]) {
        var changes = changes
        changes.inserted = withOwnReadFailures(changes.inserted)
        changes.updated = withOwnReadFailures(changes.updated)
        for row in changes.inserted {
            unloadMembers(toldBy: row)
            // A row with a past was deleted, and came back.
            guard row.version > 1 || parent != nil else { continue }
            knownObject(forKey: row.key, of: model.entities[row.entityIndex])?.adopt(refetched: row)
        }
        var known: [any GraphObject] = []
        var left: Set<Relationship> = []
        // A store that tells of rows by itself does not tell what changed in them.
        var updates = changes.updates.makeIterator()
        for row in changes.updated {
            let slots = updates.next()?.slots
            unloadMembers(toldBy: row)
            let object = knownObject(forKey: row.key, of: model.entities[row.entityIndex])
            let old = object?.lastRow
            if let old { unloadMembers(toldBy: old) }
            left.formUnion(membershipsLeft(by: row, slots, from: old))
            guard let object else { continue }
            if parent != nil {
                known.append(object)
            } else if object.adopt(refetched: row) {
                awakened.append(object)
            }
        }
        for relationship in left { unloadAllMembers(of: relationship) }
        // The parent may have changes of its own besides.
        readAgain(known.filter { $0.state.pointee.row != nil })
        for deletion in changes.deleted {
            if let row = deletion.row { unloadMembers(toldBy: row) }
            guard let found = handlers[deletion.entity.index].table.object(forKey: deletion.key) else { continue }
            markDeletedElsewhere(handlers[found.entity].graphObject(found.object))
        }
        for change in changes.memberships {
            unloadMembers(of: change.relationship, owner: change.owner)
            guard let inverse = change.relationship.inverse else { continue }
            for key in change.added + change.removed { unloadMembers(of: inverse, owner: key) }
        }
    }

    /// The rows, copied where they leave values in the store: that one cannot be read is to be told here.
    func withOwnReadFailures(_ rows: RowBatch) -> RowBatch {
        guard rows.chunks.contains(where: { $0.fields.pointee.deferredValues != nil }) else { return rows }
        return RowBatch(copying: rows, readFailures: readFailures)
    }

    /// Makes all objects what the parent says that they are now.
    private func readAllAgain() {
        let saved = registeredObjects.filter { !$0.life.isInserted }
        for (_, objects) in Dictionary(grouping: saved, by: \.entity.rootIndex) {
            for object in objects {
                for relationship in object.entity.relationships where relationship.isToMany {
                    object.unloadMembers(of: relationship)
                }
            }
            let ids = objects.map { id(entity: $0.entity, key: $0.state.pointee.key) }
            let found = reading(for: objects[0]) {
                try store(for: objects[0].entity).newValuesForObjects(with: ids, with: self)
            }
            guard let rows = found else { continue }
            var missing = Dictionary(uniqueKeysWithValues: objects.map { ($0.state.pointee.key, $0) })
            for row in rows { missing.removeValue(forKey: row.key)?.adopt(refetched: row) }
            for object in missing.values { markDeletedElsewhere(object) }
        }
    }

    /// Takes note that no object is in a store any more. Changes that were to be saved have nothing to change.
    private func forgetSavedObjects() {
        for handler in handlers where handler.entity.isRoot {
            for found in handler.table.all {
                let object = handlers[found.entity].graphObject(found.object)
                for relationship in object.entity.relationships where relationship.isToMany {
                    object.unloadMembers(of: relationship)
                }
                guard !object.life.isInserted else { continue }
                if object.life.isUpdated { updated.remove(object) }
                if object.life.isDeleted { deleted.remove(object) }
                object.life.markMissing()
            }
        }
        forgetUndo()
    }

    /// Takes note that somebody else deleted an object.
    func markDeletedElsewhere(_ object: any GraphObject) {
        if object.life.isUpdated {
            // Its save reports the conflict.
            object.state.pointee.flags.insert(.outdated)
            return
        }
        if object.life.isDeleted { deleted.remove(object) }
        object.life.markMissing()
    }

    /// The to-many relationships that an object has left without it being known here whose members it was: the members may
    /// be loaded though the object is not in memory, or has not all values.
    ///
    /// - Parameter slots: The slots that changed; nil where it may be any of them.
    private func membershipsLeft(
        by row: Row,
        _ slots: SlotSet?,
        from old: Row?
    ) -> [Relationship] {
        model.entities[row.entityIndex].relationships.compactMap { relationship in
            guard !relationship.isToMany, slots?.contains(relationship.slot) ?? true,
                !(old?.tells(relationship.slot) ?? false), let inverse = relationship.inverse, inverse.isToMany
            else { return nil }
            return inverse
        }
    }

    /// Unloads the to-many relationships of which a row tells that its object is a member.
    func unloadMembers(toldBy row: Row) {
        for relationship in model.entities[row.entityIndex].relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, inverse.isToMany else { continue }
            unloadMembers(of: inverse, owner: row.integer(at: relationship.slot))
        }
    }

    private func unloadMembers(of relationship: Relationship, owner key: Int64) {
        guard key > 0, let found = handlers[relationship.source.index].table.object(forKey: key) else { return }
        handlers[found.entity].graphObject(found.object).unloadMembers(of: relationship)
    }
}
