extension UndoRegistration {
    /// Reverts changes. The reversal is recorded and registered as well, for the opposite direction.
    func revert(_ recorded: RecordedChanges) {
        var returned: [any GraphObject] = []
        var left: [FormerReference] = []
        // Delete rules are applied after all objects are reverted. Their effects were recorded as well, so that only
        // references that were not recorded remain to be cleared.
        deletePropagation.suspending {
            for change in recorded.changes.reversed() { revert(change, of: recorded, &returned, &left) }
            for reference in left { realign(reference) }
            for change in recorded.changes { settle(change) }
        }
        relink(returned)
        // Objects that were deleted together with these, or whose members were reloaded since, do not refer to them.
        for object in returned { object.reestablishInverses() }
        part(returned, recorded)
        for case .deletion(let object) in recorded.changes where object.life.isStored { settleMembers(of: object) }
        loader.unloadMembers(ofSourcesOf: returned)
        deletePropagation.run(cascading: false)
        let changed = ((changeTracker.recorder?.changes ?? []) + recorded.changes).map(\.object)
        for object in changed { object.dropVoidChanges(changeTracker) }
        loader.reloadOutdated(among: changed)
        // Some references lead elsewhere by the rows that were just read.
        for change in recorded.changes { settle(change) }
        realignReloaded(left)
        for object in changed { object.dropVoidChanges(changeTracker) }
        registerChanges()
        commitMerger.announceRevert()
    }

    private func revert(
        _ change: RecordedChange,
        of recorded: RecordedChanges,
        _ returned: inout [any GraphObject],
        _ left: inout [FormerReference]
    ) {
        let object = change.object
        // Objects that have left the context, such as those that a rollback dropped, do not change.
        guard identityMap.contains(object) else { return }
        switch change {
        case .insertion: return deletePropagation.markDeleted(object)
        case .deletion: return revertDeletion(of: object, recorded, &returned)
        default: break
        }
        // Another context has deleted the object since the change was recorded. An object that this context has deleted
        // can be restored.
        if object.life.isMissing, object.state.pointee.key > 0, !object.life.isRestorable { return }
        switch change {
        case .value(_, let slot, let value): object.changeSavedSlot(value, at: slot)
        case .destination(_, let slot, let reference):
            guard case .relationship(let relationship) = object.entity.properties[slot] else { return }
            let former = object.destinationKey(at: slot)
            left.append(FormerReference(object: object, relationship: relationship, key: former))
            let isLost = isLost(reference, from: object, along: relationship)
            object.storeDestination(isLost ? 0 : reference.currentKey, at: slot)
        case .arrival(let member, _, let relationship, let isRestored):
            // A member that was added since the last save is no change if the store has it.
            if !isRestored, recorded.saveCount == changeTracker.saveCount {
                object.revertAddition(of: member.currentKey, to: relationship)
            } else {
                object.removeMember(member.currentKey, from: relationship)
            }
        case .departure(let member, _, let relationship, let removal):
            if isLost(member, from: object, along: relationship) { return }
            let isSinceSave = recorded.saveCount == changeTracker.saveCount
            object.revert(removal, of: member.currentKey, from: relationship, isUnsaved: isSinceSave)
        case .order(_, let relationship, let order, let storedAt):
            let isSinceSave = recorded.saveCount == changeTracker.saveCount
            object.restoreOrder(order.map(\.currentKey), of: relationship, storedAt: isSinceSave ? storedAt : nil)
        case .insertion, .deletion: break
        }
    }

    // MARK: Inverses

    /// A to-one relationship before it was reverted.
    private struct FormerReference {
        let object: any GraphObject
        let relationship: Relationship
        /// The key of the destination; 0 for none.
        let key: Int64
    }

    /// Makes the inverses of a reverted to-one relationship agree with it. Their changes were recorded, unless another
    /// context has set the relationship since, or the destination was not registered.
    private func realign(_ reference: FormerReference) {
        let (object, relationship) = (reference.object, reference.relationship)
        guard let inverse = relationship.inverse else { return }
        let present = object.destinationKey(at: relationship.slot)
        if reference.key != present, let former = registered(reference.key, along: relationship) {
            release(object, from: former, inverse)
        }
        if let destination = registered(present, along: relationship) {
            attach(object, to: destination, along: relationship, inverse)
        }
    }

