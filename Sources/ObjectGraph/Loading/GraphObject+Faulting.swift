extension GraphObject {
    /// Fills a fault: with the fetched row if there is one, otherwise from the store, together with the objects of the
    /// same fetch. An object without a row in the store becomes missing. It keeps its last known values, if any.
    ///
    /// Never throws: if the store cannot be read, the object stays a fault and its values read as empty. The context's
    /// next fetch or save throws the store's error.
    func fireFault() {
        guard state.pointee.chunk == nil, let context = state.pointee.handler?.context, state.pointee.key > 0,
            state.pointee.life.canBeFilled
        else { return }
        let loader = context.loader
        guard let cached = cachedRow else { return loader.fillFaults([self]) }
        guard cached.isPartial || cached.isOutdated || cached.isStale(after: loader.stalenessInterval) else {
            replaceRow(by: cached.row)
            withLifecycle?.awakeFromFetch()
            return
        }
        loader.fillFaults(loader.faults(fetchedWith: self), for: self)
    }

    /// Fills a fault whose row another process may have deleted, so that the object is missing if the store has no row.
    func verifyExistence() {
        if state.mayBeMissing { fireFault() }
    }

    /// Drops the row, and all changes except changes of relationships that are stored in the members' rows.
    func turnIntoFault() {
        if state.mayBeMissing {
            state.pointee.flags.insert(.unverified)
        } else {
            state.pointee.flags.remove(.unverified)
        }
        state.pointee.row = nil
        state.pointee.flags.subtract([.outdated, .replaced])
        defer { notifyObserversOfAllProperties() }
        guard let changes = state.pointee.changes else { return }
        changes.cachedRow = nil
        var keepsMembers = false
        for property in entity.properties {
            if case .relationship(let relationship) = property, relationship.placement == .destinationKey,
                let members = changes.members(at: property.slot), members.isChanged
            {
                members.unload()
                keepsMembers = true
            } else {
                changes[property.slot] = .unset
            }
        }
        if !keepsMembers { state.pointee.changes = nil }
    }

    /// The value of an attribute's slot, or the key of a to-one relationship's destination.
    @usableFromInline
    func slotValue(_ slot: Int) -> SlotValue {
        completeStateIfNeeded()
        if let changes = state.pointee.changes {
            let changed = changes[slot]
            if !changed.isUnset { return changed }
        }
        guard let row = row(withValueAt: slot), slot < row.slotCount else { return .value(.null) }
        return .value(row.value(at: slot))
    }

    /// The key of the destination of a to-one relationship; 0 for no destination.
    func destinationKey(at slot: Int) -> Int64 {
        if let changes = state.pointee.changes, case .value(let value) = changes[slot] {
            if case .integer(let key) = value { return key }
            return 0
        }
        guard let row = row(withValueAt: slot), slot < row.slotCount else { return 0 }
        return row.integer(at: slot)
    }

    /// The row from which a slot is read. A fault is filled, unless its fetched row is partial and has the value of the
    /// slot. If the store has no row, the last known row is returned.
    private func row(withValueAt slot: Int) -> Row? {
        if let row = state.pointee.row { return row }
        if let cached = cachedRow, cached.isPartial, !cached.isOutdated, cached.row.hasValue(at: slot) {
            return cached.row
        }
        fireFault()
        let last = lastRow
        if last?.hasValue(at: slot) != true { reportLoss(at: slot) }
        return last
    }
}

extension UnsafeMutablePointer<ObjectState> {
    /// Whether the object is a fault whose row another process may have deleted.
    @inline(__always)
    var mayBeMissing: Bool { borrowedChunk == nil && isUnverifiedFault }

    private var isUnverifiedFault: Bool {
        pointee.changes?.cachedRow?.isOutdated ?? pointee.flags.contains(.unverified)
    }
}

extension ObjectLoader {
    /// Fills the registered objects with given keys whose rows another process may have deleted, with one request.
    func verifyExistence(of keys: [Int64], _ entity: Entity) {
        let unverified = keys.compactMap { identityMap.object(forKey: $0, of: entity) }
            .filter { $0.state.mayBeMissing && $0.life.canBeFilled }
        fillFaults(unverified)
    }

    /// A fault, and the faults that were fetched together with it.
    fileprivate func faults(fetchedWith object: any GraphObject) -> [any GraphObject] {
        var faults = [object]
        guard let chunk = object.neighbours else { return faults }
        for index in 0..<chunk.rowCount {
            guard let known = identityMap.object(for: chunk.row(at: index)), known !== object,
                known.isFault, known.lastRow?.chunk === chunk,
                known.life.canBeFilled, !unreadable.containsRow(known.state.pointee.key, of: known.entity)
            else { continue }
            faults.append(known)
        }
        return faults
    }

    /// Fills faults of one inheritance with one request. Faults without a row become missing.
    ///
    /// - Parameter reader: The fault that is read; nil if all are.
    func fillFaults(_ faults: [any GraphObject], for reader: (any GraphObject)? = nil) {
        reload(faults, changedObjects: .becomeOutdated, missingRows: .markMissing, failures: .report, for: reader)
    }
}
