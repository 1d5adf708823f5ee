extension ManagedObjectContext {
    /// Calls a closure with the objects that match a request, in its order and in batches, so that any number of
    /// objects is processed in bounded memory.
    ///
    /// ```swift
    /// try context.enumerate(request, batchSize: 1_000) { (books: [ManagedObject]) in
    ///     for book in books { book["price"] = .real(0) }
    ///     try context.save()
    /// }
    /// ```
    ///
    /// The objects and their order are determined at the beginning, from the saved state and the context's unsaved
    /// changes; the values are read with each batch. Regardless of the objects that `body` changes, inserts, deletes or
    /// saves, no object occurs twice and none is skipped. An object that no longer matches is included. An object that
    /// is inserted, or deleted before its batch, during the enumeration is not included.
    ///
    /// After its batch an object is released, unless it has other references. The context retains objects with unsaved
    /// changes: a `body` that changes objects should save them.
    ///
    /// The relationships to prefetch are prefetched for each batch.
    ///
    /// - Parameters:
    ///   - request: The objects and their order.
    ///   - batchSize: The number of objects in a batch; the last batch may be smaller, and so is a batch with deleted
    ///     objects.
    ///   - body: Called with each batch.
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if values could not be read, before the next batch or at the end;
    ///   errors of the store; errors of `body`, which end the enumeration.
    /// - Complexity: one statement for all objects, and one for each batch; eight bytes of memory for each result (some
    ///   forty while they are sorted) and the memory of the objects of a few batches. If unsaved changes affect the
    ///   results, all objects are in memory once at the beginning: save first.
    public func enumerate<T: GraphObject>(
        _ request: FetchRequest,
        batchSize: Int = 1000,
        _ body: ([T]) throws -> Void
    ) throws {
        precondition(batchSize > 0, "a batch has at least one object")
        precondition(
            coordinator.objectTypes[request.entity.index] is T.Type,
            "objects of entity '\(request.entity.name)' are not of class '\(T.self)'"
        )
        let keys = try fetchIDs(request).map(\.key)
        // A save replaces the keys of these objects.
        var new: [Int64: any GraphObject] = [:]
        for key in keys where key < 0 { new[key] = identityMap.object(forKey: key, of: request.entity) }
        for start in stride(from: 0, to: keys.count, by: batchSize) {
            commitMerger.mergeCommits()
            // Reports the values of the previous batch that `body` could not read.
            try reportReadFailures()
            let batch: [T] = try objects(keys[start..<start + min(batchSize, keys.count - start)], for: request, new)
            guard !batch.isEmpty else { continue }
            try loader.prefetch(request.relationshipKeyPathsForPrefetching, from: batch)
            try reportReadFailures()
            try body(batch)
        }
        try reportReadFailures()
    }

    /// The objects with the given keys, in their order, without deleted objects. Saved objects are fetched with one
    /// request.
    private func objects<T: GraphObject>(
        _ keys: ArraySlice<Int64>,
        for request: FetchRequest,
        _ new: [Int64: any GraphObject]
    ) throws -> [T] {
        let saved: [T] = try savedObjects(new.isEmpty ? Array(keys) : keys.filter { $0 > 0 }, for: request)
        deletePropagation.run()
        if saved.count == keys.count, zip(saved, keys).allSatisfy({ $0.state.pointee.key == $1 }) {
            return saved.filter { !$0.life.isDeletedOrMissing }
        }
        let entity = request.entity
        var objects = new
        for object in saved { objects[object.state.pointee.key] = object }
        return keys.compactMap { key in
            objects[key].flatMap {
                $0.isObjectDeleted || !$0.entity.isKind(of: entity) ? nil : unsafeDowncast($0, to: T.self)
            }
        }
    }

    /// The saved objects with the given keys, with the properties that the request reads.
    private func savedObjects<T: GraphObject>(_ keys: [Int64], for request: FetchRequest) throws -> [T] {
        guard !keys.isEmpty else { return [] }
        guard request.makesFaults else {
            let ids = keys.map { identityMap.id(entity: request.entity, key: $0) }
            return loader.materialize(
                try loader.stores.rows(of: request.entity, with: ids),
                as: T.self
            )
        }
        var batch = FetchRequest(request.entity, predicate: .isMember(.variable(0), of: keys.map(Value.integer)))
        batch.includesPendingChanges = false
        batch.propertiesToFetch = request.propertiesToFetch
        batch.includesPropertyValues = request.includesPropertyValues
        batch.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        return loader.materializeFaults(try loader.rows(for: batch), for: batch).map { unsafeDowncast($0, to: T.self) }
    }
}
