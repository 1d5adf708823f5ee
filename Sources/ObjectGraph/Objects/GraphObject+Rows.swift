// The row of an object and its values beyond the row.

extension GraphObject {
    // MARK: Row

    /// The row that can fill the fault without a request to the store.
    var cachedRow: CachedRow? { state.pointee.changes?.cachedRow }

    /// The row, or the row that can fill the fault.
    var lastRow: Row? { state.pointee.row ?? cachedRow?.row }

    /// The rows that were read together with the row; nil if the object has changed its identity since.
    var neighbours: RowChunk? {
        guard let row = lastRow, row.key == state.pointee.key else { return nil }
        return row.chunk
    }

    /// Replaces the row, and drops the row that can fill the fault.
    func replaceRow(by row: Row) {
        let old = lastRow
        state.pointee.row = row
        dropCachedRow()
        if state.pointee.flags.contains(.followed) {
            state.pointee.handler?.context?.changeCollector.noteChanges(of: self, from: old, to: row)
        }
        if let old { notifyObservers(ofChangesFrom: old, to: row) }
    }

    /// Turns the object into a fault that a later row can fill.
    func replaceRow(by cached: CachedRow) {
        let old = lastRow
        state.pointee.row = nil
        ensureChanges().cachedRow = cached
        if let old { notifyObservers(ofChangesFrom: old, to: cached.row) }
    }

    /// Turns an unchanged object into a fault that is filled from the store, since its row may have been superseded or
    /// deleted. The row stays as its last known values.
    func becomeOutdated() {
        guard let row = lastRow else {
            state.pointee.flags.insert(.unverified)
            return
        }
        guard !(cachedRow?.isOutdated ?? false) else { return }
        state.pointee.row = nil
        ensureChanges().cachedRow = CachedRow(outdated: row)
    }

    /// Drops the row that can fill the fault.
    func dropCachedRow() {
        guard let changes = state.pointee.changes, changes.cachedRow != nil else { return }
        changes.cachedRow = nil
        // Values of objects whose `changes` are nil are read fastest.
        if changes.isEmpty { state.pointee.changes = nil }
    }

    /// Reads the deferred values of the row, which are lost with the row in the store.
    ///
    /// - Parameter limit: The number of bytes after which no further value is read.
    /// - Returns: the number of bytes that were read.
    @discardableResult
    func keepDeferredValues(limit: Int = .max) -> Int {
        guard let row = state.pointee.row, row.mayHaveDeferredBlobs else { return 0 }
        var size = 0
        for slot in 0..<row.slotCount where row.tag(at: slot) == .deferredBlob && size < limit {
            let changes = ensureChanges()
            // A value that cannot be read stays unset, and is reported as missing when the object is inserted again.
            if changes[slot].isUnset, let blob = try? row.readBlob(at: slot) {
                size += blob.count
                changes[slot] = .value(.blob(blob))
            }
        }
        return size
    }

    // MARK: Changes

    /// The changes, created if the object has none.
    func ensureChanges() -> ObjectChanges {
        let state = state
        if let changes = state.pointee.changes { return changes }
        let changes = ObjectChanges.make(slotCount: entity.slotCount)
        state.pointee.changes = changes
        return changes
    }

    /// Drops all changes.
    func dropChanges() {
        guard let changes = state.pointee.changes else { return }
        state.pointee.changes = nil
        notifyObservers(ofDropped: changes)
    }

    /// The members of a to-many relationship, as far as they are known.
    func members(of relationship: Relationship) -> ToManyMembers {
        let changes = ensureChanges()
        if let members = changes.members(at: relationship.slot) { return members }
        let isSaved = state.pointee.key > 0
        let members = isSaved ? ToManyMembers() : ToManyMembers(new: EmptyCollection())
        changes[relationship.slot] = .members(members)
        return members
    }

    /// Forgets the stored members of a to-many relationship, so that the next access reads the store. A missing object
    /// keeps its last members, which an undo of its deletion restores.
    func unloadMembers(of relationship: Relationship) {
        guard !state.pointee.life.isMissing,
            let members = state.pointee.changes?.members(at: relationship.slot), members.isLoaded
        else { return }
        members.unload()
        notifyObservers(of: relationship.slot)
    }

    /// Forgets the stored members of a to-many relationship, and whether the object with a key was added or removed.
    func forgetChange(of key: Int64, in relationship: Relationship) {
        guard let members = state.pointee.changes?.members(at: relationship.slot) else { return }
        members.forgetChange(of: key)
        notifyObservers(of: relationship.slot)
    }

    /// Drops the members of all to-many relationships of an object without changes, so that the next access reads the
    /// store.
    func forgetMembers() {
        guard let changes = state.pointee.changes else { return }
        for relationship in entity.relationships
        where relationship.isToMany && changes.members(at: relationship.slot) != nil {
            changes[relationship.slot] = .unset
            notifyObservers(of: relationship.slot)
        }
    }

    /// Whether the object has a permanent key under which the store has no object.
    var hasUnsavedPermanentKey: Bool {
        state.pointee.key > 0 && state.pointee.changes?.assignedKey == state.pointee.key
    }

    /// Moves the attributes in the row to the changes, so that the object is complete without its row. The
    /// relationships of a saved object, and of an object whose context is deallocated, are dropped: their keys have no
    /// meaning in another graph. An attribute that was not read stays without a value, and the object cannot be saved
    /// before it is set.
    ///
    /// - Parameter wasSaved: Whether the object was in a store before it lost its previous key.
    func turnRowIntoChanges(wasSaved: Bool = false) {
        let state = state
        if state.pointee.key <= 0, state.pointee.handler == nil, let changes = state.borrowedChanges {
            // The object was never in a graph.
            return changes._withUnsafeGuaranteedRef { $0.assignedKey = 0 }
        }
        let changes = ensureChanges()
        let isNew = hasUnsavedPermanentKey || state.pointee.life.isInserted
        let wasSaved = !isNew && (wasSaved || state.pointee.key > 0)
        changes.assignedKey = 0
        state.pointee.flags.remove(.hasUnreadValues)
        let lostContext = state.pointee.handler.map { $0.context == nil && $0.detachedGraph == nil } ?? false
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
}