    /// Makes the inverses of reverted to-one relationships agree with the rows that their objects have taken after the
    /// undo, because another context had set the relationships, too. The store has these members: there is nothing to
    /// record.
    private func realignReloaded(_ references: [FormerReference]) {
        changeTracker.withoutRecording {
            for reference in references where !reference.object.life.hasChanges {
                guard let inverse = reference.relationship.inverse else { continue }
                let key = reference.object.destinationKey(at: reference.relationship.slot)
                guard let destination = registered(key, along: reference.relationship), destination.life.hasChanges
                else { continue }
                attach(reference.object, to: destination, along: reference.relationship, inverse)
                destination.dropVoidChanges(changeTracker)
            }
        }
    }

    /// Removes a member that was restored to a list from the list if its reference leads elsewhere: another context, or
    /// a merge policy, has set the reference since, or has kept it.
    private func settle(_ change: RecordedChange) {
        switch change {
        case .arrival(let member, let owner, let list, _): settle(member.currentKey, in: list, of: owner)
        case .departure(let member, let owner, let list, _): settle(member.currentKey, in: list, of: owner)
        case .insertion, .deletion, .value, .destination, .order: break
        }
    }

    /// Does the same for all members of an object whose deletion was reverted.
    private func settleMembers(of owner: any GraphObject) {
        for relationship in owner.entity.relationships where relationship.isToMany {
            guard relationship.placement == .destinationKey || relationship.sharedInverse != nil,
                let members = owner.state.pointee.changes?.members(at: relationship.slot)
            else { continue }
            for key in Array(members.keys) { settle(key, in: relationship, of: owner) }
        }
    }

    private func settle(_ key: Int64, in relationship: Relationship, of owner: any GraphObject) {
        guard let reference = relationship.inverse ?? relationship.sharedInverse, !reference.isToMany,
            !owner.life.isDeletedOrMissing, let object = registered(key, along: relationship),
            owner.state.pointee.changes?.members(at: relationship.slot)?.contains(key) ?? false,
            object.destinationKey(at: reference.slot) != owner.state.pointee.key
        else { return }
        owner.forgetChange(of: key, in: relationship)
    }

    private func registered(_ key: Int64, along relationship: Relationship) -> (any GraphObject)? {
        guard key != 0, let object = identityMap.destination(forKey: key, of: relationship) else { return nil }
        return object.life.isDeletedOrMissing ? nil : object
    }

    private func release(_ object: any GraphObject, from destination: any GraphObject, _ inverse: Relationship) {
        let key = object.state.pointee.key
        if !inverse.isToMany {
            destination.clearDestination(of: inverse, ifKey: key)
        } else if destination.state.pointee.changes?.members(at: inverse.slot)?.contains(key) ?? false {
            destination.removeMember(key, from: inverse)
        }
    }

    private func attach(
        _ object: any GraphObject,
        to destination: any GraphObject,
        along relationship: Relationship,
        _ inverse: Relationship
    ) {
        let (key, destinationKey) = (object.state.pointee.key, destination.state.pointee.key)
        guard inverse.isToMany else {
            let other = destination.destinationKey(at: inverse.slot)
            guard other != key else { return }
            registered(other, along: inverse)?.clearDestination(of: relationship, ifKey: destinationKey)
            return destination.storeDestination(key, at: inverse.slot)
        }
        guard let members = destination.state.pointee.changes?.members(at: inverse.slot), !members.contains(key),
            members.isLoaded || members.removed.contains(key)
        else { return }
        if object.state.pointee.row?.integer(at: relationship.slot) == destinationKey {
            destination.restoreStoredMember(key, of: inverse)
        } else {
            destination.addMember(key, to: inverse)
        }
    }

    /// Removes objects whose saved deletion was reverted from the members of objects that another writer had parted
    /// from them before their deletion was saved.
    private func part(_ returned: [any GraphObject], _ recorded: RecordedChanges) {
        guard !returned.isEmpty else { return }
        let parted = Set(returned.map { ObjectIdentifier($0) })
        for case .departure(let reference, let owner, let relationship, _) in recorded.changes {
            guard let inverse = relationship.inverse, !owner.life.isDeletedOrMissing,
                let member = registered(reference.currentKey, along: relationship),
                parted.contains(ObjectIdentifier(member)), !member.isRelated(to: owner, along: inverse)
            else { continue }
            owner.removeMember(member.state.pointee.key, from: relationship)
        }
    }

