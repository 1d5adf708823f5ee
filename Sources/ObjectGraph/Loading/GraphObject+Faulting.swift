extension GraphObject {
    /// Fills a fault: with the row that it has at hand, else from the store, together with the objects that were fetched with
    /// it. An object whose row has vanished keeps its last known values, or has none, and is marked.
    ///
    /// Never throws: a store that cannot be read leaves the fault as it is, and the values read as empty; the next fetch or
    /// save of the context reports the store's error.
    func fireFault() {
        guard state.pointee.chunk == nil, let context = state.pointee.handler?.context, state.pointee.key > 0,
            state.pointee.life.canBeFilled
        else { return }
        guard let cached = cachedRow else { return context.fillFaults([self]) }
        guard cached.isPartial || cached.isStale(after: context.stalenessInterval) else {
            replaceRow(by: cached.row)
            withLifecycle?.awakeFromFetch()
            return
        }
        context.fillFaults(context.faults(fetchedWith: self))
    }

    /// The value of an attribute's slot, or the key of a to-one relationship's destination.
    @usableFromInline
    func slotValue(_ slot: Int) -> SlotValue {
        completeStateIfNeeded()
        if let changes = state.pointee.changes {
            let changed = changes[slot]
            if !changed.isUnset { return changed }
        }
        guard let row = row(telling: slot), slot < row.slotCount else { return .value(.null) }
        return .value(row.value(at: slot))
    }

    /// The row, which a fault takes in unless it has the value in a slot at hand without the others. Where there is none, it
    /// is what was last known.
    private func row(telling slot: Int) -> Row? {
        if let row = state.pointee.row { return row }
        if let cached = cachedRow, cached.isPartial, cached.row.tells(slot) { return cached.row }
        fireFault()
        let last = lastRow
        if last?.tells(slot) != true { reportLoss(at: slot) }
        return last
    }

    /// The key of the destination of a to-one relationship; 0 where it has none.
    func destinationKey(at slot: Int) -> Int64 {
        if let changes = state.pointee.changes, case .value(let value) = changes[slot] {
            if case .integer(let key) = value { return key }
            return 0
        }
        guard let row = row(telling: slot), slot < row.slotCount else { return 0 }
        return row.integer(at: slot)
    }
}

extension ManagedObjectContext {
    /// A fault, and those that were fetched together with it and are not filled yet.
    fileprivate func faults(fetchedWith object: any GraphObject) -> [any GraphObject] {
        var faults = [object]
        guard let chunk = object.neighbours else { return faults }
        for index in 0..<chunk.rowCount {
            let row = chunk.row(at: index)
            guard let known = knownObject(forKey: row.key, of: model.entities[row.entityIndex]), known !== object,
                known.isFault, known.lastRow?.chunk === chunk,
                known.life.canBeFilled
            else { continue }
            faults.append(known)
        }
        return faults
    }

    /// Fills faults of one inheritance with one request. Those that have no row any more are marked.
    func fillFaults(_ faults: [any GraphObject]) {
        guard let first = faults.first else { return }
        let ids = faults.map { id(entity: $0.entity, key: $0.state.pointee.key) }
        let found = reading(for: first) { try store(for: first.entity).newValuesForObjects(with: ids, with: self) }
        guard let rows = found else { return }
        var missing = Dictionary(faults.map { ($0.state.pointee.key, $0) }, uniquingKeysWith: { first, _ in first })
        var awakened: [any GraphObject] = []
        for row in rows {
            guard let object = missing.removeValue(forKey: row.key) else { continue }
            if object.adopt(refetched: row) { awakened.append(object) }
        }
        if !missing.isEmpty { deletionStamp &+= 1 }
        for (_, object) in missing { object.life.markMissing() }
        for object in awakened { object.withLifecycle?.awakeFromFetch() }
    }

    /// Fetches the object that a to-one relationship of `object` leads to, which is not here yet.
    ///
    /// The destinations of the objects that were fetched together with `object` are fetched with it, so that walking a
    /// relationship over many objects costs a few statements.
    func destination(of relationship: Relationship, key: Int64, from object: any GraphObject) -> (any GraphObject)? {
        guard key > 0 else { return nil }
        let keys = object.neighbours.map { missingDestinations(of: relationship, in: $0, and: key) } ?? [key]
        let ids = keys.map { id(entity: relationship.destination, key: $0) }
        let found = reading(for: object, relationship) {
            try store(for: relationship.destination).newValuesForObjects(with: ids, with: self)
        }
        guard let rows = found else { return nil }
        // The objects must outlive the sweep that registering them may cause.
        return withExtendedLifetime(materializeReferences(rows)) {
            knownDestination(forKey: key, of: relationship)
        }
    }

