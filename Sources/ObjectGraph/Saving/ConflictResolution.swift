/// Resolves the conflicts that the stores of one save report, according to the context's merge policy.
struct ConflictResolution {
    /// The maximum number of repetitions of a save. Each repetition requires a concurrent change by another writer.
    static let maximumAttempts = 16

    let mergePolicy: MergePolicy
    let loader: ObjectLoader
    let changeTracker: ChangeTracker
    let deletePropagation: DeletePropagation
    var identityMap: IdentityMap { loader.identityMap }
    private(set) var attempts = 0
    /// The changes of other writers that objects have taken.
    private(set) var merged = Commit(.others)
    /// The changes of the context before the resolution changed anything.
    private var snapshot: ChangesSnapshot?
    private var uniqueness: UniquenessResolution
    /// The objects whose changes the policy has dropped.
    private var rolledBack: [any GraphObject] = []
    /// The objects in conflict, and their rows before the resolution.
    private var settled: [(object: any GraphObject, rows: [Row])] = []
    /// The objects that the next attempt inserts again, since another writer has deleted them.
    private var insertedAgain: Set<ManagedObjectID> = []

    init(_ mergePolicy: MergePolicy, _ loader: ObjectLoader, _ deletePropagation: DeletePropagation) {
        self.mergePolicy = mergePolicy
        self.loader = loader
        self.deletePropagation = deletePropagation
        changeTracker = deletePropagation.changeTracker
        uniqueness = UniquenessResolution(mergePolicy, loader, deletePropagation)
    }

    /// Changes the context so that the save can be repeated.
    ///
    /// - Throws: ``ObjectGraphError/conflicts(_:)``, ``ObjectGraphError/notUnique(_:)`` or
    ///   ``ObjectGraphError/validation(_:)`` if the policy does not resolve the conflict; errors of the stores.
    mutating func resolve(_ conflict: SaveConflict) throws {
        attempts += 1
        if snapshot == nil, mergePolicy != .error { snapshot = ChangesSnapshot(changeTracker) }
        switch conflict {
        case .outdated(let ids):
            if attempts < Self.maximumAttempts, !insertedAgain.isDisjoint(with: ids) { return startAgain() }
            try resolveOutdated(ids)
        case .lostDestinations(let references):
            // No policy can resolve the conflict.
            guard mergePolicy == .error else { throw ObjectGraphError(conflict) }
            try resolveOutdated(references.map(\.source))
        case .missingDestinations(let references): try resolveMissing(references)
        case .remainingReferences(let references): try resolveRemaining(references)
        // The limits hold regardless of the policy.
        case .memberCounts: throw ObjectGraphError(conflict)
        case .notUnique:
            let wasResolved = try uniqueness.resolve()
            guard wasResolved, attempts < Self.maximumAttempts else { throw ObjectGraphError(conflict) }
        }
    }

    /// Reverts the resolution, after another writer has inserted a deleted object again as well: the next attempt finds
    /// its row.
    private mutating func startAgain() {
        revert()
        forgetSnapshot()
        insertedAgain = []
        uniqueness = UniquenessResolution(mergePolicy, loader, deletePropagation)
    }

    /// Reverts the resolution after the save has failed.
    mutating func revert() {
        snapshot?.restore(changeTracker)
        merged = Commit(.others)
        rolledBack = []
        settled = []
    }

    /// Drops the snapshot: the changes since then can no longer be reverted.
    mutating func forgetSnapshot() { snapshot = nil }

    /// Ends the resolution after the save has succeeded.
    mutating func finish() {
        // The snapshot retains objects, and the resolution checks whether they have other references.
        snapshot = nil
        // The save has written members that joined or left the objects in rows of their own.
        for object in rolledBack where !object.life.hasChanges { object.forgetMembers() }
        rolledBack = []
        for (object, rows) in settled { unloadMembers(of: object, rows) }
        settled = []
        uniqueness.finish()
    }

    // MARK: Outdated objects

    mutating func resolveOutdated(_ ids: [ManagedObjectID]) throws {
        let rows = try persistedRows(of: ids)
        let objects = ids.map { identityMap.object(forKey: $0.key, of: $0.entity) }
        let canMerge = zip(ids, objects).allSatisfy { id, object in
            // Nothing can be merged into an object that both an undo in this context and another writer have inserted
            // again.
            guard let object, object.hasChanges,
                rows[id] == nil || !object.isInserted
            else { return false }
            let isInsertedAgain = rows[id] == nil && !object.life.isDeleted
            return !(isInsertedAgain && mergePolicy == .overwrite) || object.hasAllValues
        }
        guard mergePolicy != .error, canMerge, attempts < Self.maximumAttempts else {
            // The objects stay outdated.
            revert()
            snapshot = nil
            for object in objects { object?.state.pointee.flags.insert(.outdated) }
            throw ObjectGraphError.conflicts(
                zip(ids, objects).map { MergeConflict($0, object: $1, persisted: rows[$0]) }
            )
        }
        var present: [(object: any GraphObject, row: Row)] = []
        for case (let id, let object?) in zip(ids, objects) {
            settled.append((object, [object.lastRow, rows[id]].compactMap(\.self)))
            if let row = rows[id] { present.append((object, row)) } else { resolveRemoteDeletion(of: object, id) }
            merged.add(Commit.Change(rows[id] == nil ? .deleted : .updated), of: id.key, entity: id.entity)
            object.state.pointee.flags.remove(.outdated)
        }
        if !mergePolicy.objectWins {
            restore(present.map(\.object))
        }
        for (object, row) in present { merge(row, into: object) }
        for (object, row) in present { alignOneToOnes(of: object, with: row) }
        let returned = objects.compactMap(\.self).filter(\.isInserted)
        for object in returned { try dropLostDestinations(of: object) }
        for object in returned { reestablishRelationships(of: object) }
        if !returned.isEmpty { loader.unloadMembers(ofSourcesOf: returned) }
    }

