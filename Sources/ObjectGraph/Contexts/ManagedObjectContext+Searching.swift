extension ManagedObjectContext {
    /// Returns the objects that match a request with a ``FetchRequest/search``, each with its relevance and excerpts.
    ///
    /// - Throws: ``FullTextError`` if the request has no search, or no index serves it; errors of the store.
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
        let matches = try fetcher.matches(for: FullTextMatchRequest(request: request, excerpts: excerpts))
        let fetched = objects(with: matches.map(\.id))
        return zip(matches, fetched).map { match, object in
            FullTextMatch(
                object: unsafeDowncast(object, to: T.self),
                relevance: match.relevance,
                excerpts: match.excerpts
            )
        }
    }
}
