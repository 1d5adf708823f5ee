// To-one relationships.

extension GraphObject {
    // MARK: Reading

    /// The destination of a to-one relationship; nil if it is deleted. A destination that another process may have
    /// deleted is read from the store again, together with the objects of the same fetch.
    public func destination(at slot: Int) -> (any GraphObject)? {
        switch state.knownDestination(at: slot) {
        case .object(let destination): return destination
        case .deleted: return nil
        case .unknown: break
        }
        guard let destination = lastDestination(at: slot) else { return nil }
        destination.verifyExistence()
        // The delete rules have just been applied.
        return !destination.life.isDeletedOrMissing ? destination : nil
    }

    /// The destination of a to-one relationship, which may be deleted.
    public func lastDestination(at slot: Int) -> (any GraphObject)? {
        completeInitialization()
        guard let handler = state.pointee.handler, slot < handler.entity.traits.count else { return nil }
        let destinationIndex = handler.entity.traits[slot].destinationIndex
        guard destinationIndex >= 0 else { return nil }
        guard let context = handler.context else {
            let key = destinationKey(at: slot)
            if key != 0 { reportLoss(at: slot) }
            return handler.detachedGraph?.object(forKey: key)
        }
        context.deletePropagation.run()
        let key = destinationKey(at: slot)
        if key == 0 { return nil }
        guard case .relationship(let relationship) = handler.entity.properties[slot] else { return nil }
        if let known = context.identityMap.destination(forKey: key, of: relationship) { return known }
        return context.loader.destination(of: relationship, key: key, from: self)
    }

    // MARK: Writing

    /// Sets the destination of a to-one relationship, and updates the inverse.
    public func setDestination(_ destination: (any GraphObject)?, at slot: Int) {
        completeInitialization()
        if let destination { joinGraph(of: destination) }
        guard let relationship = relationship(at: slot) else { return }
        let oldKey = destinationKey(at: slot)
        guard oldKey != destination?.state.pointee.key ?? 0 else { return }
        if let inverse = relationship.inverse {
            if oldKey != 0, let old = registered(oldKey, along: relationship) ?? self.destination(at: slot) {
                old.forget(self, along: inverse)
            }
            if let destination {
                if inverse.isToMany {
                    destination.addMember(state.pointee.key, to: inverse)
                } else {
                    if let rival = destination.lastDestination(at: inverse.slot), rival !== self {
                        rival.storeDestination(0, at: slot)
                    }
                    destination.storeDestination(state.pointee.key, at: inverse.slot)
                }
            }
        }
        let hasSharedSide = relationship.hasSharedSide
        let old =
            hasSharedSide && oldKey != 0 ? registered(oldKey, along: relationship) ?? self.destination(at: slot) : nil
        storeDestination(destination?.state.pointee.key ?? 0, at: slot)
        if state.pointee.life.isMissing { state.pointee.handler?.context?.changeTracker.markChanged(self) }
        guard hasSharedSide else { return }
        if let old { didPart(from: old, along: relationship) }
        if let destination { didRelate(to: destination, along: relationship) }
    }

    /// Clears a to-one relationship if it leads to the object with the given key.
    func clearDestination(of relationship: Relationship, ifKey key: Int64) {
        if destinationKey(at: relationship.slot) == key { storeDestination(0, at: relationship.slot) }
    }

    /// Writes the key of a destination, without a change of the inverse.
    ///
    /// - Parameter key: The key, read after observers are called: if one saves, a new destination gets another key.
    func storeDestination(_ key: @autoclosure () -> Int64, at slot: Int) {
        if state.pointee.chunk == nil { fireFault() }
        recorder?.willSetDestination(of: self, at: slot)
        changing(slot) {
            let key = key()
            ensureChanges()[slot] = .value(key == 0 ? .null : .integer(key))
            noteChange()
        }
    }

    /// The registered object with a key that a relationship leads to.
    private func registered(_ key: Int64, along relationship: Relationship) -> (any GraphObject)? {
        guard let handler = state.pointee.handler else { return nil }
        if let graph = handler.detachedGraph { return graph.object(forKey: key) }
        return handler.context?.identityMap.destination(forKey: key, of: relationship)
    }
}

/// The destination of a relationship, if it is known without further checks.
private enum KnownDestination {
    case object(any GraphObject)
    case deleted
    /// Further checks are needed.
    case unknown
}

extension UnsafeMutablePointer<ObjectState> {
    /// The destination of a to-one relationship in the most frequent case: the object has no changes and the
    /// destination is registered.
    fileprivate func knownDestination(at slot: Int) -> KnownDestination {
        guard borrowedChanges == nil, let chunk = borrowedChunk, let handler = borrowedHandler,
            pointee.flags.isDisjoint(with: [.hasPendingRelationships, .incomplete])
        else { return .unknown }
        let key = chunk._withUnsafeGuaranteedRef { chunk in
            let row = Row(chunk: chunk, offset: pointee.rowOffset)
            return slot < row.slotCount ? row.integer(at: slot) : 0
        }
        return handler._withUnsafeGuaranteedRef { $0.knownDestination(forKey: key, at: slot) }
    }
}

extension FaultHandler {
    @inline(__always)
    fileprivate func knownDestination(forKey key: Int64, at slot: Int) -> KnownDestination {
        guard key > 0, let context = borrowedContext, slot < entity.traits.count else { return .unknown }
        let destinationIndex = entity.traits[slot].destinationIndex
        guard destinationIndex >= 0 else { return .unknown }
        return context._withUnsafeGuaranteedRef { context in
            // Delete rules that have not been applied yet may delete the destination.
            guard context.changeTracker.unpropagatedDeletes.isEmpty || context.deletePropagation.isRunning else {
                return .unknown
            }
            let identityMap = context.identityMap
            let found = identityMap.handlers.borrowed(at: destinationIndex)._withUnsafeGuaranteedRef {
                $0.table.borrowedObject(forKey: key)
            }
            guard let found else { return .unknown }
            // In a damaged store a key may belong to any object of the table.
            guard found.entity == destinationIndex || identityMap.isKind(found.entity, of: destinationIndex) else {
                return .unknown
            }
            return identityMap.handlers.borrowed(at: found.entity)._withUnsafeGuaranteedRef { handler in
                let state = handler.state(of: found.object)
                guard !state.pointee.life.isDeletedOrMissing else { return .deleted }
                guard !state.mayBeMissing else { return .unknown }
                return .object(handler.graphObject(found.object.takeUnretainedValue()))
            }
        }
    }
}
