extension GraphObject {
    /// Adopts a row that was fetched again: it fills a fault, an unchanged object takes a later version, and a changed
    /// object becomes outdated, so that its save reports the conflict.
    ///
    /// - Returns: whether the object was a fault.
    @discardableResult
    func adopt(refetched row: Row) -> Bool {
        guard isOfEntity(row) else { return false }
        guard let current = state.pointee.row else {
            guard state.pointee.life.canBeFilled || canReturn(with: row) else { return false }
            if let cached = cachedRow, row.isOlder(than: cached.row) { return false }
            take(later: row)
            markPresent()
            return true
        }
        guard current.isOlder(than: row) else {
            if state.pointee.handler?.readsFromParent ?? false { adopt(ofParent: row) }
            return false
        }
        // The save of an object that this context inserts again, too, reports the conflict.
        guard !state.pointee.life.isInserted else { return false }
        if !state.pointee.life.changesRow {
            take(later: row)
            // A later version of a missing object: another context has undone the deletion.
            markPresent()
        } else {
            state.pointee.flags.insert(.outdated)
            if state.pointee.life == .updated, let context = state.pointee.handler?.context {
                context.loader.laterRows?.append((self, row))
            }
        }
        return false
    }

    /// Takes a later row, and unloads the to-many relationships that the object has joined or left since the last row.
    /// The announcement of the change may still come, but it does not name the owners that the object leaves.
    private func take(later row: Row) {
        let old = lastRow
        replaceRow(by: row)
        guard let old, let context = state.pointee.handler?.context else { return }
        context.commitMerger.mergeMemberships(from: old, to: row)
    }

    /// Adopts the destination of a to-one relationship from a later row, unless the object has changed it: the members
    /// of the inverse, which were just read, contain the object.
    ///
    /// The row of the object keeps its version, which detects the conflict, and its other values.
    func adoptDestination(at slot: Int, of later: Row) {
        // The row of a file that has replaced the store's file may belong to another object.
        guard !state.pointee.flags.contains(.replaced) else { return }
        guard let current = state.pointee.row, state.pointee.changes?[slot].isUnset ?? true, later.hasValue(at: slot),
            current.differs(from: later, at: slot)
        else { return }
        replaceRow(by: current.taking(later) { $0 == slot })
        // A deletion that was reverted has added the object to the list of the owner that it had.
        guard let relationship = relationship(at: slot), let inverse = relationship.inverse, inverse.isToMany else {
            return
        }
        state.pointee.handler?.context?.identityMap
            .object(forKey: current.integer(at: slot), of: relationship.destination)?
            .forgetChange(of: state.pointee.key, in: inverse)
    }

    /// Whether a row is of the object's entity. If it is not, the object becomes missing.
    func isOfEntity(_ row: Row) -> Bool {
        guard let handler = state.pointee.handler else { return false }
        if row.entityIndex == handler.entity.index { return true }
        if let context = handler.context, let found = handler.table.object(forKey: row.key), found.object === self {
            _ = context.identityMap.keeps(found, row.key, for: row.entityIndex)
        }
        return false
    }

    /// Adopts a row of a file that has replaced the file from which the object was read, whatever its version. A
    /// changed object whose row has other values keeps its own row until its changes end: see ``ObjectFlags/replaced``.
    func adopt(replacement row: Row) {
        if state.pointee.life.changesRow {
            guard let handler = state.pointee.handler, row.entityIndex == handler.entity.index,
                let current = lastRow, current.hasValues(of: row)
            else {
                state.pointee.flags.formUnion([.outdated, .replaced])
                _ = isOfEntity(row)
                return
            }
            state.pointee.flags.remove(.replaced)
            return replaceRow(by: row)
        }
        guard isOfEntity(row) else { return }
        switch state.pointee.life {
        // A fault without a row stays such a fault.
        case .unchanged: if lastRow != nil { replaceRow(by: row) }
        case .missing, .erased:
            replaceRow(by: row)
            markPresent()
        case .inserted, .reinserted, .discarded, .updated, .updatedMissing, .deleted, .deletedMissing: break
        }
    }

    /// Adopts the row of the parent's object, whatever its version. It never conflicts: the object's own changes take
    /// precedence.
    private func adopt(ofParent row: Row) {
        guard !state.pointee.life.isInserted else { return }
        replaceRow(by: row)
        if !state.pointee.life.changesRow { markPresent() }
    }

    /// Whether a row shows that an object without a row, which is missing or whose deletion is saved, is in the store
    /// again: another context has undone the deletion.
    private func canReturn(with row: Row) -> Bool {
        switch state.pointee.life {
        // The earlier row that could fill the object was deleted.
        case .missing, .erased: cachedRow?.row.isOlder(than: row) ?? true
        case .unchanged, .inserted, .reinserted, .updated, .updatedMissing, .deleted, .deletedMissing, .discarded: false
        }
    }

    /// Records that the store has a row for the object, which may have been missing. Changes that ended with its
    /// deletion are dropped.
    private func markPresent() {
        guard state.pointee.life.isMissing else { return }
        life.markPresent()
        if let context = state.pointee.handler?.context {
            context.identityMap.noteDeletion()
            context.loader.returnedObjects.append(self)
        }
        for relationship in entity.relationships where relationship.isToMany { unloadMembers(of: relationship) }
        let cached = cachedRow
        dropChanges()
        if let cached { ensureChanges().cachedRow = cached }
        notifyObserversOfExistence()
    }

    /// Adopts a row that was fetched for a fault, and can fill it. A filled object stays filled, unless the row is a
    /// later version.
    func adopt(_ cached: CachedRow) {
        guard isOfEntity(cached.row) else { return }
        let state = state
        if let current = state.pointee.row {
            guard current.isOlder(than: cached.row) else { return }
            guard cached.isPartial, !state.pointee.life.changesRow else {
                adopt(refetched: cached.row)
                return
            }
        } else {
            guard state.pointee.life.canBeFilled || canReturn(with: cached.row) else { return }
            if let known = cachedRow, cached.row.isOlder(than: known.row) || !known.isPartial && cached.isPartial,
                !known.row.isOlder(than: cached.row)
            {
                return
            }
        }
        let old = lastRow
        replaceRow(by: cached)
        markPresent()
        if let old { state.pointee.handler?.context?.commitMerger.mergeMemberships(from: old, to: cached.row) }
    }
}
