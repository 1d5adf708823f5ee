/// The unsaved changes that affect the result of a request.
struct PendingChanges {
    /// The new, changed and deleted objects that share a root with the fetched entity.
    var objects: [any GraphObject] = []
    /// The keys of the objects.
    var keys: Set<Int64> = []
    /// Whether there are changes of objects that the predicate or the order reads along relationships, so that all
    /// objects must be evaluated in memory.
    var reachesFurther = false
}

/// Fetches objects of a context: the rows that the store returns, with the unsaved changes of the context.
final class ObjectFetcher {
    private let loader: ObjectLoader
    private let changeTracker: ChangeTracker

    init(_ loader: ObjectLoader, _ changeTracker: ChangeTracker) {
        self.loader = loader
        self.changeTracker = changeTracker
    }

    /// The objects that match a request, in its order, with the unsaved changes.
    func fetch<T: GraphObject>(_ request: FetchRequest) throws -> [T] {
        guard let pending = pendingChanges(for: request) else {
            return try objects(of: loader.rows(for: request), request, with: nil)
        }
        return try objects(of: loader.rows(for: stored(request, with: pending)), request, with: pending)
    }

    /// The objects of the rows that the store returned for a request, with the unsaved changes.
    ///
    /// - Precondition: The entity's objects are of the class.
    func objects<T: GraphObject>(
        of rows: RowBatch,
        _ request: FetchRequest,
        with pending: PendingChanges?
    ) throws -> [T] {
        let objectType = loader.identityMap.handlers[request.entity.index].objectType
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

    /// The unsaved changes that affect the result of a request; nil if no changes do.
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
        // Only the store can search texts: all its matches are evaluated.
        if request.search != nil { changes.reachesFurther = true }
        return changes
    }

    /// Fetches from the store, and sorts the changed objects that match into the result.
    func fetch(_ request: FetchRequest, with pending: PendingChanges) throws -> [any GraphObject] {
        try results(of: request, loader.rows(for: stored(request, with: pending)), with: pending)
    }

    /// The objects of the rows that the store returned, with the changed objects that match.
    private func results(
        of request: FetchRequest,
        _ rows: RowBatch,
        with pending: PendingChanges
    ) throws -> [any GraphObject] {
        // The values that are evaluated for every object are read with the rows of all objects.
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

    /// Counts in the store without the changed objects, and adds the changed objects that match.
    func count(_ request: FetchRequest, with pending: PendingChanges) throws -> Int {
        if pending.reachesFurther { return try fetch(request, with: pending).count }
        var all = request
        all.sort = []
        all.limit = nil
        all.offset = 0
        let ids = try loader.stores.ids(for: all)
        let saved = ids.count { !pending.keys.contains($0.key) }
        let total = try saved + fitting(pending.objects, request).count
        return min(max(total - request.offset, 0), request.limit ?? .max)
    }

    /// The request to the store, to whose result the changed objects are added.
    func stored(_ request: FetchRequest, with pending: PendingChanges) -> FetchRequest {
        var stored = request
        stored.offset = 0
        if pending.reachesFurther {
            stored = stored.readingAllProperties
            stored.predicate = nil
            stored.sort = []
            stored.limit = nil
        } else {
            // Additional rows, since as many objects may be changed or deleted.
            stored.limit = request.limit.map { limit in
                let (sum, overflow) = limit.addingReportingOverflow(request.offset)
                let (total, overflow2) = sum.addingReportingOverflow(pending.objects.count)
                return overflow || overflow2 ? Int.max : total
            }
        }
        return stored
    }

    /// The objects whose current values match a request.
    func fitting(_ objects: [any GraphObject], _ request: FetchRequest) throws -> [any GraphObject] {
        let evaluator = QueryEvaluator()
        return try objects.filter { object in
            // Another process may have deleted a changed object whose row was not read since.
            object.verifyExistence()
            guard !object.isObjectDeleted else { return false }
            guard
                request.includesSubentities ? object.entity.isKind(of: request.entity) : object.entity == request.entity
            else { return false }
            return try request.predicate.map { try evaluator.isTrue($0, for: object) } ?? true
        }
    }

    /// Returns the matching objects that belong to the request's results, in the order of their relevance.
    func found(_ objects: [any GraphObject], of request: FetchRequest) throws -> [any GraphObject] {
        var result = try fitting(objects, request)
        if !request.sort.isEmpty { result = try QueryEvaluator().merge([], result, by: request.sort) }
        if request.offset > 0 { result.removeFirst(min(request.offset, result.count)) }
        if let limit = request.limit, limit < result.count { result.removeLast(result.count - limit) }
        return result
    }

    /// Returns the matches of the store, restricted by the unsaved changes.
    func matches(for request: FullTextMatchRequest) throws -> [StoredFullTextMatch] {
        guard request.request.search != nil else { throw FullTextError.noSearch }
        let pending = pendingChanges(for: request.request)
        var stored = request
        if let pending { stored.request = self.stored(request.request, with: pending) }
        let matches = try loader.stores.matches(for: stored)
        guard pending != nil else { return matches }
        let byKey = Dictionary(matches.map { ($0.id.key, $0) }, uniquingKeysWith: { first, _ in first })
        let objects = loader.objects(with: matches.map(\.id.key), of: request.request.entity)
        return try withExtendedLifetime(objects) {
            try found(objects, of: request.request).compactMap { byKey[$0.state.pointee.key] }
        }
    }
}

extension FetchRequest {
    /// The positions of the root entities that the predicate and the order read along relationships.
    fileprivate var visitedRoots: Set<Int> {
        var roots: Set<Int> = []
        for expression in sort.map(\.expression) + (predicate.map { [$0] } ?? []) {
            expression.forEachRelationship { roots.insert($0.destination.rootIndex) }
        }
        return roots
    }
}