    // MARK: Lost destinations

    /// Whether the destination of a relationship is missing and cannot be restored, so that the relationship must not
    /// lead to it again. It may have been missing when the change was recorded, since the deletion of an object does
    /// not clear one-way relationships to it.
    ///
    /// A destination that cannot be read, such as an object of a locked store, is not lost. The failure is not
    /// recorded: the relationship keeps its key, and a save checks that the destination exists.
    private func isLost(
        _ reference: RecordedReference,
        from object: any GraphObject,
        along relationship: Relationship
    ) -> Bool {
        let key = reference.currentKey
        guard key > 0 else { return false }
        do {
            let destination =
                try identityMap.destination(forKey: key, of: relationship)
                ?? loader.fetchDestination(of: relationship, key: key, from: object)
            guard let destination else { return true }
            return destination.life.isMissing && !destination.life.isRestorable
        } catch {
            return false
        }
    }

    // MARK: Deletions

    /// Restores a deleted object. If its deletion has been saved, it becomes a new object under its previous
    /// identifier, which no other object ever gets.
    private func revertDeletion(
        of object: any GraphObject,
        _ recorded: RecordedChanges,
        _ returned: inout [any GraphObject]
    ) {
        let state = object.state
        if state.pointee.life.isDeleted {
            object.loadMembers()
            changeTracker.deleted.remove(object)
            state.pointee.flags.remove(.deletePropagated)
            object.noteChange()
            changeTracker.recorder?.didInsert(object)
        } else if state.pointee.life.isRestorable {
            object.prepareForReinsertion(currentKey: recorded.currentKey)
            if state.pointee.key > 0 { returned.append(object) }
            state.pointee.flags.remove(.deletePropagated)
            changeTracker.onReturn?(object)
            changeTracker.insert(object)
        } else {
            return
        }
        identityMap.noteDeletion()
        object.notifyObserversOfExistence()
    }

    /// Marks the references to objects whose saved deletion was reverted as changed, since the store has cleared them
    /// without a change in this context: references along one-way relationships, whose owners are found if they are
    /// registered and have their members loaded, references with delete rule `noAction`, and references that another
    /// context has set before the deletion was saved.
    private func relink(_ returned: [any GraphObject]) {
        loader.forEachSource(of: returned) { object, relationship, keys in
            guard relationship.isToMany, relationship.inverse == nil else { return }
            let members = object.state.pointee.changes?.members(at: relationship.slot)
            if members?.readd(keys) ?? false { object.noteChange() }
        }
        // Their rows still contain the keys, so a save would find no difference.
        let cleared = loader.reloadRows(leadingTo: returned)
        for (object, slot, key) in cleared {
            object.ensureChanges()[slot] = .value(.integer(key))
            object.noteChange()
            // Another context may have made the object a member after the deletion.
            guard case .relationship(let relationship) = object.entity.properties[slot],
                let inverse = relationship.inverse, inverse.isToMany,
                let owner = registered(key, along: relationship)
            else { continue }
            attach(object, to: owner, along: relationship, inverse)
        }
    }
}

extension GraphObject {
    /// Restores a member at its position.
    fileprivate func revert(
        _ removal: ToManyMembers.Removal,
        of key: Int64,
        from relationship: Relationship,
        isUnsaved: Bool
    ) {
        let members = members(of: relationship)
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            let isUnsavedPair = isUnsaved && relationship.isStoredAsPairs
            guard members.revert(removal, of: key, isUnsavedPair: isUnsavedPair) else { return }
            recorder?.didAdd(key, to: self, relationship, isRestored: !removal.revertsAddition)
            noteChange()
        }
    }

    /// Drops changes that equal the row, which an undo can cause. An object without other changes becomes unchanged.
    fileprivate func dropVoidChanges(_ changeTracker: ChangeTracker) {
        guard state.pointee.life.isUpdated else { return }
        guard let changes = state.pointee.changes else { return changeTracker.dropUpdate(of: self) }
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
        changeTracker.dropUpdate(of: self)
        if !keepsMembers { state.pointee.changes = nil }
    }
}
