// The relationships of an object whose deletion or changes are reverted.

extension GraphObject {
    /// Restores the inverses of the object's relationships, which its deletion cleared. A destination that belongs to
    /// another object by now does not change.
    func reestablishInverses() {
        for relationship in entity.relationships {
            guard let inverse = relationship.inverse else { continue }
            for destination in destinations(of: relationship) {
                if destination.accepts(self, along: inverse) {
                    destination.remember(self, along: inverse, isStored: isStored(destination, along: relationship))
                } else {
                    forget(destination, along: relationship)
                }
            }
            for destination in lastDestinations(of: relationship) where destination.isObjectDeleted {
                part(from: destination, along: relationship, inverse)
            }
        }
    }

    /// Applies the effects of deleting only the destination to a relationship, if the destination was deleted together
    /// with the object and stays deleted: the destination keeps the object, and its delete rule decides whether the
    /// object keeps the destination.
    private func part(from destination: any GraphObject, along relationship: Relationship, _ inverse: Relationship) {
        if destination.accepts(self, along: inverse) { destination.remember(self, along: inverse, isStored: false) }
        lose(destination, along: relationship, by: inverse.deleteRule)
    }

    /// Whether `other` can be added to a relationship of this object without replacing another object.
    private func accepts(_ other: any GraphObject, along relationship: Relationship) -> Bool {
        if relationship.isToMany { return true }
        let current = destination(at: relationship.slot)
        return current == nil || current === other
    }

    /// Whether the store relates the object to a destination, unless another writer has parted them: the object is not
    /// new, and the relationship has no unsaved change to the destination.
    private func isStored(_ destination: any GraphObject, along relationship: Relationship) -> Bool {
        guard !life.isInserted else { return false }
        guard relationship.isToMany else { return state.pointee.changes?[relationship.slot].isUnset ?? true }
        return !members(of: relationship).isAdded(destination.state.pointee.key)
    }

    /// Adds `other` to a relationship of this object.
    ///
    /// - Parameter isStored: Whether the store relates both objects.
    private func remember(_ other: any GraphObject, along relationship: Relationship, isStored: Bool) {
        if relationship.isToMany {
            let key = other.state.pointee.key
            // An ordered relationship gets the object as a new last member.
            if isStored, !relationship.isOrdered, !life.isDeletedOrMissing {
                return restoreStoredMember(key, of: relationship)
            }
            addMember(key, to: relationship)
            // The store no longer has the member, so that reading the members again would drop it.
            if !life.isDeletedOrMissing, members(of: relationship).readd([key]) { noteChange() }
        } else if destinationKey(at: relationship.slot) != other.state.pointee.key {
            storeDestination(other.state.pointee.key, at: relationship.slot)
        }
    }

    /// Prepares a missing object for being inserted again: all its values and members are new.
    ///
    /// - Parameter currentKey: Returns the current key of a related object for its earlier key.
    func prepareForReinsertion(currentKey: (Int64) -> Int64 = { $0 }) {
        let changes = ensureChanges()
        if state.pointee.key > 0 { changes.assignedKey = state.pointee.key }
        for relationship in entity.relationships {
            let slot = relationship.slot
            switch changes[slot] {
            case .members(let members): changes[slot] = .members(ToManyMembers(new: members.keys.map(currentKey)))
            case .value(.integer(let key)): changes[slot] = .value(.integer(currentKey(key)))
            case .unset where relationship.isToMany: changes[slot] = .members(ToManyMembers(new: []))
            case .unset:
                // The destination may have been deleted as well, and only changes are checked for that.
                let key = destinationKey(at: slot)
                if key != 0 { changes[slot] = .value(.integer(key)) }
            case .value, .composite, .pending: break
            }
        }
    }

    /// Restores a member that the store has, or had when the member was read: it is no change.
    func restoreStoredMember(_ key: Int64, of relationship: Relationship) {
        let members = members(of: relationship)
        guard !members.contains(key), members.isLoaded || members.removed.contains(key) else { return }
        recorder?.willChangeOrder(of: self, relationship, members)
        changing(relationship.slot) {
            members.restoreStored(key)
            recorder?.didAdd(key, to: self, relationship, isRestored: false)
            noteChange()
        }
    }

    /// Sets the object's changed relationships, and their inverses, to the stored destinations and members, except for
    /// relationships that the members' rows contain.
    ///
    /// - Parameter stored: The stored row, if it differs from the known row.
    func revertRelationships(to stored: Row? = nil) {
        guard let changes = state.pointee.changes, let loader = state.pointee.handler?.context?.loader else { return }
        let row = stored ?? state.pointee.row
        for relationship in entity.relationships {
            switch (changes[relationship.slot], relationship.placement) {
            case (.value, .sourceKey):
                let key = row?.integer(at: relationship.slot) ?? 0
                setDestination(
                    loader.objects(with: [key], of: relationship.destination).first,
                    at: relationship.slot
                )
            case (.members(let members), .joinTable) where members.isChanged:
                let kept = memberObjects(at: relationship.slot).filter { !members.isAdded($0.state.pointee.key) }
                setMembers(
                    kept + loader.objects(with: members.removed, of: relationship.destination),
                    at: relationship.slot
                )
            default: break
            }
        }
    }
}
