/// The query of a full-text search: words, phrases and prefixes of words, combined.
///
/// Texts are literal: nothing in them is syntax, so that a user's input can be passed unchanged. The
/// ``FullTextTokenizer`` of the index determines the words of a text, and which words are equal.
///
/// ```swift
/// let query: FullTextQuery = .all([.phrase("green tea"), .prefix("kyo")]).excluding("matcha")
/// ```
public indirect enum FullTextQuery: Hashable, Sendable {
    /// All words of a text, in any order and at any place. Characters that belong to no word are ignored; a text
    /// without words matches nothing.
    case words(String)
    /// The words of a text in sequence.
    case phrase(String)
    /// The words of a text in sequence, the last of which is a prefix.
    case prefix(String)
    /// All of the queries; an empty list matches nothing.
    case all([FullTextQuery])
    /// At least one of the queries; an empty list matches nothing.
    case any([FullTextQuery])
    /// The first query, without the matches of the second one.
    case difference(FullTextQuery, FullTextQuery)
    /// The query in the texts of the attributes with some names only.
    case within([String], FullTextQuery)

    /// The query, without the matches of another query.
    public func excluding(_ other: FullTextQuery) -> FullTextQuery { .difference(self, other) }
}

extension FullTextQuery: ExpressibleByStringLiteral {
    /// All words of a literal.
    public init(stringLiteral text: String) { self = .words(text) }
}

extension FullTextQuery {
    /// The names of all attributes to which parts of the query are confined.
    public var properties: Set<String> {
        switch self {
        case .words, .phrase, .prefix: []
        case .all(let queries), .any(let queries): queries.reduce(into: []) { $0.formUnion($1.properties) }
        case .difference(let query, let excluded): query.properties.union(excluded.properties)
        case .within(let names, let query): query.properties.union(names)
        }
    }
}
