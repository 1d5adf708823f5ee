extension ManagedObjectContext {
    /// Takes changes back. What that changes is recorded in its turn, and registered for the opposite direction.
    func revert(_ recorded: RecordedChanges) {
        var returned: [any GraphObject] = []
        // Delete rules wait until all objects are what they were. What they took along was recorded as well: all that is left
        // to do is to clear references that were made without having been recorded.
        isPropagatingDeletes = true
        for change in recorded.changes.reversed() { revert(change, of: recorded, &returned) }
        isPropagatingDeletes = false
        relink(returned)
        // Objects that were deleted with them, or whose members were read again since, do not know them any more.
        for object in returned { object.reestablishInverses() }
        propagateDeletes(cascading: false)
        for change in recorder?.changes ?? [] { change.object.dropVoidChanges() }
        registerUndo()
        childInboxes.inboxes.post(.revert, except: nil)
    }

    private func revert(
        _ change: RecordedChange,
        of recorded: RecordedChanges,
        _ returned: inout [any GraphObject]
    ) {
        let object = change.object
        // Objects that left the context, such as those that a rollback dropped, are nobody's concern any more.
        guard object.state.pointee.handler?.context === self else { return }
        switch change {
        case .insertion: return markDeleted(object)
        case .deletion: return takeBackDeletion(of: object, recorded, &returned)
        default: break
        }
        // Somebody else deleted it meanwhile. What was deleted here may yet come back.
        if object.life.isMissing, object.state.pointee.key > 0, !object.life.isRestorable { return }
        switch change {
        case .value(_, let slot, let value): object.changeSavedSlot(value, at: slot)
        case .destination(_, let slot, let reference):
            guard case .relationship(let relationship) = object.entity.properties[slot] else { return }
            let isLost = isLost(reference, from: object, along: relationship)
            object.storeDestination(isLost ? 0 : reference.currentKey, at: slot)
        case .arrival(let member, _, let relationship): object.removeMember(member.currentKey, from: relationship)
        case .departure(let member, _, let relationship, let removal):
            if isLost(member, from: object, along: relationship) { return }
            object.takeBack(removal, of: member.currentKey, from: relationship)
        case .order(_, let relationship, let order, let wasReordered):
            let isSinceSave = recorded.saveCount == saveCount
            object.restoreOrder(order.map(\.currentKey), of: relationship, isStored: isSinceSave && !wasReordered)
        case .insertion, .deletion: break
        }
    }

    /// Whether a relationship of an object must not be made to lead to another one again, which is gone for good: it may have
    /// been when the change was recorded, since a one-way relationship does not hear of the deletion of its destination.
    private func isLost(
        _ reference: ObjectReference,
        from object: any GraphObject,
        along relationship: Relationship
    ) -> Bool {
        let key = reference.currentKey
        guard key > 0 else { return false }
        guard let destination = destination(of: relationship, key: key, from: object) else { return true }
        return destination.life.isMissing && !destination.life.isRestorable
    }

    // MARK: Deletions

    /// Brings a deleted object back. One whose deletion has been saved becomes a new object, under its own identifier,
    /// which no other object ever gets.
    private func takeBackDeletion(
        of object: any GraphObject,
        _ recorded: RecordedChanges,
        _ returned: inout [any GraphObject]
    ) {
        let state = object.state
        if state.pointee.life.isDeleted {
            deleted.remove(object)
            state.pointee.flags.remove(.deletePropagated)
            markUpdated(object)
        } else if state.pointee.life.isRestorable {
            object.prepareForReinsertion(currentKey: recorded.currentKey)
            if state.pointee.key > 0 { returned.append(object) }
            state.pointee.flags.remove(.deletePropagated)
            inserted.add(object)
        } else {
            return
        }
        deletionStamp &+= 1
        recorder?.didInsert(object)
    }

    /// Has everything saved that leads to objects whose saved deletion was taken back: the store cleared it, also where no
    /// change here told so. That is the case of one-way relationships, whose owners are found as far as they are in memory
    /// and have their members loaded, and of those with delete rule `noAction`.
    private func relink(_ returned: [any GraphObject]) {
        forEachSource(of: returned) { object, relationship, keys in
            guard relationship.isToMany, relationship.inverse == nil else { return }
            let members = object.state.pointee.changes?.members(at: relationship.slot)
            if members?.readd(keys) ?? false { markUpdated(object) }
        }
        // Their rows still tell the keys, so that a save would see no difference.
        let cleared = objectsWithRows(leadingTo: returned)
        readRowsAgain(of: cleared.map(\.object))
        for (object, slot, key) in cleared {
            object.ensureChanges()[slot] = .value(.integer(key))
            markUpdated(object)
        }
    }

    /// The to-one relationships by which objects lead to others according to their rows, and not otherwise by their
    /// changes.
    func objectsWithRows(
        leadingTo destinations: [any GraphObject]
    ) -> [(object: any GraphObject, slot: Int, key: Int64)] {
        var found: [(object: any GraphObject, slot: Int, key: Int64)] = []
        forEachSource(of: destinations) { object, relationship, keys in
            guard !relationship.isToMany, let key = object.lastRow?.integer(at: relationship.slot),
                keys.contains(key), object.destinationKey(at: relationship.slot) == key
            else { return }
            found.append((object, relationship.slot, key))
        }
        return found
    }

    /// Goes through the saved objects in memory that have a relationship which could lead to one of others.
    ///
    /// - Parameter body: Called with an object, such a relationship of it, and the keys of those others.
    private func forEachSource(
        of destinations: [any GraphObject],
        _ body: (any GraphObject, Relationship, Set<Int64>) -> Void
    ) {
        guard !destinations.isEmpty else { return }
        let keysByRoot = Dictionary(grouping: destinations, by: \.entity.rootIndex).mapValues { objects in
            Set(objects.map { $0.state.pointee.key })
        }
        for relationship in model.relationships {
            guard let keys = keysByRoot[relationship.destination.rootIndex] else { continue }
            for found in handlers[relationship.source.index].table.all
            where model.entities[found.entity].isKind(of: relationship.source) {
                let object = handlers[found.entity].graphObject(found.object)
                guard object.life.isStored else { continue }
                body(object, relationship, keys)
            }
        }
    }

    /// Reads the rows of objects again of which somebody else has changed nothing.
    func readRowsAgain(of objects: [any GraphObject]) {
        for (_, objects) in Dictionary(grouping: objects, by: \.entity.rootIndex) {
            let ids = objects.map { id(entity: $0.entity, key: $0.state.pointee.key) }
            let rows = reading(for: objects[0]) {
                try store(for: objects[0].entity).newValuesForObjects(with: ids, with: self)
            }
            for row in rows ?? RowBatch() {
                guard let object = knownObject(forKey: row.key, of: model.entities[row.entityIndex]),
                    // Else the next save has a conflict to report.
                    object.lastRow?.version == row.version
                else { continue }
                object.replaceRow(by: row)
            }
        }
    }

    /// Loads the members of deleted objects, which are lost with the save of the deletion.
    func loadMembersOfDeletedObjects() {
        for object in deleted.objects {
            for relationship in object.entity.relationships where relationship.isToMany {
                _ = object.memberObjects(at: relationship.slot)
            }
        }
    }
}

