/// What a context asks of a store when it searches for more than objects.
public struct FullTextMatchRequest: Sendable {
    /// The request, which has a ``FetchRequest/search``.
    public var request: FetchRequest
    /// The texts to show with each result.
    public var excerpts: [FullTextExcerpt]

    /// Makes a request.
    public init(request: FetchRequest, excerpts: [FullTextExcerpt]) {
        self.request = request
        self.excerpts = excerpts
    }
}

/// A result of a ``FullTextMatchRequest``.
public struct StoredFullTextMatch: Sendable {
    /// The object.
    public var id: ManagedObjectID
    /// How well it fits: larger is better.
    public var relevance: Double
    /// The texts that were asked for, in their order; nil where there is none.
    public var excerpts: [String?]

    /// Makes a result.
    public init(id: ManagedObjectID, relevance: Double, excerpts: [String?] = []) {
        self.id = id
        self.relevance = relevance
        self.excerpts = excerpts
    }
}
