/// Deletes objects of a context and applies their delete rules.
///
/// The rules of a deleted object are applied when a program next reads relationships or changes, at the latest by the
/// save: if many related objects are deleted, each rule is applied once.
final class DeletePropagation {
    let changeTracker: ChangeTracker
    /// Whether delete rules are applied directly after each deletion, so that observers are notified at once.
    var runsAtOnce = false
    @exclusivity(unchecked) private(set) var isRunning = false

    private var model: ManagedObjectModel { changeTracker.identityMap.model }

    init(_ changeTracker: ChangeTracker) {
        self.changeTracker = changeTracker
    }

    // MARK: Deleting

    /// Deletes an object for the program or along a delete rule, unless it is already deleted.
    func delete(_ object: any GraphObject) {
        object.state.pointee.flags.remove(.deletedByCascade)
        guard !object.life.isDeletedOrMissing else { return }
        // The method may delete the object itself, which `markDeleted` checks.
        object.withLifecycle?.prepareForDeletion()
        markDeleted(object)
    }

    /// Lists an object as deleted, without calling its `prepareForDeletion()`.
    func markDeleted(_ object: any GraphObject) {
        guard !object.life.isDeletedOrMissing else { return }
        object.state.pointee.flags.remove(.deletedByCascade)
        if let recorder = changeTracker.recorder {
            // An undo after the next save needs the values.
            object.fireFault()
            guard !object.life.isMissing else { return }
            object.keepDeferredValues()
            recorder.willDelete(object)
        }
        changeTracker.delete(object)
        if runsAtOnce { run() }
    }

    /// Deletes objects, with or without applying the cascade rules.
    func delete(_ objects: [any GraphObject], cascading: Bool) {
        run()
        suspending { for object in objects { markDeleted(object) } }
        run(cascading: cascading)
    }

    // MARK: Delete rules

    /// The lists of changes with the effects of all delete rules: whatever shows changes to the program, or writes them,
    /// reads them here.
    var settledChanges: ChangeTracker {
        run()
        return changeTracker
    }

    /// Applies the delete rules of the objects that were deleted since the last call, and of the objects that these
    /// rules delete.
    @inline(__always)
    func run(cascading: Bool = true) {
        if changeTracker.unpropagatedDeletes.isEmpty || isRunning { return }
        propagate(cascading: cascading)
    }

    private func propagate(cascading: Bool) {
        suspending {
            while let object = changeTracker.unpropagatedDeletes.popLast() {
                // Some objects have been restored since they were listed.
                let state = object.state
                guard state.pointee.life.isDeletedOrMissing,
                    !state.pointee.flags.contains(.deletePropagated)
                else { continue }
                state.pointee.flags.insert(.deletePropagated)
                // Retained, since code of the program runs in the loop; the handler owns the relationships.
                guard let handler = state.pointee.handler else { continue }
                for position in handler.relationships.indices {
                    handler.relationships.borrowed(at: position)._withUnsafeGuaranteedRef {
                        propagateDelete(of: object, along: $0, cascading: cascading)
                    }
                }
                withExtendedLifetime(handler) {}
            }
        }
    }

    /// Calls `body`, during which no delete rules are applied.
    func suspending(_ body: () -> Void) {
        isRunning = true
        defer { isRunning = false }
        body()
    }

    private func propagateDelete(of object: any GraphObject, along relationship: Relationship, cascading: Bool) {
        let cascades = cascading && relationship.deleteRule == .cascade
        if relationship.isToMany {
            for member in object.memberObjects(at: relationship.slot) {
                if cascades { cascade(to: member, of: object, along: relationship) }
                remove(object, from: member, along: relationship)
            }
        } else if let destination = object.destination(at: relationship.slot) {
            if cascades { cascade(to: destination, of: object, along: relationship) }
            remove(object, from: destination, along: relationship)
        }
    }

