extension ManagedObjectContext {
    /// Drops all changes. New objects leave the context, keeping their values and the relationships among themselves;
    /// changed and deleted objects are again what their rows say, and those that somebody else changed meanwhile are
    /// read again. None of it can be undone any more.
    public func rollback() {
        forgetUndo()
        forgetReadFailures()
        let new = inserted.objects.filter { $0.state.pointee.key < 0 }
        let returned = inserted.objects.filter { $0.state.pointee.key > 0 }
        let changed = updated.objects + deleted.objects
        unpropagatedDeletes = []
        clearChangeLists()
        for object in changed { object.dropChanges() }
        // Their deletion was saved, and only undone in memory.
        for object in returned where object.life == .unchanged { object.life.markMissing() }
        removeFromContext(new)
        readOutdatedAgain(among: changed)
        childInboxes.inboxes.post(.revert, except: nil)
    }

    /// Reads the objects again that somebody else changed; those that are not in the store any more keep their last
    /// values.
    private func readOutdatedAgain(among objects: [any GraphObject]) {
        let outdated = objects.filter { $0.state.pointee.flags.contains(.outdated) }
        for (_, objects) in Dictionary(grouping: outdated, by: { $0.entity.rootIndex }) {
            for object in objects { object.state.pointee.flags.remove(.outdated) }
            fillFaults(objects)
        }
    }

    /// Moves new objects out of the context, onto an island of their own.
    func removeFromContext(_ objects: [any GraphObject]) {
        let island = Island()
        let keys = Set(objects.map { $0.state.pointee.key })
        for object in objects {
            object.state.pointee.handler?.table.remove(object.state.pointee.key)
            object.dropRelationships(exceptTo: keys)
            island.settle(object, key: object.state.pointee.key)
        }
    }

    /// Lets go of all objects and drops all changes. Objects that somebody still refers to keep their last values and
    /// identifiers. A pinned context moves to the state that its stores have now.
    public func reset() {
        rollback()
        for root in handlers where root.entity.isRoot {
            var detached: [Int: FaultHandler] = [:]
            root.table.sweep()
            for found in root.table.all {
                let handler = detached[found.entity] ?? handlers[found.entity].detached()
                detached[found.entity] = handler
                handler.graphObject(found.object).state.pointee.handler = handler
            }
            _ = root.table.removeAll()
        }
        // Where no state can be kept, the context stays in the one that it has.
        if pinnedGeneration != nil { try? setQueryGeneration(from: .current) }
    }

    /// Makes an object a fault, to be filled anew from the store when it is next read.
    ///
    /// - Parameters:
    ///   - object: The object; one that is new, gone or of another context is left as it is.
    ///   - mergeChanges: Whether unsaved changes stay; else they are dropped, a deletion included. Members that joined or
    ///     left a to-many relationship through their own to-one relationship to the object stay so.
    public func refresh(_ object: any GraphObject, mergeChanges: Bool) {
        guard let handler = object.state.pointee.handler, handler.context === self, object.state.pointee.key > 0,
            object.life.canBeFilled
        else { return }
        readFailures.removeAll {
            $0.key == object.state.pointee.key && handlers[$0.entityIndex].table === handler.table
        }
        if mergeChanges, object.hasChanges { return readAgain([object]) }
        // What was changed before can be undone, the refresh cannot.
        registerUndo()
        withoutRecording {
            if object.life.isDeleted { restore([object]) }
            object.takeBackRelationships()
            if object.life.isUpdated { updated.remove(object) }
            object.turnIntoFault()
            object.tellObserversOfAll()
            if object.state.pointee.changes != nil { markUpdated(object) }
        }
    }

    /// Makes all unchanged objects faults, to be filled anew from the store when they are next read. Changed ones keep
    /// their changes, and what they have not changed is read again. New ones stay as they are.
    ///
    /// - Complexity: O(number of registered objects), and a statement for the changed ones of each root entity.
    public func refreshAllObjects() {
        processPendingChanges()
        let objects = registeredObjects
        forgetReadFailures()
        readAgain((updated.objects + deleted.objects).filter { $0.lastRow != nil })
        for object in objects where !object.hasChanges { refresh(object, mergeChanges: false) }
    }

    /// Reads the rows of objects again, which keep their changes.
    func readAgain(_ objects: [any GraphObject]) {
        for (_, objects) in Dictionary(grouping: objects, by: \.entity.rootIndex) {
            let ids = objects.map { id(entity: $0.entity, key: $0.state.pointee.key) }
            let found = reading(for: objects[0]) {
                try store(for: objects[0].entity).newValuesForObjects(with: ids, with: self)
            }
            for row in found ?? RowBatch() {
                guard let object = knownObject(forKey: row.key, of: model.entities[row.entityIndex]) else { continue }
                object.replaceRow(by: row)
                object.state.pointee.flags.remove(.outdated)
            }
        }
    }
}

extension GraphObject {
    /// Makes the object's relationships, and their inverses, lead where the store says; those excepted that the members'
    /// rows tell.
    func takeBackRelationships() {
        guard let changes = state.pointee.changes, let context = state.pointee.handler?.context else { return }
        for relationship in entity.relationships {
            switch (changes[relationship.slot], relationship.placement) {
            case (.value, .sourceKey):
                let stored = state.pointee.row?.integer(at: relationship.slot) ?? 0
                setDestination(
                    context.objects(with: [stored], of: relationship.destination).first,
                    at: relationship.slot
                )
            case (.members(let members), .joinTable) where members.isChanged:
                let kept = memberObjects(at: relationship.slot).filter { !members.added.contains($0.state.pointee.key) }
                setMembers(
                    kept + context.objects(with: members.removed, of: relationship.destination),
                    at: relationship.slot
                )
            default: break
            }
        }
    }

    /// Drops the row, and all changes but those of relationships that the members' rows tell.
    fileprivate func turnIntoFault() {
        state.pointee.row = nil
        state.pointee.flags.remove(.outdated)
        guard let changes = state.pointee.changes else { return }
        changes.cachedRow = nil
        var keepsMembers = false
        for property in entity.properties {
            if case .relationship(let relationship) = property, relationship.placement == .destinationKey,
                let members = changes.members(at: property.slot), members.isChanged
            {
                members.unload()
                keepsMembers = true
            } else {
                changes[property.slot] = .unset
            }
        }
        if !keepsMembers { state.pointee.changes = nil }
    }

    /// Forgets the destinations and members that are not among `keys`.
    fileprivate func dropRelationships(exceptTo keys: Set<Int64>) {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships {
            switch changes[relationship.slot] {
            case .value(.integer(let key)) where !keys.contains(key):
                changes[relationship.slot] = .unset
            case .members(let members):
                changes[relationship.slot] = .members(ToManyMembers(new: members.keys.filter(keys.contains)))
            default: break
            }
        }
    }
}
