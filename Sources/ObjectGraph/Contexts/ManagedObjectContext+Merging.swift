extension ManagedObjectContext {
    /// Takes in what other contexts of the coordinator saved since the last time: unchanged objects get their new rows,
    /// and relationships are loaded again when they are next read. Objects with changes of their own keep them; that they
    /// conflict shows when they are saved. What was deleted here and there is deleted.
    func takeInSavedChanges() {
        guard !inbox.isEmpty else { return }
        deletionStamp &+= 1
        for changes in inbox.take() {
            switch changes {
            case .save(let request): merge(request)
            case .batch(let changes): merge(changes)
            case .erasure: forgetSavedObjects()
            }
        }
    }

    private func merge(_ changes: SaveChangesRequest) {
        for row in changes.inserted {
            unloadMembers(toldBy: row)
            // A row with a past was deleted, and came back.
            guard row.version > 1 else { continue }
            knownObject(forKey: row.key, of: model.entities[row.entityIndex])?.adopt(refetched: row)
        }
        for row in changes.updated {
            unloadMembers(toldBy: row)
            guard let found = handlers[row.entityIndex].table.object(forKey: row.key) else { continue }
            let object = handlers[found.entity].graphObject(found.object)
            if let old = object.state.pointee.row { unloadMembers(toldBy: old) }
            object.adopt(refetched: row)
        }
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

    /// Takes note that no object is in a store any more. Changes that were to be saved have nothing to change.
    private func forgetSavedObjects() {
        for handler in handlers where handler.entity.isRoot {
            for found in handler.table.all {
                let object = handlers[found.entity].graphObject(found.object)
                let flags = object.state.pointee.flags
                for relationship in object.entity.relationships where relationship.isToMany {
                    object.state.pointee.changes?.members(at: relationship.slot)?.unload()
                }
                guard !flags.contains(.inserted) else { continue }
                if flags.contains(.updated) { updated.remove(object) }
                if flags.contains(.deleted) { deleted.remove(object) }
                object.state.pointee.flags.insert(.vanished)
            }
        }
        forgetUndo()
    }

    /// Takes note that somebody else deleted an object.
    func markDeletedElsewhere(_ object: any GraphObject) {
        if object.state.pointee.flags.contains(.updated) {
            // Its save reports the conflict.
            object.state.pointee.flags.insert(.outdated)
            return
        }
        if object.state.pointee.flags.contains(.deleted) { deleted.remove(object) }
        object.state.pointee.flags.insert(.vanished)
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
        handlers[found.entity].graphObject(found.object).state.pointee.changes?.members(at: relationship.slot)?.unload()
    }
}
