extension ManagedObjectContext {
    /// Inserts objects into the store without making objects of them.
    ///
    /// Like all batch requests it is saved at once, in one transaction, independent of the context's unsaved changes,
    /// and cannot be undone by ``rollback()``. Its effects are merged into this context and the coordinator's others.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` if required values are missing or others out of their bounds;
    ///   ``ObjectGraphError/notUnique(_:)``; ``ObjectGraphError/conflicts(_:)`` with the destinations of
    ///   relationships that do not exist; ``ObjectGraphError/storeIsReadOnly``; errors of the store and of the
    ///   request's closure. Nothing is inserted then.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
        let insertion = try BatchInsertion(request)
        return try executeBatch(insertion, request.resultType)
    }

    /// Changes objects in the store. Registered objects without changes show their new values afterwards; those that
    /// were changed here conflict when they are saved.
    ///
    /// - Throws: as ``execute(_:)-(BatchInsertRequest)``, and ``QueryError`` if a value cannot be computed. Nothing is
    ///   changed then.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
        try request.validate()
        return try executeBatch(request, request.resultType)
    }

    /// Deletes objects in the store. Registered ones count as deleted afterwards and keep their last values; those that
    /// were changed here conflict when they are saved.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` if a delete rule does not allow it;
    ///   ``ObjectGraphError/storeIsReadOnly``; errors of the store. Nothing is deleted then.
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
        remoteChanges.mergeAnnouncements()
        let changes = try pinnedGeneration.advancing(merging: remoteChanges.mergeAnnouncements) {
            let changes: BatchChanges
            do {
                changes = try loader.stores.execute(request, of: request.entity)
            } catch let conflict as SaveConflict {
                throw ObjectGraphError(conflict)
            }
            remoteChanges.merge(changes)
            return changes
        }
        // A parent has announced the changes of its child.
        if parent == nil { remoteChanges.announce(.batch(changes), from: origin) }
        return changes
    }

    private func ids(of changes: BatchChanges, _ entity: Entity) -> [ManagedObjectID] {
        let uuid = coordinator.storeUUID(for: entity)
        return changes.inserted.joined().map { ManagedObjectID(entity: entity, storeUUID: uuid, key: $0) }
            + (changes.updated + changes.deleted).flatMap { list in
                list.keys.map { ManagedObjectID(entity: list.entity, storeUUID: uuid, key: $0) }
            }
    }
}
