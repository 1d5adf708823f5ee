extension ManagedObjectContext {
    /// Adds a new object, together with all objects that it is related to and that are in no context yet. The next save
    /// writes them. Inserting an object that is here already takes back its deletion.
    ///
    /// - Precondition: The object is in no other context, and the model has an entity for its class.
    public func insert(_ object: any GraphObject) {
        if let handler = object.state.pointee.handler {
            if let island = handler.island { return adopt(island) }
            if let context = handler.context {
                precondition(
                    context === self,
                    "the object belongs to another context: insert it there, or pass its identifier"
                )
                if object.life.isDeleted { restore([object]) }
                if object.life.isMissing {
                    if object.life.isUpdated { updated.remove(object) }
                    if object.hasUnsavedPermanentKey { reinsert(object) } else { revive(object) }
                }
                return
            }
        }
        let wasSaved = object.state.pointee.key > 0
        adopt(object, key: object.ensureKey(), wasSaved: wasSaved)
        object.establishPendingRelationships()
    }

    /// Takes all objects of an island in.
    private func adopt(_ island: Island) {
        let members = island.dissolve()
        for member in members { adopt(member.object, key: member.key) }
        for member in members { member.object.establishPendingRelationships() }
    }

    /// Registers an object that is in no graph as a new one.
    ///
    /// - Parameter wasSaved: Whether the object was in a store before, under another key.
    private func adopt(_ object: any GraphObject, key: Int64, wasSaved: Bool = false) {
        let handler = handler(forNew: object)
        handler.table.reserve(1)
        object.completeState()
        object.turnRowIntoChanges(wasSaved: wasSaved)
        let state = object.state
        state.pointee.handler = handler
        state.pointee.key = key
        state.pointee.life.leaveGraph()
        state.pointee.flags.subtract([.deletePropagated, .recordsChanges])
        announceChange()
        inserted.add(object)
        recorder?.didInsert(object)
        handler.table.insert(object, forKey: key, entity: handler.entity.index)
        if handler.hasLifecycle { object.withLifecycle?.awakeFromInsert() }
    }

    /// Takes back the deletion of a new object that has a permanent key, which it keeps.
    private func reinsert(_ object: any GraphObject) {
        object.state.pointee.flags.remove(.deletePropagated)
        deletionStamp &+= 1
        announceChange()
        inserted.add(object)
        recorder?.didInsert(object)
        object.reestablishInverses()
    }

    /// Makes an object new again whose deletion was saved, or that was never saved before it was deleted.
    private func revive(_ object: any GraphObject) {
        let key = object.state.pointee.key
        // It becomes another object: an undo could not make it what it was.
        if key > 0 { forgetUndo() }
        object.state.pointee.handler?.table.remove(key)
        adopt(object, key: key < 0 ? key : TemporaryKeys.next())
        object.reestablishInverses()
    }

    /// Takes note of a change of an object of this context.
    func markUpdated(_ object: any GraphObject) {
        guard object.life == .unchanged else { return }
        announceChange()
        updated.add(object)
    }

    /// Takes note of a change of an object's own values. One that another context or process has deleted is listed as well:
    /// the save settles the conflict, so that it does not matter whether the context has heard of the deletion before the
    /// change.
    func markChanged(_ object: any GraphObject) {
        guard object.life.isMissing else { return markUpdated(object) }
        guard object.life == .missing, object.state.pointee.row != nil,
            knownObject(forKey: object.state.pointee.key, of: object.entity) === object
        else { return }
        object.state.pointee.flags.insert(.outdated)
        announceChange()
        updated.add(object)
    }
}

extension GraphObject {
    /// Whether the object has a permanent key, and the store has no object with it yet, or no more.
    fileprivate var hasUnsavedPermanentKey: Bool {
        state.pointee.key > 0 && state.pointee.changes?.assignedKey == state.pointee.key
    }

    /// Moves the attributes that the row holds to the changes, so that the object is as complete without its row. The
    /// relationships of a saved object, or of one whose context is gone, are forgotten: their keys mean nothing elsewhere.
    /// An attribute that was not read stays without a value, and the object cannot be saved before it is set.
    ///
    /// - Parameter wasSaved: Whether the object was in a store before it lost the key that it had there.
    func turnRowIntoChanges(wasSaved: Bool = false) {
        let state = state
        if state.pointee.key <= 0, state.pointee.handler == nil, let changes = state.borrowedChanges {
            // It was never in a graph.
            return changes._withUnsafeGuaranteedRef { $0.assignedKey = 0 }
        }
        let changes = ensureChanges()
        let isNew = hasUnsavedPermanentKey || state.pointee.life.isInserted
        let wasSaved = !isNew && (wasSaved || state.pointee.key > 0)
        changes.assignedKey = 0
        state.pointee.flags.remove(.hasUnreadValues)
        let lostContext = state.pointee.handler.map { $0.context == nil && $0.island == nil } ?? false
        guard state.pointee.key > 0 || lostContext else { return }
        let row = lastRow
        for property in entity.properties {
            let slot = property.slot
            switch property {
            case .attribute:
                guard changes[slot].isUnset else { continue }
                if let value = row.flatMap({ $0.readValue(at: slot) }) {
                    changes[slot] = .value(value)
                } else if wasSaved {
                    state.pointee.flags.insert(.hasUnreadValues)
                }
            case .relationship:
                changes[slot] = .unset
            }
        }
        state.pointee.row = nil
        changes.cachedRow = nil
    }

    /// The changes, which are made where there are none.
    func ensureChanges() -> ObjectChanges {
        let state = state
        if let changes = state.pointee.changes { return changes }
        let changes = ObjectChanges.make(slotCount: entity.slotCount)
        state.pointee.changes = changes
        return changes
    }
}

extension Row {
    /// The value in a slot, read from the store where it was left there; nil where it was not read, or cannot be.
    fileprivate func readValue(at slot: Int) -> Value? {
        guard tells(slot) else { return nil }
        guard tag(at: slot) == .deferredBlob else { return value(at: slot) }
        return (try? readBlob(at: slot)).map(Value.blob)
    }
}
