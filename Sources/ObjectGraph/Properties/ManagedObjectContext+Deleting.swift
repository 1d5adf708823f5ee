extension ManagedObjectContext {
    /// Deletes an object with the next save. Its delete rules are applied before the context is next asked for anything,
    /// at the latest by the save. An object that is in no context, or was deleted before, is left as it is.
    ///
    /// - Precondition: The object is in no other context.
    public func delete(_ object: any GraphObject) {
        guard let handler = object.state.pointee.handler, let context = handler.context else { return }
        precondition(context === self, "the object belongs to another context: delete it there")
        object.state.pointee.flags.remove(.deletedByCascade)
        guard !object.life.isGone else { return }
        if handler.hasLifecycle {
            object.withLifecycle?.prepareForDeletion()
            // It may have deleted the object, or brought it about.
            guard !object.life.isGone else { return }
        }
        markDeleted(object)
    }

    /// Takes note of a deletion, of which the object has been told.
    func markDeleted(_ object: any GraphObject) {
        guard !object.life.isGone else { return }
        object.state.pointee.flags.remove(.deletedByCascade)
        if let recorder {
            // An undo after the next save needs the values.
            object.fireFault()
            guard !object.life.isMissing else { return }
            object.keepDeferredValues()
            recorder.willDelete(object)
        }
        if object.life.isInserted {
            // Never saved: nothing to delete in the store.
            inserted.discard(object)
        } else {
            announceChange()
            if object.life.isUpdated { updated.remove(object) }
            deleted.add(object)
        }
        deletionStamp &+= 1
        unpropagatedDeletes.append(object)
        if hasObservedObjects { propagateDeletes() }
    }

    /// Takes in what other contexts saved, applies the delete rules of what was deleted here, and registers the changes
    /// since the last time with the ``undoManager``, as one operation. Every fetch and save begins with it.
    public func processPendingChanges() {
        takeInSavedChanges()
        propagateDeletes()
        registerUndo()
    }

    /// Takes back deletions that have not been saved.
    func restore(_ objects: [any GraphObject]) {
        for object in objects {
            deleted.remove(object)
            deletionStamp &+= 1
            object.state.pointee.flags.subtract([.deletePropagated, .deletedByCascade])
            recorder?.didInsert(object)
            markUpdated(object)
        }
        // Only now, so that those that come back together find each other in their places.
        for object in objects { object.reestablishInverses() }
    }

    /// Deletes objects, with or without those that the delete rules take along.
    func delete(_ objects: [any GraphObject], cascading: Bool) {
        propagateDeletes()
        isPropagatingDeletes = true
        for object in objects { markDeleted(object) }
        isPropagatingDeletes = false
        propagateDeletes(cascading: cascading)
    }

    /// Applies the delete rules of the objects that were deleted since the last time, those of the objects that are
    /// deleted on the way included.
    func propagateDeletes(cascading: Bool = true) {
        guard !unpropagatedDeletes.isEmpty, !isPropagatingDeletes else { return }
        isPropagatingDeletes = true
        defer { isPropagatingDeletes = false }
        while let object = unpropagatedDeletes.popLast() {
            // Some have been restored since.
            let state = object.state
            guard state.pointee.life.isGone,
                !state.pointee.flags.contains(.deletePropagated)
            else { continue }
            state.pointee.flags.insert(.deletePropagated)
            // Held, since the objects on the way may do anything; its relationships are with it.
            guard let handler = state.pointee.handler else { continue }
            for position in handler.relationships.indices {
                handler.relationships.borrowed(at: position)._withUnsafeGuaranteedRef {
                    propagateDelete(of: object, along: $0, cascading: cascading)
                }
            }
            withExtendedLifetime(handler) {}
        }
    }

    private func propagateDelete(of object: any GraphObject, along relationship: Relationship, cascading: Bool) {
        let cascades = cascading && relationship.deleteRule == .cascade
        if relationship.isToMany {
            for member in object.memberObjects(at: relationship.slot) {
                if cascades { cascade(to: member) }
                takeOut(object, of: member, along: relationship)
            }
        } else if let destination = object.destination(at: relationship.slot) {
            if cascades { cascade(to: destination) }
            takeOut(object, of: destination, along: relationship)
        }
    }

    /// Deletes an object along a delete rule.
    private func cascade(to object: any GraphObject) {
        guard !object.life.isGone else { return }
        delete(object)
        object.state.pointee.flags.insert(.deletedByCascade)
    }

    /// Takes a deleted object out of the inverse of its relationship, on the side of an object that stays.
    private func takeOut(_ deleted: any GraphObject, of object: any GraphObject, along relationship: Relationship) {
        guard !object.life.isGone, let inverse = relationship.inverse
        else { return }
        object.lose(deleted, along: inverse, by: relationship.deleteRule)
    }

    /// Takes back unsaved deletions, and those that followed from them.
    func restoreWithCascades(_ objects: [any GraphObject]) {
        guard !objects.isEmpty else { return }
        propagateDeletes()
        let returning = Set(objects.map { ObjectIdentifier($0) })
        // What the program itself deleted stays so, with all that goes with it, and so does what went with objects that are
        // not in the store any more.
        var doomed: Set<ObjectIdentifier> = []
        var rest = deleted.entries.map(\.object).filter { object in
            object.life.isMissing
                || object.life.isDeleted && !object.state.pointee.flags.contains(.deletedByCascade)
        }
        while let object = rest.popLast() {
            guard !returning.contains(ObjectIdentifier(object)), doomed.insert(ObjectIdentifier(object)).inserted
            else { continue }
            for relationship in object.entity.relationships where relationship.deleteRule == .cascade {
                rest += object.lastDestinations(of: relationship)
            }
        }
        restore(deleted.objects.filter { !doomed.contains(ObjectIdentifier($0)) })
    }

    /// What keeps deleted objects from being deleted.
    func deniedDeletions() -> [ObjectGraphError.ValidationProblem] {
        guard deleted.count > 0, model.relationships.contains(where: { $0.deleteRule == .deny }) else { return [] }
        return deleted.objects.flatMap { object in
            object.entity.relationships.lazy
                .filter { $0.deleteRule == .deny }
                .filter { relationship in
                    object.destinations(of: relationship).contains {
                        !$0.life.isGone
                    }
                }
                .map { relationship in
                    ObjectGraphError.ValidationProblem(
                        id: object.managedObjectID,
                        property: relationship.name,
                        reason: .deletionDenied
                    )
                }
        }
    }
}

extension GraphObject {
    /// Takes a deleted object out of the own side of a relationship, as the delete rule of the other side says.
    func lose(
        _ deleted: any GraphObject,
        along relationship: Relationship,
        by rule: RelationshipDescription.DeleteRule
    ) {
        // A list of members is told by the deleted object's own row, so the object leaves it under every rule; the own key
        // is changed only where the rule says so.
        let key = deleted.state.pointee.key
        if relationship.isToMany {
            removeMember(key, from: relationship)
        } else if rule == .nullify {
            clearDestination(of: relationship, ifKey: key)
        } else if let recorder, destinationKey(at: relationship.slot) == key {
            // The key stays, but the next save clears it in the store.
            recorder.willSetDestination(of: self, at: relationship.slot)
        }
    }
}
