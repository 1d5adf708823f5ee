extension ManagedObjectContext {
    /// Returns the objects that match a request with a ``FetchRequest/search``, each with its relevance and excerpts.
    ///
    /// - Throws: ``FullTextError`` if there is no index to search, or no search; errors of the store.
    /// - Complexity: two statements, and one for each result with excerpts.
    public func search<T: GraphObject>(
        _ request: FetchRequest,
        excerpts: [FullTextExcerpt] = [],
        as type: T.Type = T.self
    ) throws -> [FullTextMatch<T>] {
        precondition(
            coordinator.objectTypes[request.entity.index] is T.Type,
            "objects of entity '\(request.entity.name)' are not of class '\(T.self)'"
        )
        processPendingChanges()
        let matches = try matches(for: FullTextMatchRequest(request: request, excerpts: excerpts))
        let fetched = objects(with: matches.map(\.id))
        return zip(matches, fetched).map { match, object in
            FullTextMatch(
                object: unsafeDowncast(object, to: T.self),
                relevance: match.relevance,
                excerpts: match.excerpts
            )
        }
    }

    /// Returns the matches of the store, restricted by the unsaved changes.
    func matches(for request: FullTextMatchRequest) throws -> [StoredFullTextMatch] {
        guard request.request.search != nil else { throw FullTextError.noSearch }
        let pending = pendingChanges(for: request.request)
        var stored = request
        if let pending { stored.request = self.stored(request.request, with: pending) }
        let matches = try loader.stores.execute(stored, of: request.request.entity)
        guard pending != nil else { return matches }
        let byKey = Dictionary(matches.map { ($0.id.key, $0) }, uniquingKeysWith: { first, _ in first })
        let objects = objects(with: matches.map(\.id))
        return try withExtendedLifetime(objects) {
            try found(objects, of: request.request).compactMap { byKey[$0.state.pointee.key] }
        }
    }

    /// Returns those of the matching objects, in the order of their relevance, that belong to the request's results.
    func found(_ objects: [any GraphObject], of request: FetchRequest) throws -> [any GraphObject] {
        var result = try fitting(objects, request)
        if !request.sort.isEmpty { result = try QueryEvaluator().merge([], result, by: request.sort) }
        if request.offset > 0 { result.removeFirst(min(request.offset, result.count)) }
        if let limit = request.limit, limit < result.count { result.removeLast(result.count - limit) }
        return result
    }
}
