extension ManagedObjectContext {
    /// The objects that fit a request, in its order.
    ///
    /// Unsaved changes take part, unless the request says otherwise: changed objects are checked against the condition
    /// as they are now, and put into the place where they belong.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if values could not be read since the last fetch, or on the way:
    ///   each failure once. What the store throws.
    /// - Complexity: one statement, and one for each step of a path to prefetch; O(1) for each result.
    public func fetch<T: GraphObject>(_ request: FetchRequest, as type: T.Type = T.self) throws -> [T] {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        let pending = pendingChanges(for: request)
        let rows = try loader.rows(for: pending.map { stored(request, with: $0) } ?? request)
        let objects: [T] = try objects(of: rows, request, with: pending)
        try loader.prefetch(request.relationshipKeyPathsForPrefetching, from: objects)
        try reportReadFailures()
        return objects
    }

    /// The results of a request, of the rows that the store gave for it.
    ///
    /// - Precondition: The entity's objects are of the class.
    func objects<T: GraphObject>(
        of rows: RowBatch,
        _ request: FetchRequest,
        with pending: PendingChanges?
    ) throws -> [T] {
        let objectType = identityMap.handlers[request.entity.index].objectType
        precondition(
            objectType == T.self || objectType is T.Type,
            "objects of entity '\(request.entity.name)' are not of class '\(T.self)'"
        )
        guard let pending else {
            guard request.makesFaults else { return loader.materialize(rows, as: T.self) }
            return loader.materializeFaults(rows, for: request).map { unsafeDowncast($0, to: T.self) }
        }
        return try results(of: request, rows, with: pending).map { unsafeDowncast($0, to: T.self) }
    }

    /// How many objects fit a request; its limit and offset count.
    ///
    /// - Throws: as ``fetch(_:as:)``.
    public func count(_ request: FetchRequest) throws -> Int {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        if let pending = pendingChanges(for: request) {
            return try reportingReadFailures { try count(request, with: pending) }
        }
        return try loader.stores.execute(CountRequest(request), of: request.entity)
    }

    /// The identifiers of the objects that fit a request, in its order.
    ///
    /// - Throws: as ``fetch(_:as:)``.
    public func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        if let pending = pendingChanges(for: request) {
            return try reportingReadFailures { try fetch(request, with: pending).map(\.managedObjectID) }
        }
        return try ids(for: request)
    }

    private func ids(for request: FetchRequest) throws -> [ManagedObjectID] {
        try loader.stores.execute(ObjectIDFetchRequest(request), of: request.entity)
    }

    /// Returns the plan of the store for a request. Unsaved changes, which a fetch evaluates in memory, do not affect
    /// it.
    ///
    /// - Throws: errors of the store, which may not support plans.
    public func explain(_ request: FetchRequest) throws -> QueryPlan {
        try loader.stores.execute(QueryPlanRequest(request), of: request.entity)
    }

    // MARK: Pending changes

    /// The unsaved changes that have a say in the results of a request.
    struct PendingChanges {
        /// The new, changed and deleted objects that share a root with the fetched entity.
        var objects: [any GraphObject] = []
        var keys: Set<Int64> = []
        /// Whether there are changes of objects that the condition or the order looks at along relationships, so that
        /// only memory can tell which objects fit.
        var reachesFurther = false
    }

    /// The unsaved changes that have a say in a request; nil if there are none.
    func pendingChanges(for request: FetchRequest) -> PendingChanges? {
        guard request.includesPendingChanges, changeTracker.changeCount > 0 else { return nil }
        let visited = request.visitedRoots
        var changes = PendingChanges()
        for list in [changeTracker.inserted, changeTracker.updated, changeTracker.deleted] {
            for object in list.objects {
                let root = object.entity.rootIndex
                if visited.contains(root) { changes.reachesFurther = true }
                if root == request.entity.rootIndex, changes.keys.insert(object.state.pointee.key).inserted {
                    changes.objects.append(object)
                }
            }
        }
        guard !changes.objects.isEmpty || changes.reachesFurther else { return nil }
        // What a search finds only the store can tell: all of that is looked at.
        if request.search != nil { changes.reachesFurther = true }
        return changes
    }

    /// Fetches from the store without regard to the changed objects, and puts those of them that fit in their places.
    func fetch(_ request: FetchRequest, with pending: PendingChanges) throws -> [any GraphObject] {
        try results(of: request, loader.rows(for: stored(request, with: pending)), with: pending)
    }

    /// The results of a request, of what the store gave without regard to the changed objects.
    private func results(
        of request: FetchRequest,
        _ rows: RowBatch,
        with pending: PendingChanges
    ) throws -> [any GraphObject] {
        // What every object is checked for had better be read with all of them.
        let makesFaults = request.makesFaults && !pending.reachesFurther
        let saved = (makesFaults ? loader.materializeFaults(rows, for: request) : loader.materialize(rows))
            .filter { !pending.keys.contains($0.state.pointee.key) }
        if request.search != nil { return try found(loader.materialize(rows), of: request) }
        let evaluator = QueryEvaluator()
        var result: [any GraphObject]
        if pending.reachesFurther {
            result = try evaluator.merge([], fitting(saved + pending.objects, request), by: request.sort)
        } else {
            result = try evaluator.merge(saved, fitting(pending.objects, request), by: request.sort)
        }
        if request.offset > 0 { result.removeFirst(min(request.offset, result.count)) }
        if let limit = request.limit, limit < result.count { result.removeLast(result.count - limit) }
        return result
    }

    /// Counts in the store without regard to the changed objects, and adds those of them that fit.
    private func count(_ request: FetchRequest, with pending: PendingChanges) throws -> Int {
        if pending.reachesFurther { return try fetch(request, with: pending).count }
        var all = request
        all.sort = []
        all.limit = nil
        all.offset = 0
        let saved = try ids(for: all).count { !pending.keys.contains($0.key) }
        let total = try saved + fitting(pending.objects, request).count
        return min(max(total - request.offset, 0), request.limit ?? .max)
    }

    /// What to ask the store for.
    func stored(_ request: FetchRequest, with pending: PendingChanges) -> FetchRequest {
        var stored = request
        stored.offset = 0
        if pending.reachesFurther {
            stored = stored.readingAllProperties
            stored.predicate = nil
            stored.sort = []
            stored.limit = nil
        } else {
            // As many more as could turn out to be changed or deleted.
            stored.limit = request.limit.map { limit in
                let (sum, overflow) = limit.addingReportingOverflow(request.offset)
                let (total, overflow2) = sum.addingReportingOverflow(pending.objects.count)
                return overflow || overflow2 ? Int.max : total
            }
        }
        return stored
    }

    /// Those of the objects that fit a request as they are now.
    func fitting(_ objects: [any GraphObject], _ request: FetchRequest) throws -> [any GraphObject] {
        let evaluator = QueryEvaluator()
        return try objects.filter { object in
            guard !object.isObjectDeleted else { return false }
            guard
                request.includesSubentities ? object.entity.isKind(of: request.entity) : object.entity == request.entity
            else { return false }
            return try request.predicate.map { try evaluator.isTrue($0, for: object) } ?? true
        }
    }
}

extension FetchRequest {
    /// The positions of the root entities that the condition and the order look at along relationships.
    fileprivate var visitedRoots: Set<Int> {
        var roots: Set<Int> = []
        for expression in sort.map(\.expression) + (predicate.map { [$0] } ?? []) {
            expression.forEachRelationship { roots.insert($0.destination.rootIndex) }
        }
        return roots
    }
}
