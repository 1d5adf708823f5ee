extension ManagedObjectContext {
    /// The objects of rows, in their order: for each the one object that stands for it, made where there is none.
    func materialize(_ batch: RowBatch) -> [any GraphObject] {
        // The object of a row is of the row's entity: see `keeps`.
        zip(batch, materializeReferences(batch)).map { row, object in handlers[row.entityIndex].graphObject(object) }
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
        guard areObjects(of: batch, of: type) else { return materialize(batch).compactMap { $0 as? T } }
        return [T](unsafeUninitializedCapacity: batch.count) { buffer, count in
            // A reference looks the same whatever the class. Without generic code in between, the loop is as fast as it can be.
            buffer.withMemoryRebound(to: AnyObject.self) { materialize(batch, into: $0) }
            count = batch.count
        }
    }

    /// Whether the objects of rows are of a class. They are if the store asked for an entity gives rows of that entity only.
    private func areObjects<T: GraphObject>(of batch: RowBatch, of type: T.Type) -> Bool {
        var checked = SlotSet()
        for row in batch where !checked.contains(row.entityIndex) {
            checked.insert(row.entityIndex)
            let objectType = handlers[row.entityIndex].objectType
            guard objectType == type || objectType is T.Type else { return false }
            // All rows are of this entity.
            let entity = handlers[row.entityIndex].entity
            if entity.isRoot, entity.subentities.isEmpty { return true }
        }
        return true
    }

    /// Whether a registered object stands for a row of an entity with its key.
    ///
    /// An object never changes its entity. If the store has a row of another entity under its key, the object is gone, and
    /// there is another one: to read the row by the slots of the old entity would read other properties, or behind the row.
    @inline(__always)
    func keeps(_ found: IdentityTable.Found, _ key: Int64, for entityIndex: Int) -> Bool {
        if found.entity == entityIndex { return true }
        forget(found, key)
        return false
    }

    @inline(never)
    private func forget(_ found: IdentityTable.Found, _ key: Int64) {
        let handler = handlers[found.entity]
        handler.graphObject(found.object).life.markMissing()
        deletionStamp &+= 1
        handler.table.remove(key)
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
                    if let found = table.object(forKey: key), keeps(found, key, for: Row.entityIndex(words)) {
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
        guard isOfEntity(row) else { return false }
        guard let current = state.pointee.row else {
            guard state.pointee.life.canBeFilled else { return false }
            if let cached = cachedRow, row.isOlder(than: cached.row) { return false }
            replaceRow(by: row)
            return true
        }
        guard current.isOlder(than: row) else {
            if state.pointee.handler?.context?.parent != nil { adopt(answered: row) }
            return false
        }
        if !state.pointee.life.changesRow {
            replaceRow(by: row)
            // A later version of an object that was deleted: somebody has undone that.
            markPresent()
        } else {
            state.pointee.flags.insert(.outdated)
        }
        return false
    }

    /// Whether a row is of the object's entity; if it is not, the object is gone.
    func isOfEntity(_ row: Row) -> Bool {
        guard let handler = state.pointee.handler else { return false }
        if row.entityIndex == handler.entity.index { return true }
        if let context = handler.context, let found = handler.table.object(forKey: row.key), found.object === self {
            _ = context.keeps(found, row.key, for: row.entityIndex)
        }
        return false
    }

    /// Takes in what the context's parent says of the object now. There is no later state, whatever the version, and no
    /// conflict: the object's own changes go before it.
    private func adopt(answered row: Row) {
        guard !state.pointee.life.isInserted else { return }
        replaceRow(by: row)
        if !state.pointee.life.changesRow { markPresent() }
    }

    /// Records that the store has the object's row.
    private func markPresent() {
        guard state.pointee.life.isMissing else { return }
        life.markPresent()
        for relationship in entity.relationships where relationship.isToMany { unloadMembers(of: relationship) }
    }
}
