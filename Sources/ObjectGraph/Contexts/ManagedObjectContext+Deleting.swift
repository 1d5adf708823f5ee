extension ManagedObjectContext {
    /// Deletes an object with the next save. Its delete rules are applied before the context is next asked for anything,
    /// at the latest by the save. An object that is in no context, or was deleted before, is left as it is.
    ///
    /// - Precondition: The object is in no other context.
    public func delete(_ object: any GraphObject) {
        guard let handler = object._$state.handler, let context = handler.context else { return }
        precondition(context === self, "the object belongs to another context: delete it there")
        guard object._$state.flags.isDisjoint(with: [.deleted, .vanished]) else { return }
        if object._$state.flags.contains(.inserted) {
            object._$state.flags.remove(.inserted)
            insertedCount -= 1
            // Never saved: nothing to delete in the store.
            object._$state.flags.insert(.vanished)
        } else {
            if object._$state.flags.contains(.updated) {
                object._$state.flags.remove(.updated)
                updatedCount -= 1
            }
            object._$state.flags.insert(.deleted)
            deletedCount += 1
            if !object._$state.flags.contains(.listedAsDeleted) {
                object._$state.flags.insert(.listedAsDeleted)
                deletedList.append(object)
            }
        }
        unpropagatedDeletes.append(object)
    }

    /// Takes in what other contexts saved, and applies the delete rules of what was deleted here.
    public func processPendingChanges() {
        takeInSavedChanges()
        propagateDeletes()
    }

    /// Takes back a deletion that has not been saved.
    func restore(_ object: any GraphObject) {
        object._$state.flags.subtract([.deleted, .deletePropagated])
        deletedCount -= 1
        markUpdated(object)
        object.reestablishInverses()
    }

    /// Applies the delete rules of the objects that were deleted since the last time, those of the objects that are
    /// deleted on the way included.
    func propagateDeletes() {
        guard !unpropagatedDeletes.isEmpty, !isPropagatingDeletes else { return }
        isPropagatingDeletes = true
        defer { isPropagatingDeletes = false }
        while let object = unpropagatedDeletes.popLast() {
            // Some have been restored since.
            guard object.isObjectDeleted, !object._$state.flags.contains(.deletePropagated) else { continue }
            object._$state.flags.insert(.deletePropagated)
            for relationship in object.entity.relationships {
                propagateDelete(of: object, along: relationship)
            }
        }
    }

    private func propagateDelete(of object: any GraphObject, along relationship: Relationship) {
        let destinations = object.destinations(of: relationship)
        switch relationship.deleteRule {
        case .cascade:
            for destination in destinations { delete(destination) }
        case .nullify, .noAction, .deny:
            break
        }
        guard let inverse = relationship.inverse else { return }
        for destination in destinations where destination._$state.flags.isDisjoint(with: [.deleted, .vanished]) {
            // A list of members is told by the deleted object's own row, so the object leaves it under every rule; the
            // destination's own key is changed only where the rule says so.
            if inverse.isToMany {
                destination.removeMember(object._$state.key, from: inverse)
            } else if relationship.deleteRule == .nullify {
                destination.clearDestination(of: inverse, ifKey: object._$state.key)
            }
        }
    }

    /// What keeps deleted objects from being deleted.
    func deniedDeletions() -> [ObjectGraphError.ValidationProblem] {
        deletedList.filter { $0._$state.flags.contains(.deleted) }.flatMap { object in
            object.entity.relationships.lazy
                .filter { $0.deleteRule == .deny }
                .filter { relationship in
                    object.destinations(of: relationship).contains {
                        $0._$state.flags.isDisjoint(with: [.deleted, .vanished])
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
