import ObjectGraph

extension ModelContext {
    /// Returns the models that a descriptor with a ``FetchDescriptor/search`` finds, each with its relevance and with
    /// excerpts of its texts.
    ///
    /// ```swift
    /// for match in try context.search(descriptor, excerpts: [.snippet(\.body)]) {
    ///     print(match.model.title, match[excerpt: \.body] ?? "")
    /// }
    /// ```
    ///
    /// - Throws: `FullTextError` if no index supports the search, or the descriptor has no search; otherwise as
    ///   ``fetch(_:)``.
    /// - Complexity: two statements, and one for each result if excerpts are requested.
    public func search<T: PersistentModel>(
        _ descriptor: FetchDescriptor<T>,
        excerpts: [FullTextExcerpt<T>] = []
    ) throws -> [FullTextMatch<T>] {
        let matches = try graph.search(
            request(for: descriptor),
            excerpts: excerpts.map { try $0.resolved() },
            as: T.self
        )
        return matches.map { FullTextMatch($0, excerpts.map(\.property)) }
    }
}