    /// Deletes an object along a delete rule of its owner, unless it has left the owner in this context.
    private func cascade(to object: any GraphObject, of owner: any GraphObject, along relationship: Relationship) {
        guard !object.life.isDeletedOrMissing else { return }
        if let inverse = relationship.inverse, object.hasLeft(owner, along: inverse) { return }
        delete(object)
        object.state.pointee.flags.insert(.deletedByCascade)
    }

    /// Removes a deleted object from the relationship of a remaining object.
    private func remove(_ deleted: any GraphObject, from object: any GraphObject, along relationship: Relationship) {
        guard !object.life.isDeletedOrMissing, let inverse = relationship.inverse
        else { return }
        object.lose(deleted, along: inverse, by: relationship.deleteRule)
    }

    /// The deleted objects whose delete rule `deny` forbids the deletion, as problems.
    func deniedDeletions() -> [ObjectGraphError.ValidationProblem] {
        guard changeTracker.deleted.count > 0, model.relationships.contains(where: { $0.deleteRule == .deny }) else {
            return []
        }
        return changeTracker.deleted.objects.flatMap { object in
            object.entity.relationships.lazy
                .filter { $0.deleteRule == .deny }
                .filter { relationship in
                    object.destinations(of: relationship).contains {
                        !$0.state.pointee.life.isDeletedOrMissing
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

    // MARK: Restoring

    /// Reverts deletions that have not been saved.
    func restore(_ objects: [any GraphObject]) {
        // Loaded while the delete rules count as applied: the rules have cleared the references of the members.
        for object in objects { object.loadMembers() }
        for object in objects { changeTracker.undelete(object) }
        // After the loop, so that objects that are restored together find each other present.
        for object in objects { object.reestablishInverses() }
    }

    /// Reverts unsaved deletions, and the deletions that followed from them.
    ///
    /// - Returns: the restored objects.
    func restoreWithCascades(_ objects: [any GraphObject]) -> [any GraphObject] {
        guard !objects.isEmpty else { return [] }
        run()
        let returning = Set(objects.map { ObjectIdentifier($0) })
        // Objects that the program itself deleted remain deleted, together with the objects that their rules delete.
        // The same holds for objects deleted by the rules of objects that the store no longer has.
        var doomed: Set<ObjectIdentifier> = []
        var rest = changeTracker.deleted.entries.map(\.object).filter { object in
            object.life.isMissing || object.life.isDeleted && !object.state.pointee.flags.contains(.deletedByCascade)
        }
        while let object = rest.popLast() {
            guard !returning.contains(ObjectIdentifier(object)), doomed.insert(ObjectIdentifier(object)).inserted
            else { continue }
            for relationship in object.entity.relationships where relationship.deleteRule == .cascade {
                rest += object.lastDestinations(of: relationship)
            }
        }
        let restored = changeTracker.deleted.objects.filter { !doomed.contains(ObjectIdentifier($0)) }
        restore(restored)
        return restored
    }

    /// Applies the delete rules of a deleted object again, to the current members in the store.
    func repeatRules(of object: any GraphObject) {
        object.state.pointee.flags.remove(.deletePropagated)
        changeTracker.unpropagatedDeletes.append(object)
    }
}

extension GraphObject {
    /// Removes a deleted object from a relationship of this object, according to the delete rule of the inverse.
    func lose(
        _ deleted: any GraphObject,
        along relationship: Relationship,
        by rule: RelationshipDescription.DeleteRule
    ) {
        // The membership in a list is stored in the row of the deleted object, so the object leaves the list under
        // every rule; the key of this object changes only if the rule demands it.
        let key = deleted.state.pointee.key
        if relationship.isToMany {
            removeMember(key, from: relationship)
        } else if rule == .nullify {
            clearDestination(of: relationship, ifKey: key)
        } else if let recorder, destinationKey(at: relationship.slot) == key {
            // The key does not change, but the next save clears it in the store.
            recorder.willSetDestination(of: self, at: relationship.slot)
        }
    }
}
