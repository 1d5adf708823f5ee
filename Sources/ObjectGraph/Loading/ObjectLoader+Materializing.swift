extension ObjectLoader {
    /// The objects of rows, in their order: for each row the registered object, or a new object.
    func materialize(_ batch: RowBatch) -> [any GraphObject] {
        // The object of a row is of the row's entity: see `IdentityMap.keeps`.
        zip(batch, materializeReferences(batch)).map { row, object in
            identityMap.handlers[row.entityIndex].graphObject(object)
        }
    }

    /// The objects of rows as references.
    func materializeReferences(_ batch: RowBatch) -> [AnyObject] {
        // The storage that all empty arrays share must not be written to.
        guard batch.count > 0 else { return [] }
        return [AnyObject](unsafeUninitializedCapacity: batch.count) { buffer, count in
            materialize(batch, into: buffer)
            count = batch.count
        }
    }

    /// The objects of rows, of a known class.
    func materialize<T: GraphObject>(_ batch: RowBatch, as type: T.Type) -> [T] {
        guard batch.count > 0 else { return [] }
        guard areObjects(of: batch, of: type) else { return materialize(batch).compactMap { $0 as? T } }
        return [T](unsafeUninitializedCapacity: batch.count) { buffer, count in
            // The class does not affect the representation of a reference. Without generic code, the loop is as fast as
            // possible.
            buffer.withMemoryRebound(to: AnyObject.self) { materialize(batch, into: $0) }
            count = batch.count
        }
    }

    /// Whether the objects of rows are of a class. They are, if the store returns only rows of the requested entity.
    private func areObjects<T: GraphObject>(of batch: RowBatch, of type: T.Type) -> Bool {
        var checked = SlotSet()
        for row in batch where !checked.contains(row.entityIndex) {
            checked.insert(row.entityIndex)
            let objectType = identityMap.handlers[row.entityIndex].objectType
            guard objectType == type || objectType is T.Type else { return false }
            // All rows are of this entity.
            let entity = identityMap.handlers[row.entityIndex].entity
            if entity.isRoot, entity.subentities.isEmpty { return true }
        }
        return true
    }

    /// Registers an object for each row and writes it to uninitialized memory.
    private func materialize(_ batch: RowBatch, into objects: UnsafeMutableBufferPointer<AnyObject>) {
        guard let firstRow = batch.first(where: { _ in true }), var object = objects.baseAddress else { return }
        let identityMap = identityMap
        let handlers = identityMap.handlers
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
                    if let found = table.object(forKey: key), identityMap.keeps(found, key, for: Row.entityIndex(words))
                    {
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
        unloadMembersOfSources()
        // Called last, since an object may call the context.
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
    }

    /// The objects of the rows of a request, in their order. If the request reads only some properties, or asks for
    /// faults, they are faults that the rows can fill.
    ///
    /// - Precondition: The request's ``FetchRequest/makesFaults`` is true.
    func materializeFaults(_ batch: RowBatch, for request: FetchRequest) -> [any GraphObject] {
        var objects: [any GraphObject] = []
        objects.reserveCapacity(batch.count)
        let handlers = identityMap.handlers
        let table = handlers[request.entity.index].table
        table.reserve(batch.count)
        let readTime = CachedRow.currentTime
        var awakened: [any GraphObject] = []
        for row in batch {
            let cached = CachedRow(row, readTime: readTime)
            // A store may have read all properties.
            let isFault = cached.isPartial || request.returnsObjectsAsFaults
            if let found = table.object(forKey: row.key), identityMap.keeps(found, row.key, for: row.entityIndex) {
                let known = handlers[found.entity].graphObject(found.object)
                if isFault {
                    known.adopt(cached)
                } else if known.adopt(refetched: row) {
                    awakened.append(known)
                }
                objects.append(known)
                continue
            }
            let handler = handlers[row.entityIndex]
            var state = ObjectState(handler: handler, key: row.key)
            if isFault {
                let changes = ObjectChanges.make(slotCount: handler.entity.slotCount)
                changes.cachedRow = cached
                state.changes = changes
            } else {
                state.row = row
            }
            let object = handler.makeObject(state)
            handler.table.insert(object, forKey: row.key, entity: row.entityIndex)
            objects.append(object)
            if !isFault { awakened.append(object) }
        }
        unloadMembersOfSources()
        // Called last, since an object may call the context.
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
        return objects
    }
}