    /// Reverts the deletions of objects, and the deletions that followed from them. The lists of their owners get the
    /// members that the store has.
    func restore(_ objects: [any GraphObject]) {
        for object in deletePropagation.restoreWithCascades(objects.filter { $0.state.pointee.life.isDeleted }) {
            if let row = object.lastRow { settle(object, ownersIn: [row]) }
            settleRemovedMembers(of: object)
        }
    }

    /// Lets the store decide whether members whose references lead to an object are in its lists, after its deletion
    /// was reverted.
    private func settleRemovedMembers(of owner: any GraphObject) {
        for relationship in owner.entity.relationships where relationship.placement == .destinationKey {
            guard let inverse = relationship.inverse,
                let members = owner.state.pointee.changes?.members(at: relationship.slot)
            else { continue }
            for key in members.removed {
                let member = identityMap.object(forKey: key, of: relationship.destination)
                guard member?.destinationKey(at: inverse.slot) == owner.state.pointee.key else { continue }
                owner.forgetChange(of: key, in: relationship)
            }
        }
    }

    /// Lets the store decide of which lists an object is a member, along its unchanged to-one relationships.
    private func settle(_ object: any GraphObject, ownersIn rows: [Row], former: [Int: Int64] = [:]) {
        for relationship in object.entity.relationships where !relationship.isToMany {
            let slot = relationship.slot
            guard object.state.pointee.changes?[slot].isUnset ?? true else { continue }
            for list in relationship.lists {
                for key in Set(rows.map { $0.integer(at: slot) } + [former[slot] ?? 0]) where key != 0 {
                    identityMap.object(forKey: key, of: relationship.destination)?
                        .forgetChange(of: object.state.pointee.key, in: list)
                }
            }
        }
    }

    /// Makes the relationships of an object that is inserted again agree with their inverses: its own row decides of
    /// which lists it is a member, and the rows of its members decide whether they belong to it. It does not take the
    /// partner of another object.
    private func reestablishRelationships(of object: any GraphObject) {
        for relationship in object.entity.relationships where relationship.placement == .destinationKey {
            guard let inverse = relationship.inverse else { continue }
            let key = object.state.pointee.key
            let members = loader.objects(with: object.members(of: relationship).keys, of: relationship.destination)
                .filter { $0.destinationKey(at: inverse.slot) == key }
            object.ensureChanges()[relationship.slot] = .members(
                ToManyMembers(new: members.map { $0.state.pointee.key })
            )
        }
        object.reestablishInverses()
    }

    /// Unloads the to-many relationships of an object, and the to-many relationships of which it is or was a member.
    private func unloadMembers(of object: any GraphObject, _ rows: [Row]) {
        for row in rows + [object.lastRow].compactMap(\.self) { loader.unloadMembers(namedBy: row) }
        for relationship in object.entity.relationships where relationship.isToMany {
            if let inverse = relationship.inverse, inverse.isToMany {
                let keys = object.state.pointee.changes?.members(at: relationship.slot)?.keys ?? KeyList()
                for key in keys { loader.unloadMembers(of: inverse, owner: key) }
            }
            object.unloadMembers(of: relationship)
        }
    }

    func persistedRows(of ids: [ManagedObjectID]) throws -> [ManagedObjectID: Row] {
        var rows: [ManagedObjectID: Row] = [:]
        for (rootIndex, ids) in Dictionary(grouping: ids, by: \.entity.rootIndex) {
            let root = identityMap.model.entities[rootIndex]
            for row in try loader.stores.rows(of: root, with: ids) {
                rows[identityMap.id(entity: identityMap.model.entities[row.entityIndex], key: row.key)] = row
            }
        }
        return rows
    }

