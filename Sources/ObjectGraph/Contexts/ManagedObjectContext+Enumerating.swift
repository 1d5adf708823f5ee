extension ManagedObjectContext {
    /// Goes through the objects that fit a request in its order, a batch at a time, so that any number of them can be
    /// looked at in bounded memory.
    ///
    /// ```swift
    /// try context.enumerate(request, batchSize: 1_000) { (books: [ManagedObject]) in
    ///     for book in books { book["price"] = .real(0) }
    ///     try context.save()
    /// }
    /// ```
    ///
    /// Which objects come, and in which order, is settled at the beginning, from what is saved and the context's
    /// unsaved changes; the values are those at the time of the batch. So whatever `body` changes, inserts, deletes or
    /// saves, no object comes twice and none that was there is passed over: one whose values do not fit any more comes
    /// nevertheless, one that was deleted meanwhile does not, and neither does one that is new.
    ///
    /// After its batch an object is let go, unless somebody refers to it. The context itself refers to objects with
    /// unsaved changes, so that a `body` that changes objects had better save them.
    ///
    /// What the request says should be prefetched is prefetched for each batch.
    ///
    /// - Parameters:
    ///   - request: Which objects, and in which order.
    ///   - batchSize: The number of objects that `body` is given at once; the last ones may be fewer, and so are those
    ///     of a batch of which some were deleted.
    ///   - body: What to do with a batch.
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if values could not be read, before the next batch or in the end;
    ///   what the store throws; what `body` throws, which ends the enumeration.
    /// - Complexity: a statement for all, and one for each batch; memory of eight bytes for each result (some forty
    ///   while they are being put in order) and of the objects of a few batches. Where the context has unsaved changes
    ///   that have a say in the results, all objects are in memory once at the beginning: save before.
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
        // A save gives them other keys.
        var new: [Int64: any GraphObject] = [:]
        for key in keys where key < 0 { new[key] = identityMap.object(forKey: key, of: request.entity) }
        for start in stride(from: 0, to: keys.count, by: batchSize) {
            remoteChanges.mergeAnnouncements()
            // What `body` could not read of the batch before is reported here.
            try reportReadFailures()
            let batch: [T] = try objects(keys[start..<start + min(batchSize, keys.count - start)], for: request, new)
            guard !batch.isEmpty else { continue }
            try loader.prefetch(request.relationshipKeyPathsForPrefetching, from: batch)
            try reportReadFailures()
            try body(batch)
        }
        try reportReadFailures()
    }

    /// The objects with keys in their order, the saved ones fetched with one request; those that are deleted are left
    /// out.
    private func objects<T: GraphObject>(
        _ keys: ArraySlice<Int64>,
        for request: FetchRequest,
        _ new: [Int64: any GraphObject]
    ) throws -> [T] {
        let saved: [T] = try savedObjects(new.isEmpty ? Array(keys) : keys.filter { $0 > 0 }, for: request)
        deletePropagation.run()
        if saved.count == keys.count, zip(saved, keys).allSatisfy({ $0.state.pointee.key == $1 }) {
            return saved.filter { !$0.life.isGone }
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

    /// The saved objects with keys, with what the request reads of them.
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
