/// A search for texts, which narrows a ``FetchRequest`` to the objects that it finds.
///
/// ```swift
/// var request = FetchRequest(article)
/// request.search = FullTextSearch("green tea", weights: ["title": 10])
/// let articles = try context.fetch(request, as: ManagedObject.self)
/// ```
///
/// The entity has to have an index of kind ``FetchIndexDescription/Kind/fullText(_:)`` over the attributes. Where a request
/// has no order of its own, the most relevant results come first.
///
/// A search looks at what was saved: an object is found by the texts that it has in the store, and a new one when it is
/// saved. The rest of the request is about objects as they are, as in every fetch: deleted objects are left out, and
/// condition and order count with unsaved changes.
public struct FullTextSearch: Hashable, Sendable {
    /// What to look for.
    public var query: FullTextQuery
    /// The names of the attributes to look at; all those of the entity's first full-text index where there are none.
    public var properties: [String]
    /// How much a word in an attribute counts for relevance, by name; 1 for others.
    public var weights: [String: Double]

    /// Makes a search.
    public init(_ query: FullTextQuery, in properties: [String] = [], weights: [String: Double] = [:]) {
        self.query = query
        self.properties = properties
        self.weights = weights
    }
}

/// A text with what was found in it, to be shown with a result of a search.
public struct FullTextExcerpt: Hashable, Sendable {
    /// The name of the attribute.
    public var property: String
    /// About how many words, or characters with ``FullTextTokenizer/trigram``, of the text to show, around what was found;
    /// nil for all of it. At most 64.
    public var length: Int?
    /// What is put in front of and behind each part of the text that was found.
    public var marks: FullTextMarks

    /// A part of an attribute's text around what was found.
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

/// What encloses found parts of a text, and what stands for left out ones.
public struct FullTextMarks: Hashable, Sendable {
    /// What is put in front of a found part.
    public var opening: String
    /// What is put behind a found part.
    public var closing: String
    /// What stands where text was left out.
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
    /// How well the object fits, compared with others of the same search: the BM25 of the words, larger for better ones.
    public let relevance: Double
    /// The excerpts that were asked for, in their order; nil where an attribute has no text.
    public let excerpts: [String?]
}

extension FullTextMatch: Sendable where Object: Sendable {}

/// Why a search cannot be carried out.
public enum FullTextError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No full-text index of the entity holds all of the attributes.
    case noIndex(entity: String, properties: [String])
    /// An excerpt of results was asked for, but the request searches for nothing.
    case noSearch

    /// What is wrong and what can be done.
    public var description: String {
        switch self {
        case .noIndex(let entity, []): "entity '\(entity)' has no full-text index: declare one"
        case .noIndex(let entity, let properties):
            "entity '\(entity)' has no full-text index over \(properties.joined(separator: ", ")): declare one"
        case .noSearch: "the request has no search"
        }
    }
}
