extension ManagedObjectContext {
    /// The objects of rows, in their order: for each the one object that stands for it, made where there is none.
    func materialize(_ batch: RowBatch) -> [any GraphObject] {
        zip(batch, materializeReferences(batch)).map { row, object in
            let entity = handlers[row.entityIndex].table.object(forKey: row.key)?.entity ?? row.entityIndex
            return handlers[entity].graphObject(object)
        }
    }

    /// The same for who needs the references only.
    func materializeReferences(_ batch: RowBatch) -> [AnyObject] {
        // The storage that all empty arrays share is not to be written to.
        guard batch.count > 0 else { return [] }
        return [AnyObject](unsafeUninitializedCapacity: batch.count) { buffer, count in
            materialize(batch, into: buffer)
            count = batch.count
        }
    }

    /// The same with the class known.
    func materialize<T: GraphObject>(_ batch: RowBatch, as type: T.Type) -> [T] {
        guard batch.count > 0 else { return [] }
        return [T](unsafeUninitializedCapacity: batch.count) { buffer, count in
            // A reference looks the same whatever the class. Without generic code in between, the loop is as fast as it can be.
            buffer.withMemoryRebound(to: AnyObject.self) { materialize(batch, into: $0) }
            count = batch.count
        }
    }

    /// The place where rows become objects.
    private func materialize(_ batch: RowBatch, into objects: UnsafeMutableBufferPointer<AnyObject>) {
        guard let firstRow = batch.first(where: { _ in true }), var object = objects.baseAddress else { return }
        var handler = handlers[firstRow.entityIndex]
        var entityIndex = handler.entity.index
        let table = handler.table
        table.reserve(batch.count)
        var awakened: [any GraphObject] = []
        var entry = PendingState.Entry(stateClass: nil, state: ObjectState(handler: handler, key: 0))
        PendingState.with(&entry) { entry in
            for chunk in batch.chunks {
                entry.pointee.state.chunk = chunk
                for index in 0..<chunk.rowCount {
                    let offset = chunk.offset(at: index)
                    let words = UnsafePointer(chunk.base + Int(offset))
                    let key = Row.key(words)
                    if let found = table.object(forKey: key) {
                        let row = Row(chunk: chunk, offset: offset)
                        let known = handlers[found.entity].graphObject(found.object)
                        if known.adopt(refetched: row), handlers[found.entity].hasLifecycle { awakened.append(known) }
                        object.initialize(to: found.object)
                    } else {
                        if Row.entityIndex(words) != entityIndex {
                            entityIndex = Row.entityIndex(words)
                            handler = handlers[entityIndex]
                            entry.pointee.state.handler = handler
                        }
                        entry.pointee.state.key = key
                        entry.pointee.state.rowOffset = offset
                        object.initialize(
                            to: PendingState.makeObject(handler.objectType, stateClass: handler.stateClass, entry)
                        )
                        table.insert(object.pointee, forKey: key, entity: entityIndex)
                        if handler.hasLifecycle { awakened.append(handler.graphObject(object.pointee)) }
                    }
                    object += 1
                }
            }
        }
        // Only now, since an object may do anything.
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
    }
}

extension GraphObject {
    /// Takes in a row that was fetched again: a fault is filled, and an unchanged object brought up to date.
    ///
    /// - Returns: whether the object was a fault.
    @discardableResult
    func adopt(refetched row: Row) -> Bool {
        guard let current = state.pointee.row else {
            guard state.pointee.flags.isDisjoint(with: [.inserted, .vanished]) else { return false }
            if let cached = cachedRow, row.isOlder(than: cached.row) { return false }
            replaceRow(by: row)
            return true
        }
        guard current.isOlder(than: row) else {
            if state.pointee.handler?.context?.parent != nil { adopt(answered: row) }
            return false
        }
        if state.pointee.flags.isDisjoint(with: [.updated, .deleted]) {
            replaceRow(by: row)
            // A later version of an object that was deleted: somebody has undone that.
            comeBack()
        } else {
            state.pointee.flags.insert(.outdated)
        }
        return false
    }

    /// Takes in what the context's parent says of the object now. There is no later state, whatever the version, and no
    /// conflict: the object's own changes go before it.
    private func adopt(answered row: Row) {
        guard !state.pointee.flags.contains(.inserted) else { return }
        replaceRow(by: row)
        if state.pointee.flags.isDisjoint(with: [.updated, .deleted]) { comeBack() }
    }

    /// Takes note that the object is in the store, whether or not it was gone.
    private func comeBack() {
        guard state.pointee.flags.contains(.vanished) else { return }
        state.pointee.flags.subtract([.vanished, .deletionSaved])
        for relationship in entity.relationships where relationship.isToMany { unloadMembers(of: relationship) }
    }
}
