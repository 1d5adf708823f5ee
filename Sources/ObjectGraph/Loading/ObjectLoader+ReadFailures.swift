extension ObjectLoader {
    /// Ensures that every property has been read successfully.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` with all failures that have not been forgotten.
    func requireReadableValues() throws {
        guard !readFailures.isEmpty else { return }
        forgetFailuresOfDeletedObjects()
        guard !readFailures.isEmpty else { return }
        // The next fetch must not throw the failures again.
        _ = readFailures.takeUnreported()
        throw ObjectGraphError.unreadable(readFailures.values)
    }

    /// Forgets the failures, after which all objects may be readable again.
    func forgetReadFailures() {
        readFailures.removeAll()
        unreadable = UnreadableKeys()
    }

    /// Throws the failures that no fetch or save has thrown.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    /// - Complexity: O(1) without failures.
    func reportReadFailures() throws {
        guard readFailures.hasUnreported else { return }
        forgetFailuresOfDeletedObjects()
        let values = readFailures.takeUnreported()
        guard values.isEmpty else { throw ObjectGraphError.unreadable(values) }
    }

    /// Whether the list has a failure of an object's property, or of all its properties.
    fileprivate func hasFailure(of object: any GraphObject, at slot: Int) -> Bool {
        readFailures.contains {
            $0.key == object.state.pointee.key && $0.entityIndex == object.entity.index && ($0.slot ?? slot) == slot
        }
    }

    /// A deleted object returns its last known values, and `isDeleted` is true; an optional value that was not known is
    /// nil. Damage, values that cannot be decoded, and required values that were not known stay in the list: the program
    /// may have copied the substitute to another object.
    private func forgetFailuresOfDeletedObjects() {
        readFailures.removeAll { failure in
            guard failure.cause is ReadFailures.MissingRow else { return false }
            let entity = identityMap.model.entities[failure.entityIndex]
            if let slot = failure.slot, case .attribute(let attribute) = entity.properties[slot], !attribute.isOptional
            {
                return false
            }
            guard let object = identityMap.object(forKey: failure.key, of: entity) else { return true }
            return reloadIfUnchanged(object) || object.life.isDeletedOrMissing
        }
    }

    /// Reloads an object without changes: another process does not announce its changes and deletions.
    ///
    /// - Returns: whether the store has no row of the object, or a later version than the object had.
    private func reloadIfUnchanged(_ object: any GraphObject) -> Bool {
        guard object.state.pointee.key > 0, object.life == .unchanged else {
            return false
        }
        let known = object.lastRow
        let missing = reload(
            [object],
            changedObjects: .becomeOutdated,
            missingRows: .markMissing,
            failures: .ignore
        )
        guard missing.isEmpty else { return true }
        guard let known, let row = object.lastRow else { return false }
        return known.isOlder(than: row)
    }
}

extension GraphObject {
    /// Reports a value that cannot be read because the context is deallocated. Does nothing for a deleted object, or
    /// for an object that was never saved.
    func reportLoss(at slot: Int) {
        guard let handler = state.pointee.handler, handler.context == nil, handler.detachedGraph == nil,
            state.pointee.key > 0, state.pointee.life.canBeFilled
        else { return }
        handler.readFailures?.reportLoss(
            .init(
                entityIndex: handler.entity.index,
                key: state.pointee.key,
                slot: slot,
                cause: ReadFailures.MissingContext()
            )
        )
    }

    /// Reports that the value in a slot is not a value of the property's type, or that a required value is missing.
    /// Does nothing for an object that was never saved, or whose row is not known.
    package func reportUnreadableValue(at slot: Int, as type: Any.Type) {
        guard let handler = state.pointee.handler, slot < handler.entity.properties.count else { return }
        let isNull: Bool
        switch state.pointee.changes.map({ slot < $0.slotCount ? $0[slot] : .unset }) ?? .unset {
        case .value(let value): isNull = value.isNull
        case .unset:
            guard let row = lastRow, row.hasValue(at: slot) else { return }
            isNull = row.isNull(at: slot)
        case .composite, .members, .pending: return
        }
        if isNull, state.pointee.key <= 0 || handler.entity.properties[slot].isOptional { return }
        reportFailure(at: slot, isNull ? ReadFailures.MissingValue() : ReadFailures.UndecodableValue(type))
    }

    /// Reports that a required to-one relationship leads to an object that the store does not have.
    package func reportMissingDestination(at slot: Int) {
        guard let context = state.pointee.handler?.context, state.pointee.key > 0,
            state.pointee.life.isStored, let row = lastRow, row.hasValue(at: slot),
            destinationKey(at: slot) == row.integer(at: slot), !context.loader.hasFailure(of: self, at: slot)
        else { return }
        reportFailure(at: slot, row.isNull(at: slot) ? ReadFailures.MissingValue() : ReadFailures.MissingRow())
    }

    private func reportFailure(at slot: Int, _ cause: any Error) {
        guard let handler = state.pointee.handler else { return }
        handler.readFailures?.add(
            .init(entityIndex: handler.entity.index, key: state.pointee.key, slot: slot, cause: cause)
        )
    }
}
