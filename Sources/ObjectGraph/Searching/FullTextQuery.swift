/// What a full-text search looks for: words, phrases and beginnings of words, combined.
///
/// Texts stand for themselves, whatever they consist of: nothing in them is syntax, so that what a user typed can be passed
/// on as it is. What a word is, and which words are equal, is told by the ``FullTextTokenizer`` of the index.
///
/// ```swift
/// let query: FullTextQuery = .all([.phrase("green tea"), .prefix("kyo")]).excluding("matcha")
/// ```
public indirect enum FullTextQuery: Hashable, Sendable {
    /// All words of a text, in any order and at any place. Characters that belong to no word do not count; a text without
    /// words is nowhere.
    case words(String)
    /// The words of a text, one behind the other.
    case phrase(String)
    /// The words of a text, one behind the other, the last of which may go on.
    case prefix(String)
    /// All of the queries; none of them is nowhere.
    case all([FullTextQuery])
    /// One of the queries at least; none of them is nowhere.
    case any([FullTextQuery])
    /// The first query, without what the second one finds.
    case difference(FullTextQuery, FullTextQuery)
    /// The query in the texts of some attributes only, by their names.
    case within([String], FullTextQuery)

    /// The query, without what another one finds.
    public func excluding(_ other: FullTextQuery) -> FullTextQuery { .difference(self, other) }
}

extension FullTextQuery: ExpressibleByStringLiteral {
    /// All words of a literal.
    public init(stringLiteral text: String) { self = .words(text) }
}

extension FullTextQuery {
    /// The names of all attributes that parts of the query are confined to.
    public var properties: Set<String> {
        switch self {
        case .words, .phrase, .prefix: []
        case .all(let queries), .any(let queries): queries.reduce(into: []) { $0.formUnion($1.properties) }
        case .difference(let query, let excluded): query.properties.union(excluded.properties)
        case .within(let names, let query): query.properties.union(names)
        }
    }
}
