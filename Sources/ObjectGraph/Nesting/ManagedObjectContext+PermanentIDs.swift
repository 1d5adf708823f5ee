extension ManagedObjectContext {
    /// Assigns permanent identifiers to new objects before they are saved.
    ///
    /// The other new objects of the context get theirs at the next save. An object with a permanent identifier keeps
    /// it, also when it is rolled back or deleted, and inserted again.
    ///
    /// - Precondition: The objects are in this context.
    /// - Throws: errors of the stores.
    /// - Complexity: O(number of changed objects).
    public func obtainPermanentIDs(for objects: some Sequence<any GraphObject>) throws {
        var new: [any GraphObject] = []
        for object in objects where object.state.pointee.key < 0 {
            precondition(object.managedObjectContext === self, "the object is not in the context: insert it first")
            if object.life.isInserted { new.append(object) }
        }
        guard !new.isEmpty else { return }
        try assignPermanentKeys()
        useAssignedKeys(of: new)
    }

    /// Assigns permanent identifiers to all new objects; O(1) if there are no further ones.
    func obtainPermanentIDsForAll() throws {
        guard inserted.additions != insertionsWithPermanentIDs else { return }
        try obtainPermanentIDs(for: inserted.objects)
        insertionsWithPermanentIDs = inserted.additions
    }

    /// Replaces the temporary keys of new objects by the assigned ones.
    private func useAssignedKeys(of objects: [any GraphObject]) {
        var permanentKeys: [Int64: Int64] = [:]
        for object in objects {
            let state = object.state
            guard let handler = state.pointee.handler, let assigned = state.pointee.changes?.assignedKey else {
                continue
            }
            permanentKeys[state.pointee.key] = assigned
            handler.table.remove(state.pointee.key)
            handler.table.insert(object, forKey: assigned, entity: handler.entity.index)
            state.pointee.key = assigned
        }
        // Only changed objects refer to new ones.
        for entry in changedEntries { entry.object.replaceKeys(permanentKeys) }
        earlierKeys.merge(permanentKeys) { _, new in new }
    }

    /// The current key of an object that had a temporary key.
    func currentKey(of key: Int64) -> Int64 {
        guard key < 0 else { return key }
        if let current = earlierKeys[key] { return current }
        return parent?.currentKey(of: key) ?? key
    }
}

extension GraphObject {
    /// Replaces keys of destinations of the object's relationships.
    fileprivate func replaceKeys(_ newKeys: [Int64: Int64]) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships {
            switch changes[relationship.slot] {
            case .value(.integer(let key)):
                if let new = newKeys[key] { changes[relationship.slot] = .value(.integer(new)) }
            case .members(let members): members.replaceKeys(newKeys)
            case .value, .unset, .composite, .pending: break
            }
        }
    }
}
