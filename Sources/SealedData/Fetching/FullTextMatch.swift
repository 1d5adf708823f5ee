import ObjectGraph

/// A text with the matches in it, to display with a search result.
///
/// `@unchecked Sendable`: key paths are immutable, though not all of them are marked `Sendable`.
public struct FullTextExcerpt<T: PersistentModel>: Hashable, @unchecked Sendable {
    let property: PartialKeyPath<T>
    private let length: Int?
    private let marks: FullTextMarks

    /// Returns a part of a property's text around the matches.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - length: The approximate number of words, or of characters in a trigram index; at most 64.
    ///   - marks: The texts that enclose each match.
    public static func snippet(
        _ property: PartialKeyPath<T>,
        length: Int = 16,
        marks: FullTextMarks = FullTextMarks()
    ) -> FullTextExcerpt {
        FullTextExcerpt(property: property, length: length, marks: marks)
    }

    /// Returns the whole text of a property.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - marks: The texts that enclose each match.
    public static func highlight(
        _ property: PartialKeyPath<T>,
        marks: FullTextMarks = FullTextMarks()
    ) -> FullTextExcerpt {
        FullTextExcerpt(property: property, length: nil, marks: marks)
    }

    func resolved() throws -> ObjectGraph.FullTextExcerpt {
        let name = try FullTextSearch<T>.name(property)
        return length.map { .snippet(of: name, length: $0, marks: marks) } ?? .highlight(of: name, marks: marks)
    }
}

/// A result of a full-text search.
public struct FullTextMatch<T: PersistentModel> {
    /// The model.
    public let model: T
    /// The relevance of the model compared with the other models of the same search: the BM25 score of the words,
    /// larger if more relevant.
    public let relevance: Double
    private let excerpts: [PartialKeyPath<T>: String]

    init(_ match: ObjectGraph.FullTextMatch<T>, _ properties: [PartialKeyPath<T>]) {
        model = match.object
        relevance = match.relevance
        var excerpts: [PartialKeyPath<T>: String] = [:]
        for (property, excerpt) in zip(properties, match.excerpts) { excerpts[property] = excerpt }
        self.excerpts = excerpts
    }

    /// The requested excerpt of a property's text; nil if the property has no text, or no excerpt was requested.
    public subscript(excerpt property: PartialKeyPath<T>) -> String? { excerpts[property] }
}
