extension ManagedObjectContext {
    /// Writes all changes in one transaction, and tells the coordinator's other contexts.
    ///
    /// When it throws, neither the store nor the context has changed: after a repair it can be called again.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` with every value that cannot be saved;
    ///   ``ObjectGraphError/conflicts(_:)`` where objects changed in the store since they were read; what the stores throw.
    public func save() throws {
        takeInSavedChanges()
        guard hasChanges else { return }
        try assignPermanentKeys()
        let preparation = try SavePreparation(self)
        do {
            for (store, request) in preparation.requests where !request.isEmpty {
                guard case .saved = try store.execute(.save(request), with: self) else {
                    preconditionFailure("the store answered a save with something else")
                }
            }
        } catch ObjectGraphError.conflicts(let ids) {
            for id in ids { knownObject(forKey: id.key, of: id.entity)?.state.pointee.flags.insert(.outdated) }
            throw ObjectGraphError.conflicts(ids)
        }
        finishSave(preparation)
        for (_, request) in preparation.requests where !request.isEmpty {
            coordinator.announce(request, from: inbox)
        }
    }

    /// Asks the stores for the permanent keys of all new objects. They stay with the objects, even if the save fails.
    private func assignPermanentKeys() throws {
        let objects = insertedObjects.filter { $0.state.pointee.changes?.header.assignedKey == 0 }
        let groups = Dictionary(grouping: objects) { $0.entity.rootIndex }
        for (rootIndex, objects) in groups.sorted(by: { $0.key < $1.key }) {
            let store = try store(for: model.entities[rootIndex])
            let ids = try store.obtainPermanentIDs(for: objects.map(\.entity))
            for (object, id) in zip(objects, ids) {
                object.state.pointee.changes?.withUnsafeMutablePointerToHeader { $0.pointee.assignedKey = id.key }
            }
        }
    }

    /// The permanent key of an object with a key, which may be temporary; 0 where it will not be in the store.
    func permanentKey(for key: Int64, of entity: Entity) -> Int64 {
        guard let object = knownObject(forKey: key, of: entity) else { return max(key, 0) }
        guard object.state.pointee.flags.isDisjoint(with: [.deleted, .vanished]) else { return 0 }
        return key > 0 ? key : object.state.pointee.changes?.header.assignedKey ?? 0
    }

    /// Makes the objects what their saved rows say.
    private func finishSave(_ preparation: SavePreparation) {
        // Sweeps before it begins rather than in its midst.
        let insertedByRoot = Dictionary(grouping: preparation.inserted) { $0.entity.rootIndex }
        for (root, objects) in insertedByRoot { handlers[root].table.reserve(objects.count) }
        for object in preparation.inserted + preparation.updated {
            object.forgetSavedMembers(in: self)
        }
        for (object, row) in zip(preparation.inserted, preparation.insertedRows) {
            let oldKey = object.state.pointee.key
            let handler = object.state.pointee.handler!
            handler.table.insert(object, forKey: row.key, entity: handler.entity.index)
            handler.table.remove(oldKey)
            object.state.pointee.key = row.key
            object.didSave(as: row)
        }
        for (object, row) in zip(preparation.updated, preparation.updatedRows) {
            object.didSave(as: row ?? object.state.pointee.row)
        }
        for object in preparation.deleted {
            // It stays registered for as long as somebody refers to it, so that others still find it under its key.
            object.state.pointee.flags.insert(.vanished)
        }
        clearChangeLists()
    }

    /// Empties the lists of changed objects and resets the flags that tell of them.
    func clearChangeLists() {
        let pending: ObjectFlags = [
            .inserted, .updated, .deleted, .listedAsInserted, .listedAsUpdated, .listedAsDeleted, .deletePropagated,
        ]
        let lists = [insertedList, updatedList, deletedList]
        insertedList = []
        updatedList = []
        deletedList = []
        insertedCount = 0
        updatedCount = 0
        deletedCount = 0
        for list in lists {
            for object in list { object.state.pointee.flags.subtract(pending) }
        }
    }
}

extension GraphObject {
    /// Brings the loaded members of to-many relationships to their saved form.
    fileprivate func forgetSavedMembers(in context: ManagedObjectContext) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships where relationship.isToMany {
            changes.members(at: relationship.slot)?.didSave {
                context.permanentKey(for: $0, of: relationship.destination)
            }
        }
    }

    /// Drops the changes that the row has now; loaded members of to-many relationships stay.
    fileprivate func didSave(as row: Row?) {
        state.pointee.row = row
        guard let changes = state.pointee.changes else { return }
        var keepsMembers = false
        for property in entity.properties {
            if changes.members(at: property.slot)?.isLoaded == true {
                keepsMembers = true
            } else {
                changes[property.slot] = .unset
            }
        }
        if keepsMembers {
            changes.withUnsafeMutablePointerToHeader { $0.pointee.assignedKey = 0 }
        } else {
            state.pointee.changes = nil
        }
    }
}
