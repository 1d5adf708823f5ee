extension ManagedObjectContext {
    /// The objects that fit a request, in its order.
    ///
    /// Unsaved changes take part, unless the request says otherwise: changed objects are checked against the condition
    /// as they are now, and put into the place where they belong.
    ///
    /// - Throws: what the store throws.
    /// - Complexity: one statement; O(1) for each result.
    public func fetch<T: GraphObject>(_ request: FetchRequest, as type: T.Type = T.self) throws -> [T] {
        takeInSavedChanges()
        propagateDeletes()
        precondition(
            coordinator.objectTypes[request.entity.index] is T.Type,
            "objects of entity '\(request.entity.name)' are not of class '\(T.self)'"
        )
        if request.includesPendingChanges, hasPendingChanges(in: request.entity) {
            return try fetchWithPendingChanges(request).map { unsafeDowncast($0, to: T.self) }
        }
        return materialize(try rows(for: request), as: T.self)
    }

    /// How many objects fit a request; its limit and offset count.
    ///
    /// - Throws: what the store throws.
    public func count(_ request: FetchRequest) throws -> Int {
        takeInSavedChanges()
        propagateDeletes()
        if request.includesPendingChanges, hasPendingChanges(in: request.entity) {
            return try fetchWithPendingChanges(request).count
        }
        guard case .count(let count) = try store(for: request.entity).execute(.count(request), with: self) else {
            preconditionFailure("the store answered a count with something else")
        }
        return count
    }

    /// The identifiers of the objects that fit a request, in its order.
    ///
    /// - Throws: what the store throws.
    public func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        takeInSavedChanges()
        propagateDeletes()
        if request.includesPendingChanges, hasPendingChanges(in: request.entity) {
            return try fetchWithPendingChanges(request).map(\.managedObjectID)
        }
        guard case .ids(let ids) = try store(for: request.entity).execute(.fetchIDs(request), with: self) else {
            preconditionFailure("the store answered a fetch of identifiers with something else")
        }
        return ids
    }

    private func rows(for request: FetchRequest) throws -> RowBatch {
        guard case .rows(let rows) = try store(for: request.entity).execute(.fetch(request), with: self) else {
            preconditionFailure("the store answered a fetch with something else")
        }
        return rows
    }

    // MARK: Pending changes

    private func hasPendingChanges(in entity: Entity) -> Bool {
        guard insertedCount + updatedCount + deletedCount > 0 else { return false }
        return pendingObjects(in: entity).contains { _ in true }
    }

    /// The new, changed and deleted objects that share a root with an entity.
    private func pendingObjects(in entity: Entity) -> some Sequence<any GraphObject> {
        let pending: ObjectFlags = [.inserted, .updated, .deleted]
        return [insertedList, updatedList, deletedList].lazy.joined().filter {
            !$0._$state.flags.isDisjoint(with: pending) && $0.entity.rootIndex == entity.rootIndex
        }
    }

    /// Fetches from the store without regard to the changed objects, and puts those of them that fit in their places.
    private func fetchWithPendingChanges(_ request: FetchRequest) throws -> [any GraphObject] {
        var pending: [any GraphObject] = []
        var pendingKeys: Set<Int64> = []
        for object in pendingObjects(in: request.entity) where pendingKeys.insert(object._$state.key).inserted {
            pending.append(object)
        }
        var stored = request
        stored.offset = 0
        // As many more as could turn out to be changed or deleted.
        stored.limit = request.limit.map { limit in
            let (sum, overflow) = limit.addingReportingOverflow(request.offset)
            let (total, overflow2) = sum.addingReportingOverflow(pending.count)
            return overflow || overflow2 ? Int.max : total
        }
        let evaluator = QueryEvaluator()
        let saved = materialize(try rows(for: stored)).filter { !pendingKeys.contains($0._$state.key) }
        let fitting = try pending.filter { object in
            guard !object._$state.flags.contains(.deleted) else { return false }
            guard
                request.includesSubentities ? object.entity.isKind(of: request.entity) : object.entity == request.entity
            else { return false }
            return try request.predicate.map { try evaluator.isTrue($0, for: object) } ?? true
        }
        var result = try evaluator.merge(saved, fitting, by: request.sort)
        if request.offset > 0 { result.removeFirst(min(request.offset, result.count)) }
        if let limit = request.limit, limit < result.count { result.removeLast(result.count - limit) }
        return result
    }
}