    /// The keys of the destinations of rows that are not here yet, and one more key; each once, in their order.
    private func missingDestinations(of relationship: Relationship, in chunk: RowChunk, and key: Int64) -> [Int64] {
        let table = handlers[relationship.destination.index].table
        let isSource = model.entities.map { $0.isKind(of: relationship.source) }
        var keys = [key]
        for index in 0..<chunk.rowCount {
            let row = chunk.row(at: index)
            guard isSource[row.entityIndex] else { continue }
            let neighbour = row.integer(at: relationship.slot)
            // Rows that lead to the same destination mostly stand together.
            guard neighbour > 0, neighbour != keys[keys.count - 1], !table.contains(neighbour) else { continue }
            keys.append(neighbour)
        }
        keys.sort()
        var unique: [Int64] = []
        for key in keys where key != unique.last { unique.append(key) }
        return unique
    }

    /// Loads the members of a to-many relationship of `object`, and of the objects that were fetched together with it.
    ///
    /// - Returns: the members as far as the store read their rows on the way.
    func loadMembers(of relationship: Relationship, for object: any GraphObject) -> [AnyObject] {
        var owners: [Int64: any GraphObject] = [object.state.pointee.key: object]
        if let chunk = object.neighbours {
            let table = handlers[relationship.source.index].table
            for index in 0..<chunk.rowCount {
                let row = chunk.row(at: index)
                guard model.entities[row.entityIndex].isKind(of: relationship.source),
                    let found = table.object(forKey: row.key)
                else { continue }
                let owner = handlers[found.entity].graphObject(found.object)
                if let members = owner.state.pointee.changes?.members(at: relationship.slot), members.isLoaded {
                    continue
                }
                if owner.life.canBeFilled { owners[row.key] = owner }
            }
        }
        let ids = owners.keys.sorted().map { id(entity: relationship.source, key: $0) }
        let found = reading(for: object, relationship) {
            try store(for: relationship.source).newValues(
                forRelationship: relationship,
                forObjectsWith: ids,
                with: self
            )
        }
        guard let result = found else { return [] }
        let objects = materializeReferences(result.rows)
        for (key, range) in result.owners {
            guard let owner = owners.removeValue(forKey: key) else { continue }
            owner.members(of: relationship).load(result.members[range])
        }
        for owner in owners.values { owner.members(of: relationship).load(EmptyCollection()) }
        return objects
    }

    /// The objects with identifiers of one inheritance, in their order: those that are not here yet are fetched with one
    /// request. One that the store does not have is a fault that counts as deleted when it is read.
    ///
    /// - Precondition: The model has the identifiers' entity.
    public func objects(with ids: some Collection<ManagedObjectID>) -> [any GraphObject] {
        takeInSavedChanges()
        guard let entity = ids.first.flatMap({ model.entitiesByName[$0.entity.name] }) else { return [] }
        let fetched = objects(with: ids.map(\.key), of: model.root(of: entity))
        return withExtendedLifetime(fetched) { ids.map(object) }
    }

    /// The objects with keys, in their order; those that are not here yet are fetched with one request. Objects that
    /// are deleted or do not exist are left out.
    func objects(with keys: some Sequence<Int64>, of entity: Entity) -> [any GraphObject] {
        var objects: [any GraphObject] = []
        objects.reserveCapacity(keys.underestimatedCount)
        forEachObject(with: keys, of: entity) { handler, object in
            objects.append(handler.graphObject(object.takeUnretainedValue()))
        }
        return objects
    }

    /// Calls `body` with each of the same objects and its handler, which costs less than to make an array of them.
    @inline(__always)
    func forEachObject(
        with keys: some Sequence<Int64>,
        of entity: Entity,
        _ body: (FaultHandler, Unmanaged<AnyObject>) -> Void
    ) {
        let table = handlers[entity.index].table
        var missing: [Int64] = []
        for key in keys where key > 0 && !table.contains(key) { missing.append(key) }
        // Those that are here must outlive the sweep that registering the others may cause.
        let present = missing.isEmpty ? [] : keys.compactMap { table.object(forKey: $0)?.object }
        let fetched = fetchObjects(with: missing, of: entity)
        var knownKind = entity.index
        for key in keys {
            guard let found = table.borrowedObject(forKey: key) else { continue }
            if found.entity != knownKind {
                // Another entity has taken the key in a damaged store.
                guard model.entities[found.entity].isKind(of: entity) else { continue }
                knownKind = found.entity
            }
            handlers.borrowed(at: found.entity)._withUnsafeGuaranteedRef { handler in
                if !handler.state(of: found.object).pointee.life.isGone { body(handler, found.object) }
            }
        }
        withExtendedLifetime((present, fetched)) {}
    }

    /// The objects with keys that are not here yet, as far as there are such.
    private func fetchObjects(with keys: [Int64], of entity: Entity) -> [AnyObject] {
        guard let first = keys.first else { return [] }
        let ids = keys.map { id(entity: entity, key: $0) }
        let rows = reading(entity, key: first) {
            try store(for: entity).newValuesForObjects(with: ids, with: self)
        }
        return rows.map(materializeReferences) ?? []
    }
}