    /// Merges the stored row into an object.
    private mutating func merge(_ row: Row, into object: any GraphObject) {
        let state = object.state
        let base = state.pointee.row
        var former: [Int: Int64] = [:]
        for relationship in object.entity.relationships where !relationship.isToMany {
            former[relationship.slot] = object.destinationKey(at: relationship.slot)
        }
        switch mergePolicy {
        case .error, .mergeByPropertyObjectTrump: break
        case .mergeByPropertyStoreTrump:
            let collides = { (slot: Int) in base?.valueOrNull(at: slot) != row.valueOrNull(at: slot) }
            for relationship in object.entity.relationships
            where !relationship.isToMany && collides(relationship.slot) {
                // The inverses are updated, too.
                let keys = [row.integer(at: relationship.slot)]
                object.setDestination(
                    loader.objects(with: keys, of: relationship.destination).first,
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
            object.revertRelationships(to: row)
            object.dropChanges { _ in true }
            changeTracker.dropUpdate(of: object)
            rolledBack.append(object)
        }
        if let base { loader.unloadMembers(namedBy: base) }
        loader.unloadMembers(namedBy: row)
        object.replaceRow(by: row)
        if !mergePolicy.objectWins { settle(object, ownersIn: [base, row].compactMap(\.self), former: former) }
    }

    /// Makes the one-to-one relationships consistent of three kinds of objects: the objects to which the stored row of
    /// a merged object refers, the objects to which the object refers instead, and the objects that have referred to
    /// these. The save must write them, too, or other contexts would not receive their new relationships.
    private func alignOneToOnes(of object: any GraphObject, with row: Row) {
        for relationship in object.entity.relationships where !relationship.isToMany {
            guard let inverse = relationship.inverse, !inverse.isToMany, inverse.isOptional else { continue }
            let stored = row.integer(at: relationship.slot)
            let key = object.destinationKey(at: relationship.slot)
            guard stored != key else { continue }
            upToDate(stored, of: relationship)?.clearDestination(of: inverse, ifKey: object.state.pointee.key)
            guard let destination = upToDate(key, of: relationship),
                destination.destinationKey(at: inverse.slot) != object.state.pointee.key
            else { continue }
            if relationship.isOptional {
                upToDate(destination.destinationKey(at: inverse.slot), of: inverse)?
                    .clearDestination(of: relationship, ifKey: key)
            }
            destination.storeDestination(object.state.pointee.key, at: inverse.slot)
        }
    }

    /// The object with a key that a relationship leads to, with its stored values if it has no changes; nil if it does
    /// not exist.
    private func upToDate(_ key: Int64, of relationship: Relationship) -> (any GraphObject)? {
        guard key != 0, let object = loader.objects(with: [key], of: relationship.destination).first else { return nil }
        if !object.hasChanges, object.life.isStored {
            loader.reload([object], changedObjects: .becomeOutdated, missingRows: .markMissing, failures: .report)
        }
        return object.life.isDeletedOrMissing ? nil : object
    }

    /// Clears the to-one relationships of a reinserted object whose destinations were deleted with it.
    private func dropLostDestinations(of object: any GraphObject) throws {
        for relationship in object.entity.relationships where !relationship.isToMany {
            let key = object.destinationKey(at: relationship.slot)
            guard key > 0, !(identityMap.object(forKey: key, of: relationship.destination)?.isInserted ?? false)
            else { continue }
            let id = identityMap.id(entity: relationship.destination, key: key)
            if try persistedRows(of: [id]).isEmpty { object.storeDestination(0, at: relationship.slot) }
        }
    }

    /// Resolves the conflict of an object that another context or process has deleted: the deletion takes precedence
    /// over changes, unless the policy is ``MergePolicy/overwrite``.
    private mutating func resolveRemoteDeletion(of object: any GraphObject, _ id: ManagedObjectID) {
        let state = object.state
        if state.pointee.life.isDeleted {
            changeTracker.deleted.remove(object)
            state.pointee.life.markMissing()
        } else if state.pointee.life.isUpdated {
            changeTracker.updated.remove(object)
            if mergePolicy == .overwrite {
                // The object is inserted under its previous key, which no other object ever gets.
                object.prepareForReinsertion()
                changeTracker.onReturn?(object)
                changeTracker.inserted.add(object)
                insertedAgain.insert(id)
            } else {
                state.pointee.changes = nil
                state.pointee.life.markMissing()
            }
        }
        identityMap.noteDeletion()
        object.notifyObserversOfExistence()
    }
}

extension Entity {
    /// Whether the row contains the value of a slot: the value of an attribute or a to-one relationship.
    fileprivate func isStoredInRow(_ slot: Int) -> Bool {
        if case .relationship(let relationship) = properties[slot] { !relationship.isToMany } else { true }
    }
}

extension GraphObject {
    /// Whether all values are in memory. A large value that was not read is lost with its row, and so are the values of
    /// a fault.
    fileprivate var hasAllValues: Bool {
        guard let row = state.pointee.row else { return false }
        return (0..<row.slotCount).allSatisfy { slot in
            row.tag(at: slot) != .deferredBlob || !(state.pointee.changes?[slot] ?? .unset).isUnset
        }
    }

    /// Drops the changes of the attributes and to-one relationships for which `condition` holds.
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
