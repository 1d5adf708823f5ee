/// A request for the results of a full-text search with their relevance and excerpts.
public struct FullTextMatchRequest: Sendable {
    /// The request, which has a ``FetchRequest/search``.
    public var request: FetchRequest
    /// The excerpts of each result.
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
    /// The relevance: larger is better.
    public var relevance: Double
    /// The requested excerpts, in their order; nil for an attribute without a text.
    public var excerpts: [String?]

    /// Makes a result.
    public init(id: ManagedObjectID, relevance: Double, excerpts: [String?] = []) {
        self.id = id
        self.relevance = relevance
        self.excerpts = excerpts
    }
}
