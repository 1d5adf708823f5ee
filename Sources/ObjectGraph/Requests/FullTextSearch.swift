/// A full-text search, which restricts a ``FetchRequest`` to the objects that match.
///
/// ```swift
/// var request = FetchRequest(article)
/// request.search = FullTextSearch("green tea", weights: ["title": 10])
/// let articles = try context.fetch(request, as: ManagedObject.self)
/// ```
///
/// The entity must have an index of kind ``FetchIndexDescription/Kind/fullText(_:)`` over the attributes. If the
/// request has no sort descriptors, the most relevant results come first.
///
/// A search reads the saved texts: it does not find unsaved texts and objects. The rest of the request includes unsaved
/// changes, as in every fetch: deleted objects are omitted, and the predicate and the order use current values.
public struct FullTextSearch: Hashable, Sendable {
    /// The query.
    public var query: FullTextQuery
    /// The names of the searched attributes; if empty, all attributes of the entity's first full-text index.
    public var properties: [String]
    /// The weights of attributes for the relevance, by name; 1 for other attributes.
    public var weights: [String: Double]

    /// Makes a search.
    public init(_ query: FullTextQuery, in properties: [String] = [], weights: [String: Double] = [:]) {
        self.query = query
        self.properties = properties
        self.weights = weights
    }
}

/// An excerpt of a text with its matches, to be shown with a result of a search.
public struct FullTextExcerpt: Hashable, Sendable {
    /// The name of the attribute.
    public var property: String
    /// The approximate number of words, or of characters with ``FullTextTokenizer/trigram``, around a match; nil for
    /// the whole text. At most 64.
    public var length: Int?
    /// The marks around each match.
    public var marks: FullTextMarks

    /// A part of an attribute's text around a match.
    public static func snippet(
        of property: String,
        length: Int = 16,
        marks: FullTextMarks = FullTextMarks()
    ) -> FullTextExcerpt {
        FullTextExcerpt(property: property, length: min(max(length, 1), 64), marks: marks)
    }

    /// The whole text of an attribute.
    public static func highlight(of property: String, marks: FullTextMarks = FullTextMarks()) -> FullTextExcerpt {
        FullTextExcerpt(property: property, length: nil, marks: marks)
    }
}

/// The texts that enclose matches, and that replace omitted parts.
public struct FullTextMarks: Hashable, Sendable {
    /// The text before a match.
    public var opening: String
    /// The text after a match.
    public var closing: String
    /// The text in place of an omitted part.
    public var ellipsis: String

    /// Makes marks.
    public init(_ opening: String = "[", _ closing: String = "]", ellipsis: String = "…") {
        self.opening = opening
        self.closing = closing
        self.ellipsis = ellipsis
    }
}

/// A result of a full-text search.
public struct FullTextMatch<Object> {
    /// The object.
    public let object: Object
    /// The relevance compared with other results of the same search: the BM25 score of the words, larger for better
    /// matches.
    public let relevance: Double
    /// The requested excerpts, in their order; nil for an attribute without a text.
    public let excerpts: [String?]
}

extension FullTextMatch: Sendable where Object: Sendable {}

/// An error of a full-text search.
public enum FullTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No full-text index of the entity holds all of the attributes.
    case noIndex(entity: String, properties: [String])
    /// The request has no ``FetchRequest/search``.
    case noSearch

    /// The problem and how to solve it.
    public var description: String {
        switch self {
        case .noIndex(let entity, []): "entity '\(entity)' has no full-text index: declare one"
        case .noIndex(let entity, let properties):
            "entity '\(entity)' has no full-text index over \(properties.joined(separator: ", ")): declare one"
        case .noSearch: "the request has no search"
        }
    }
}