extension GraphObject {
    /// Reads the values that the store left out of the row, and loses with the object.
    func keepDeferredValues() {
        guard let row = state.pointee.row else { return }
        for slot in 0..<row.slotCount where row.tag(at: slot) == .deferredBlob {
            let changes = ensureChanges()
            // Where it cannot be read it stays what the row says, and is missed when the object is to be inserted again.
            if changes[slot].isUnset, let blob = try? row.readBlob(at: slot) { changes[slot] = .value(.blob(blob)) }
        }
    }

    /// Prepares an object that the store does not have for being inserted again: all that it has is new.
    ///
    /// - Parameter currentKey: The keys that related objects have now, by those that they had.
    fileprivate func prepareForReinsertion(currentKey: (Int64) -> Int64) {
        let changes = ensureChanges()
        if state.pointee.key > 0 { changes.assignedKey = state.pointee.key }
        for relationship in entity.relationships {
            let slot = relationship.slot
            switch changes[slot] {
            case .members(let members): changes[slot] = .members(ToManyMembers(new: members.keys.map(currentKey)))
            case .value(.integer(let key)): changes[slot] = .value(.integer(currentKey(key)))
            case .unset where relationship.isToMany: changes[slot] = .members(ToManyMembers(new: []))
            case .unset:
                // The destination may have been deleted as well, which only changes are asked about.
                let key = destinationKey(at: slot)
                if key != 0 { changes[slot] = .value(.integer(key)) }
            case .value, .composite, .pending: break
            }
        }
    }

    /// Puts a member back into its place.
    fileprivate func takeBack(_ removal: ToManyMembers.Removal, of key: Int64, from relationship: Relationship) {
        let members = members(of: relationship)
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            guard members.takeBack(removal, of: key) else { return }
            recorder?.didAdd(key, to: self, relationship)
            didChange()
        }
    }

    /// Puts the members of an ordered relationship into an order; those that it does not name come behind.
    ///
    /// - Parameter isStored: Whether it is the order that the store has.
    func restoreOrder(_ order: [Int64], of relationship: Relationship, isStored: Bool) {
        let members = members(of: relationship)
        if !members.isLoaded { _ = state.pointee.handler?.context?.loadMembers(of: relationship, for: self) }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            members.restoreOrder(order, isStored: isStored)
            didChange()
        }
    }

    /// Drops changes that say what the row says, as they do after an undo; an object that has no others is unchanged.
    fileprivate func dropVoidChanges() {
        guard state.pointee.life.isUpdated, let context = state.pointee.handler?.context else { return }
        guard let changes = state.pointee.changes else { return context.updated.remove(self) }
        guard let row = state.pointee.row else { return }
        var isChanged = false
        var keepsMembers = false
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .unset: continue
            case .value(let value):
                if row.holds(value, at: slot) { changes[slot] = .unset } else { isChanged = true }
            case .composite, .pending: isChanged = true
            case .members(let members):
                if members.isChanged {
                    isChanged = true
                } else if members.isLoaded {
                    keepsMembers = true
                } else {
                    changes[slot] = .unset
                }
            }
        }
        guard !isChanged else { return }
        context.updated.remove(self)
        if !keepsMembers { state.pointee.changes = nil }
    }
}
