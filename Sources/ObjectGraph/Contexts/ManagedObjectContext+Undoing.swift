extension ManagedObjectContext {
    /// Drops all changes. New objects leave the context, keeping their values and the relationships among themselves;
    /// changed and deleted objects are again what their rows say.
    public func rollback() {
        let inserted = insertedList.filter { $0._$state.flags.contains(.inserted) }
        let changed = updatedList.filter { $0._$state.flags.contains(.updated) }
        let deleted = deletedList.filter { $0._$state.flags.contains(.deleted) }
        unpropagatedDeletes = []
        clearChangeLists()
        for object in changed + deleted { object._$state.changes = nil }
        removeFromContext(inserted)
    }

    /// Moves new objects out of the context, onto an island of their own.
    private func removeFromContext(_ objects: [any GraphObject]) {
        let island = Island()
        let keys = Set(objects.map { $0._$state.key })
        for object in objects {
            object._$state.handler?.table.remove(object._$state.key)
            object.dropRelationships(exceptTo: keys)
            island.settle(object, key: object._$state.key)
        }
    }

    /// Lets go of all objects and drops all changes. Objects that somebody still refers to keep their last values.
    public func reset() {
        rollback()
        for handler in handlers where handler.entity.isRoot {
            for found in handler.table.all {
                let object = handlers[found.entity].graphObject(found.object)
                object._$state.handler = nil
            }
            _ = handler.table.removeAll()
        }
    }

    /// Makes an object a fault, to be filled anew from the store when it is next read.
    ///
    /// - Parameter mergeChanges: Whether unsaved changes stay; else they are dropped.
    public func refresh(_ object: any GraphObject, mergeChanges: Bool) {
        guard let handler = object._$state.handler, handler.context === self, object._$state.key > 0,
            !object._$state.flags.contains(.vanished)
        else { return }
        if mergeChanges, object._$state.flags.contains(.updated) {
            guard let node = try? store(for: handler.entity).newValuesForObject(with: object.managedObjectID, with: self)
            else { return }
            object._$state.row = node.row
            return
        }
        if object._$state.flags.contains(.updated) {
            object._$state.flags.remove(.updated)
            updatedCount -= 1
        }
        object._$state.changes = nil
        object._$state.row = nil
    }
}

extension GraphObject {
    /// Forgets the destinations and members that are not among `keys`.
    fileprivate func dropRelationships(exceptTo keys: Set<Int64>) {
        guard let changes = _$state.changes else { return }
        for relationship in entity.relationships {
            switch changes[relationship.slot] {
            case .value(.integer(let key)) where !keys.contains(key):
                changes[relationship.slot] = .unset
            case .members(let members):
                changes[relationship.slot] = .members(ToManyMembers(loaded: members.keys.filter(keys.contains)))
            default: break
            }
        }
    }
}
