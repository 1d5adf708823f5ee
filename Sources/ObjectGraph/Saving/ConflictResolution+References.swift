// References to missing objects, and references that prevent objects from being deleted.

extension ConflictResolution {
    // MARK: References to missing objects

    /// Drops references to objects that another context or process has deleted. A destination that was changed in this
    /// context is a separate conflict.
    mutating func resolveMissing(_ references: [WrittenReference]) throws {
        let changed = Set(references.map(\.destination)).filter { id in
            identityMap.object(forKey: id.key, of: id.entity)?.hasChangedValues ?? false
        }
        let dangling = references.filter { !changed.contains($0.destination) }
        for reference in dangling {
            let id = reference.destination
            if let destination = identityMap.object(forKey: id.key, of: id.entity) { forget(destination) }
        }
        let required = dangling.filter { !$0.relationship.isToMany && !$0.relationship.isOptional }
        let unresolved = mergePolicy == .error || attempts >= Self.maximumAttempts ? dangling : required
        let inserted = dangling.isEmpty ? [:] : insertedObjects
        let source = { [identityMap] (reference: WrittenReference) in
            let id = reference.source
            return inserted[id] ?? identityMap.object(forKey: id.key, of: id.entity)
        }
        guard unresolved.isEmpty else {
            throw ObjectGraphError.validation(
                unresolved.map { reference in
                    let id = source(reference)?.managedObjectID ?? reference.source
                    return .init(id: id, property: reference.relationship.name, reason: .missingDestination)
                }
            )
        }
        for reference in dangling { source(reference)?.drop(reference) }
        if !changed.isEmpty { try resolveOutdated(changed.sorted { $0.key < $1.key }) }
    }

    /// Marks an object as missing whose changed relationships are only in the rows of other objects.
    private func forget(_ object: any GraphObject) {
        changeTracker.unlistUpdate(of: object)
        object.state.pointee.flags.remove(.outdated)
        identityMap.markMissing(object)
    }

    /// The new objects by the identifiers under which the save inserts them.
    private var insertedObjects: [ManagedObjectID: any GraphObject] {
        var objects: [ManagedObjectID: any GraphObject] = [:]
        for object in changeTracker.inserted.objects {
            objects[identityMap.id(entity: object.entity, key: object.assignedKey)] = object
        }
        return objects
    }

    // MARK: References that prevent deletions

    /// Reverts deletions, or applies their delete rules to the current members in the store.
    mutating func resolveRemaining(_ references: [RemainingReference]) throws {
        let objects = references.map { identityMap.object(forKey: $0.deleted.key, of: $0.deleted.entity) }
        let isResolvable = mergePolicy != .error && attempts < Self.maximumAttempts
        if isResolvable, !mergePolicy.objectWins {
            return restore(objects.compactMap(\.self))
        }
        // Without an inverse, there are no members to reload.
        let problems = references.filter { !isResolvable || $0.rule?.deleteRule ?? .noAction == .noAction }
            .compactMap(\.problem)
        if isResolvable, problems.isEmpty { return applyRulesAgain(references, objects) }
        let conflicts = try mergeConflicts(references, objects)
        revert()
        forgetSnapshot()
        for case (let reference, let object?) in zip(references, objects) {
            // A repeated deletion must find the current members in the store.
            if let rule = reference.rule, rule.isToMany { object.unloadMembers(of: rule) }
        }
        if !problems.isEmpty {
            throw ObjectGraphError.validation(Array(Set(problems)).sorted { $0.id.key < $1.id.key })
        }
        throw ObjectGraphError.conflicts(conflicts)
    }

    private func mergeConflicts(
        _ references: [RemainingReference],
        _ objects: [(any GraphObject)?]
    ) throws -> [MergeConflict] {
        let rows = try persistedRows(of: Array(Set(references.map(\.deleted))))
        var seen: Set<ManagedObjectID> = []
        return zip(references, objects).filter { seen.insert($0.0.deleted).inserted }.map { reference, object in
            MergeConflict(reference.deleted, object: object, persisted: rows[reference.deleted])
        }
    }

    /// Applies the delete rules of deleted objects to the current members in the store.
    private func applyRulesAgain(_ references: [RemainingReference], _ objects: [(any GraphObject)?]) {
        var seen: Set<ObjectIdentifier> = []
        for case (let reference, let object?) in zip(references, objects) {
            if let rule = reference.rule, rule.isToMany { object.unloadMembers(of: rule) }
            guard seen.insert(ObjectIdentifier(object)).inserted else { continue }
            deletePropagation.repeatRules(of: object)
        }
        deletePropagation.run()
    }
}

extension GraphObject {
    /// Whether the row of the object changes. The members of a to-many relationship are in other rows.
    fileprivate var hasChangedValues: Bool {
        guard state.pointee.life.isUpdated, let changes = state.pointee.changes else { return false }
        return (0..<changes.slotCount).contains { slot in
            switch changes[slot] {
            case .value, .composite: true
            case .unset, .members, .pending: false
            }
        }
    }

    /// Removes a missing object from a relationship.
    fileprivate func drop(_ reference: WrittenReference) {
        let relationship = reference.relationship
        if relationship.isToMany {
            removeMember(reference.destination.key, from: relationship)
        } else {
            clearDestination(of: relationship, ifKey: reference.destination.key)
        }
    }
}
