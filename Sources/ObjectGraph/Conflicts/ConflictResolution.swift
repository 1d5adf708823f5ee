/// What one save does about the conflicts that its stores report, as the context's merge policy says.
struct ConflictResolution {
    /// How often a save is tried again; each time somebody else must have changed something meanwhile.
    static let mostAttempts = 16

    let context: ManagedObjectContext
    private(set) var attempts = 0
    /// What the context was before anything was changed for the sake of the policy.
    private var snapshot: ChangesSnapshot?
    private var uniqueness: UniquenessResolution

    init(_ context: ManagedObjectContext) {
        self.context = context
        uniqueness = UniquenessResolution(context)
    }

    /// Changes the context so that the save can be tried again.
    ///
    /// - Throws: ``ObjectGraphError/conflicts(_:)``, ``ObjectGraphError/notUnique(_:)`` or ``ObjectGraphError/validation(_:)``
    ///   if the policy does not allow it, or nothing helps; what the stores throw.
    mutating func resolve(_ conflict: SaveConflict) throws {
        attempts += 1
        if snapshot == nil, context.mergePolicy != .error { snapshot = ChangesSnapshot(context) }
        switch conflict {
        case .outdated(let ids): try resolveOutdated(ids)
        case .missingDestinations(let references): try resolveMissing(references)
        case .remainingReferences(let references): try resolveRemaining(references)
        case .notUnique:
            let wasResolved = try uniqueness.resolve()
            guard wasResolved, attempts < Self.mostAttempts else { throw ObjectGraphError(conflict) }
        }
    }

    /// Undoes what was done: the save has failed.
    func takeBack() { snapshot?.restore(context) }

    /// Forgets what the context was: the changes since then stay.
    mutating func forgetSnapshot() { snapshot = nil }

    /// Ends the resolution: the save has succeeded.
    mutating func finish() {
        // It holds objects, and the resolution has to see whether anybody else does.
        snapshot = nil
        uniqueness.finish()
    }

    // MARK: Outdated objects

    mutating func resolveOutdated(_ ids: [ManagedObjectID]) throws {
        let rows = try persistedRows(of: ids)
        let objects = ids.map { context.knownObject(forKey: $0.key, of: $0.entity) }
        let canMerge = zip(ids, objects).allSatisfy { id, object in
            guard let object, object.hasChanges else { return false }
            let isInsertedAgain = rows[id] == nil && !object.life.isDeleted
            return !(isInsertedAgain && context.mergePolicy == .overwrite) || object.hasAllValues
        }
        guard context.mergePolicy != .error, canMerge, attempts < Self.mostAttempts else {
            // That they are outdated is to stay known.
            takeBack()
            snapshot = nil
            for object in objects { object?.state.pointee.flags.insert(.outdated) }
            throw ObjectGraphError.conflicts(
                zip(ids, objects).map { MergeConflict($0, object: $1, persisted: rows[$0]) }
            )
        }
        var present: [(object: any GraphObject, row: Row)] = []
        for case (let id, let object?) in zip(ids, objects) {
            if let row = rows[id] { present.append((object, row)) } else { settleMissing(object) }
            object.state.pointee.flags.remove(.outdated)
        }
        if !context.mergePolicy.objectWins {
            context.restoreWithCascades(present.map(\.object).filter { $0.life.isDeleted })
        }
        for (object, row) in present { merge(row, into: object) }
        for case let object? in objects where object.isInserted { try dropLostDestinations(of: object) }
    }

    func persistedRows(of ids: [ManagedObjectID]) throws -> [ManagedObjectID: Row] {
        var rows: [ManagedObjectID: Row] = [:]
        for (rootIndex, ids) in Dictionary(grouping: ids, by: \.entity.rootIndex) {
            let root = context.model.entities[rootIndex]
            for row in try context.store(for: root).newValuesForObjects(with: ids, with: context) {
                rows[context.id(entity: context.model.entities[row.entityIndex], key: row.key)] = row
            }
        }
        return rows
    }

    /// Brings an object together with what somebody else made of it.
    private func merge(_ row: Row, into object: any GraphObject) {
        let state = object.state
        let base = state.pointee.row
        switch context.mergePolicy {
        case .error, .mergeByPropertyObjectTrump: break
        case .mergeByPropertyStoreTrump:
            let collides = { (slot: Int) in base?.valueOrNull(at: slot) != row.valueOrNull(at: slot) }
            for relationship in object.entity.relationships
            where !relationship.isToMany && collides(relationship.slot) {
                // The inverses have to follow.
                let keys = [row.integer(at: relationship.slot)]
                object.setDestination(
                    context.objects(with: keys, of: relationship.destination).first,
                    at: relationship.slot
                )
            }
            object.dropChanges(where: collides)
        case .overwrite:
            let changes = object.ensureChanges()
            for slot in 0..<changes.slotCount where changes[slot].isUnset {
                if let base, object.entity.isStoredInRow(slot) { changes[slot] = .value(base.valueOrNull(at: slot)) }
            }
        case .rollback:
            object.takeBackRelationships()
            object.dropChanges { _ in true }
            if state.pointee.life.isUpdated { context.updated.remove(object) }
        }
        if let base { context.unloadMembers(toldBy: base) }
        context.unloadMembers(toldBy: row)
        object.replaceRow(by: row)
    }

    /// Clears those to-one relationships of an object that is inserted again whose destinations were deleted with it.
    private func dropLostDestinations(of object: any GraphObject) throws {
        for relationship in object.entity.relationships where !relationship.isToMany {
            let key = object.destinationKey(at: relationship.slot)
            guard key > 0, !(context.knownObject(forKey: key, of: relationship.destination)?.isInserted ?? false)
            else { continue }
            let id = context.id(entity: relationship.destination, key: key)
            if try persistedRows(of: [id]).isEmpty { object.storeDestination(0, at: relationship.slot) }
        }
    }

    /// Decides about an object that another context or process has deleted: the deletion goes before changes, unless the
    /// policy is to overwrite.
    private func settleMissing(_ object: any GraphObject) {
        let state = object.state
        if state.pointee.life.isDeleted {
            context.deleted.remove(object)
            object.life.markMissing()
        } else if state.pointee.life.isUpdated {
            context.updated.remove(object)
            if context.mergePolicy == .overwrite {
                // Under its own key, which no other object ever gets.
                object.ensureChanges().assignedKey = state.pointee.key
                context.inserted.add(object)
            } else {
                state.pointee.changes = nil
                object.life.markMissing()
            }
        }
        context.deletionStamp &+= 1
    }
}

extension Entity {
    /// Whether the value of a slot stands in the row: that of an attribute or a to-one relationship.
    fileprivate func isStoredInRow(_ slot: Int) -> Bool {
        if case .relationship(let relationship) = properties[slot] { !relationship.isToMany } else { true }
    }
}

extension GraphObject {
    /// Whether all values are here: a large one that was left in the store is gone with its row, and so are those of a fault.
    fileprivate var hasAllValues: Bool {
        guard let row = state.pointee.row else { return false }
        return (0..<row.slotCount).allSatisfy { slot in
            row.tag(at: slot) != .deferredBlob || !(state.pointee.changes?[slot] ?? .unset).isUnset
        }
    }

    /// Drops the changes of those attributes and to-one relationships for which `condition` holds.
    fileprivate func dropChanges(where condition: (Int) -> Bool) {
        guard let changes = state.pointee.changes else { return }
        for slot in 0..<changes.slotCount {
            switch changes[slot] {
            case .value, .composite:
                if condition(slot) { changes[slot] = .unset }
            case .unset, .members, .pending: continue
            }
        }
    }
}
