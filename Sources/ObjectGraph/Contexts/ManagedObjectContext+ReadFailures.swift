extension ManagedObjectContext {
    /// The values that could not be read since the failures were last forgotten, oldest first; at most 100.
    public var unreadableValues: [ObjectGraphError.UnreadableValue] { readFailures.values }

    /// Called with each value that could not be read, when a property is asked for it: on the thread that asks, once for a
    /// value until the failures are forgotten. It must not use the context.
    ///
    /// It is also called, once, for the first value that an object cannot read because the context is gone.
    public var didFailToRead: ReadFailures.Handler? {
        get { readFailures.handler }
        set { readFailures.handler = newValue }
    }

    /// Forgets that values could not be read, so that the next save writes whatever the program has made of them.
    ///
    /// So do ``rollback()`` and ``reset()``, and ``refresh(_:mergeChanges:)`` for the object that is refreshed.
    public func forgetReadFailures() { readFailures.removeAll() }

    /// Makes sure that every property told its value.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` with all failures that are not forgotten.
    func requireReadableValues() throws {
        guard !readFailures.isEmpty else { return }
        forgetFailuresOfDeletedObjects()
        guard !readFailures.isEmpty else { return }
        // A fetch has nothing new to report then.
        _ = readFailures.takeUnreported()
        throw ObjectGraphError.unreadable(readFailures.values)
    }

    /// Throws the failures that no fetch or save has thrown.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    /// - Complexity: O(1) without failures.
    package func reportReadFailures() throws {
        guard readFailures.hasUnreported else { return }
        forgetFailuresOfDeletedObjects()
        let values = readFailures.takeUnreported()
        guard values.isEmpty else { throw ObjectGraphError.unreadable(values) }
    }

    /// Carries out a fetch, and throws where values could not be read since the last one or on the way.
    func reportingReadFailures<R>(_ body: () throws -> R) throws -> R {
        try reportReadFailures()
        let result = try body()
        try reportReadFailures()
        return result
    }

    /// Answers a child, or throws where the answer is of values that could not be read. The failures stay unreported here.
    func answering<R>(_ body: () throws -> R) throws -> R {
        let additions = readFailures.additions
        let result = try body()
        guard readFailures.additions == additions else { throw ObjectGraphError.unreadable(readFailures.values) }
        return result
    }

    /// Whether the list has a failure of an object's property, or of all its properties.
    fileprivate func hasFailure(of object: any GraphObject, at slot: Int) -> Bool {
        readFailures.contains {
            $0.key == object.state.pointee.key && $0.entityIndex == object.entity.index && ($0.slot ?? slot) == slot
        }
    }

    /// A deleted object answers what was last known of it, and `isDeleted` says so. Damage and values that do not decode stay in
    /// the list: the program may have copied what they read as to another object.
    private func forgetFailuresOfDeletedObjects() {
        readFailures.removeAll { failure in
            let entity = model.entities[failure.entityIndex]
            guard let object = knownObject(forKey: failure.key, of: entity) else {
                return failure.cause is ReadFailures.RowIsGone
            }
            if failure.cause is ReadFailures.RowIsGone, isOutdated(object) { return true }
            return failure.cause is ReadFailures.RowIsGone && object.isObjectDeleted
        }
    }

    /// Whether an object is not what the store has: another process does not announce what it changes and deletes. An
    /// object without changes takes in what the store has.
    private func isOutdated(_ object: any GraphObject) -> Bool {
        let key = object.state.pointee.key
        guard key > 0, object.life == .unchanged,
            let rows = try? store(for: object.entity)
                .newValuesForObjects(with: [id(entity: object.entity, key: key)], with: self)
        else { return false }
        guard let row = rows.first(where: { $0.key == key }) else {
            deletionStamp &+= 1
            object.life.markMissing()
            return true
        }
        guard let known = object.lastRow, known.isOlder(than: row) else { return false }
        object.adopt(refetched: row)
        return true
    }

    /// Carries out a read for a property that is asked for its value, and takes note where it fails.
    ///
    /// - Parameters:
    ///   - object: Whose value is asked for.
    ///   - relationship: The property, where it is a relationship; else it is any of them.
    func reading<R>(
        for object: any GraphObject,
        _ relationship: Relationship? = nil,
        _ body: () throws -> R
    ) -> R? {
        reading(object.entity, key: object.state.pointee.key, slot: relationship?.slot, body)
    }

    /// The same for the object of an entity that has a key.
    func reading<R>(_ entity: Entity, key: Int64, slot: Int? = nil, _ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch {
            readFailures.add(.init(entityIndex: entity.index, key: key, slot: slot, cause: error))
            return nil
        }
    }
}

extension GraphObject {
    /// Reports a value that would have to be read from the store of a context that is gone. An object that is deleted, or
    /// was never saved, has nothing to read.
    func reportLoss(at slot: Int) {
        guard let handler = state.pointee.handler, handler.context == nil, handler.island == nil,
            state.pointee.key > 0, state.pointee.life.canBeFilled
        else { return }
        handler.readFailures?.reportLoss(
            .init(
                entityIndex: handler.entity.index,
                key: state.pointee.key,
                slot: slot,
                cause: ReadFailures.ContextIsGone()
            )
        )
    }

    /// Reports that what the object has in a slot is not a value of the property's type, or that a value is missing which
    /// the property requires. An object that was never saved, or whose row is not known, has nothing to report.
    package func reportUnreadableValue(at slot: Int, as type: Any.Type) {
        guard let handler = state.pointee.handler, slot < handler.entity.properties.count else { return }
        let isNull: Bool
        switch state.pointee.changes.map({ slot < $0.slotCount ? $0[slot] : .unset }) ?? .unset {
        case .value(let value): isNull = value.isNull
        case .unset:
            guard let row = lastRow, row.tells(slot) else { return }
            isNull = row.isNull(at: slot)
        case .composite, .members, .pending: return
        }
        if isNull, state.pointee.key <= 0 || handler.entity.properties[slot].isOptional { return }
        reportFailure(at: slot, isNull ? ReadFailures.MissingValue() : ReadFailures.UndecodableValue(type))
    }

    /// Reports that a required to-one relationship leads to an object that the store does not have.
    package func reportMissingDestination(at slot: Int) {
        guard let context = state.pointee.handler?.context, state.pointee.key > 0,
            state.pointee.life.isStored, let row = lastRow, row.tells(slot),
            destinationKey(at: slot) == row.integer(at: slot), !context.hasFailure(of: self, at: slot)
        else { return }
        reportFailure(at: slot, row.isNull(at: slot) ? ReadFailures.MissingValue() : ReadFailures.RowIsGone())
    }

    private func reportFailure(at slot: Int, _ cause: any Error) {
        guard let handler = state.pointee.handler else { return }
        handler.readFailures?.add(
            .init(entityIndex: handler.entity.index, key: state.pointee.key, slot: slot, cause: cause)
        )
    }
}
