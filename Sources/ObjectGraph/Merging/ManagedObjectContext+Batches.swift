extension ManagedObjectContext {
    /// Inserts objects into the store without making objects of them.
    ///
    /// Like all batch requests it is saved at once, in one transaction, without regard to the context's unsaved changes,
    /// and cannot be undone by ``rollback()``. This context and the coordinator's others take its effects in by
    /// themselves.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` where required values are missing or others out of their bounds;
    ///   ``ObjectGraphError/notUnique(_:)``; ``ObjectGraphError/conflicts(_:)`` with the destinations of
    ///   relationships that do not exist; ``ObjectGraphError/storeIsReadOnly``; what the store and the request's closure
    ///   throw. Nothing is inserted then.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
        let insertion = try BatchInsertion(request)
        return try executeBatch(insertion, request.resultType)
    }

    /// Changes objects in the store. Registered objects without changes show their new values afterwards; those that were
    /// changed here conflict when they are saved.
    ///
    /// - Throws: as ``execute(_:)-(BatchInsertRequest)``, and ``QueryError`` where a value cannot be computed. Nothing is
    ///   changed then.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
        try request.validate()
        return try executeBatch(request, request.resultType)
    }

    /// Deletes objects in the store. Registered ones count as deleted afterwards and keep their last values; those that
    /// were changed here conflict when they are saved.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` where a delete rule does not allow it;
    ///   ``ObjectGraphError/storeIsReadOnly``; what the store throws. Nothing is deleted then.
    @discardableResult
    public func execute(_ request: BatchDeleteRequest) throws -> BatchResult {
        try request.validate()
        return try executeBatch(request, request.resultType)
    }

    private func executeBatch(_ request: some BatchRequest, _ type: BatchResultType) throws -> BatchResult {
        let changes = try executeBatch(request)
        switch type {
        case .statusOnly: return .statusOnly
        case .count: return .count(changes.count)
        case .objectIDs: return .objectIDs(ids(of: changes, request.entity))
        }
    }

    /// Executes a batch request of this context, or of the child with inbox `origin`.
    func executeBatch(_ request: some BatchRequest, from origin: ContextInbox? = nil) throws -> BatchChanges {
        takeInSavedChanges()
        let changes = try advancingGeneration {
            let changes: BatchChanges
            do {
                changes = try store(for: request.entity).execute(request, with: self)
            } catch let conflict as SaveConflict {
                throw ObjectGraphError(conflict)
            }
            merge(changes)
            return changes
        }
        // What a child did its parent has told the others.
        if parent == nil { announce(.batch(changes), from: origin) }
        return changes
    }

    private func ids(of changes: BatchChanges, _ entity: Entity) -> [ManagedObjectID] {
        let uuid = coordinator.storeUUID(for: entity)
        return changes.inserted.joined().map { ManagedObjectID(entity: entity, storeUUID: uuid, key: $0) }
            + (changes.updated + changes.deleted).flatMap { list in
                list.keys.map { ManagedObjectID(entity: list.entity, storeUUID: uuid, key: $0) }
            }
    }

    // MARK: Merging

    /// Takes in what a batch request changed, here or in another context.
    func merge(_ changes: BatchChanges) {
        deletionStamp &+= 1
        for list in changes.updated { readAgain(list) }
        for list in changes.deleted {
            for key in list.keys {
                if let object = knownObject(forKey: key, of: list.entity) { markDeletedElsewhere(object) }
            }
            for relationship in model.relationships
            where relationship.isToMany && relationship.destination.rootIndex == list.entity.rootIndex {
                unloadAllMembers(of: relationship)
            }
        }
        for relationship in changes.relationships {
            if let inverse = relationship.inverse, inverse.isToMany { unloadAllMembers(of: inverse) }
        }
    }

    /// Reads the registered objects among changed ones again, with a few statements. What cannot be read stays as it is,
    /// and the next fetch or save reports it.
    private func readAgain(_ changed: BatchChanges.Keys) {
        let stale = changed.keys.compactMap { knownObject(forKey: $0, of: changed.entity) }
            .filter { $0.lastRow != nil && !$0.life.isMissing }
        guard !stale.isEmpty else { return }
        let ids = stale.map { id(entity: changed.entity, key: $0.state.pointee.key) }
        let rows = reading(for: stale[0]) { try store(for: changed.entity).newValuesForObjects(with: ids, with: self) }
        for row in rows ?? RowBatch() { knownObject(forKey: row.key, of: changed.entity)?.adopt(refetched: row) }
    }

    /// Has the members of a relationship read anew, whichever object's they are.
    func unloadAllMembers(of relationship: Relationship) {
        for found in handlers[relationship.source.index].table.all {
            let object = handlers[found.entity].graphObject(found.object)
            guard object.entity.isKind(of: relationship.source) else { continue }
            object.unloadMembers(of: relationship)
        }
    }
}
