extension ManagedObjectContext {
    /// Inserts rows into the store without creating objects.
    ///
    /// Like all batch requests it is saved directly, in one transaction, independently of the context's unsaved
    /// changes, and ``rollback()`` does not undo it. Its changes are merged into this context and the coordinator's
    /// other contexts.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` if required values are missing or values are out of their bounds;
    ///   ``ObjectGraphError/notUnique(_:)``; ``ObjectGraphError/conflicts(_:)`` with the destinations of relationships
    ///   that do not exist; ``ObjectGraphError/storeIsReadOnly``; errors of the store and of the request's closure. In
    ///   these cases nothing is inserted.
    @discardableResult
    public func execute(_ request: BatchInsertRequest) throws -> BatchResult {
        let insertion = try BatchInsertion(request)
        return try executeBatch(insertion, request.resultType)
    }

    /// Changes objects in the store. Afterwards, registered objects without changes have their new values; objects with
    /// unsaved changes conflict when they are saved.
    ///
    /// - Throws: as ``execute(_:)-(BatchInsertRequest)``, and ``QueryError`` if a value cannot be computed. In these
    ///   cases nothing is changed.
    @discardableResult
    public func execute(_ request: BatchUpdateRequest) throws -> BatchResult {
        try request.validate()
        return try executeBatch(request, request.resultType)
    }

    /// Deletes objects in the store. Afterwards, registered objects count as deleted and keep their last values;
    /// objects with unsaved changes conflict when they are saved.
    ///
    /// - Throws: ``ObjectGraphError/validation(_:)`` if a delete rule does not allow it;
    ///   ``ObjectGraphError/storeIsReadOnly``; errors of the store. In these cases nothing is deleted.
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
        commitMerger.mergeCommits()
        var commit = Commit(.batch)
        let changes = try pinnedGeneration.advancing(merging: commitMerger.mergeCommits) {
            let changes: BatchChanges
            do {
                changes = try loader.stores.execute(request)
            } catch let conflict as SaveConflict {
                throw ObjectGraphError(conflict)
            }
            commit = Commit(changes, of: request.entity, changing: request.changedSlots)
            commitMerger.merge(commit)
            return changes
        }
        // A parent has announced the changes of its child.
        if parent == nil { commitMerger.announce(commit, from: origin) } else { commitMerger.noteMerged(commit) }
        changeCollector.deliver()
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
