extension ManagedObjectContext {
    /// Returns the objects that match a request, in its order.
    ///
    /// Unsaved changes are included, unless the request excludes them: the current values of changed objects are
    /// evaluated, and the objects are sorted into the result.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if values could not be read since the last fetch or by this one,
    ///   each failure once; errors of the store.
    /// - Complexity: one statement, and one for each step of a path to prefetch; O(1) for each result.
    public func fetch<T: GraphObject>(_ request: consuming FetchRequest, as type: T.Type = T.self) throws -> [T] {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        request.readFailures = readFailures
        let objects: [T] = try fetcher.fetch(request)
        try loader.prefetch(request.relationshipKeyPathsForPrefetching, from: objects)
        try reportReadFailures()
        return objects
    }

    /// Returns the number of objects that match a request, within its limit and offset.
    ///
    /// - Throws: as ``fetch(_:as:)``.
    public func count(_ request: FetchRequest) throws -> Int {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        if let pending = fetcher.pendingChanges(for: request) {
            return try reportingReadFailures { try fetcher.count(request, with: pending) }
        }
        return try loader.stores.count(of: request)
    }

    /// Returns the identifiers of the objects that match a request, in its order.
    ///
    /// - Throws: as ``fetch(_:as:)``.
    public func fetchIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
        try savingThread.requireOwnThread()
        processPendingChanges()
        try reportReadFailures()
        if let pending = fetcher.pendingChanges(for: request) {
            return try reportingReadFailures { try fetcher.fetch(request, with: pending).map(\.managedObjectID) }
        }
        return try loader.stores.ids(for: request)
    }

    /// Returns the plan of the store for a request. Unsaved changes, which a fetch evaluates in memory, do not affect
    /// it.
    ///
    /// - Throws: errors of the store, which may not support plans.
    public func explain(_ request: FetchRequest) throws -> QueryPlan {
        try loader.stores.plan(of: request)
    }
}
