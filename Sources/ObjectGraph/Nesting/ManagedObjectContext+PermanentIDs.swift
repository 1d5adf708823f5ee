extension ManagedObjectContext {
    /// Gives new objects their permanent identifiers before they are saved, so that they can be handed on.
    ///
    /// The other new objects of the context may get theirs at the next save only. An object that has a permanent
    /// identifier already keeps it, also when it is rolled back, or deleted, and inserted again.
    ///
    /// - Precondition: The objects are in this context.
    /// - Throws: what the stores throw.
    /// - Complexity: O(number of changed objects).
    public func obtainPermanentIDs(for objects: some Sequence<any GraphObject>) throws {
        var new: [any GraphObject] = []
        for object in objects where object.state.pointee.key < 0 {
            precondition(object.managedObjectContext === self, "the object is not in the context: insert it first")
            if object.state.pointee.flags.contains(.inserted) { new.append(object) }
        }
        guard !new.isEmpty else { return }
        try assignPermanentKeys()
        useAssignedKeys(of: new)
    }

    /// Gives all new objects their permanent identifiers; cheap where there are no further ones.
    func obtainPermanentIDsForAll() throws {
        guard inserted.additions != insertionsWithPermanentIDs else { return }
        try obtainPermanentIDs(for: inserted.objects)
        insertionsWithPermanentIDs = inserted.additions
    }

    /// Makes the keys that were assigned to new objects the ones that the objects are known by.
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
        // Only changed objects can lead to new ones.
        for entry in changedEntries { entry.object.replaceKeys(permanentKeys) }
        earlierKeys.merge(permanentKeys) { _, new in new }
    }

    /// The key that an object is known by, of which a temporary key was given out before.
    func currentKey(of key: Int64) -> Int64 {
        guard key < 0 else { return key }
        if let current = earlierKeys[key] { return current }
        return parent?.currentKey(of: key) ?? key
    }
}

extension GraphObject {
    /// Replaces keys of objects that the object's relationships lead to.
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
