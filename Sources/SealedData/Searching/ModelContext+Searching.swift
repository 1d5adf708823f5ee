import ObjectGraph

/// A text with what was found in it, to be shown with a result of a search.
public struct FullTextExcerpt<T: PersistentModel>: Hashable, @unchecked Sendable {
    // Sound because key paths are immutable, though not all of them are marked `Sendable`.

    let property: PartialKeyPath<T>
    private let length: Int?
    private let marks: FullTextMarks

    /// A part of a property's text around what was found.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - length: About how many words, or characters in an index of trigrams, to show: 64 at most.
    ///   - marks: What encloses what was found.
    public static func snippet(
        _ property: PartialKeyPath<T>,
        length: Int = 16,
        marks: FullTextMarks = FullTextMarks()
    ) -> FullTextExcerpt {
        FullTextExcerpt(property: property, length: length, marks: marks)
    }

    /// The whole text of a property.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - marks: What encloses what was found.
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
    /// How well the model fits, compared with others of the same search: the BM25 of the words, larger for better ones.
    public let relevance: Double
    private let excerpts: [PartialKeyPath<T>: String]

    init(_ match: ObjectGraph.FullTextMatch<T>, _ properties: [PartialKeyPath<T>]) {
        model = match.object
        relevance = match.relevance
        var excerpts: [PartialKeyPath<T>: String] = [:]
        for (property, excerpt) in zip(properties, match.excerpts) { excerpts[property] = excerpt }
        self.excerpts = excerpts
    }

    /// The excerpt of a property's text that was asked for; nil where the property has no text, or none was asked for.
    public subscript(excerpt property: PartialKeyPath<T>) -> String? { excerpts[property] }
}

extension ModelContext {
    /// The models that a descriptor with a ``FetchDescriptor/search`` finds, each with its relevance and with excerpts of its
    /// texts.
    ///
    /// ```swift
    /// for match in try context.search(descriptor, excerpts: [.snippet(\.body)]) {
    ///     print(match.model.title, match[excerpt: \.body] ?? "")
    /// }
    /// ```
    ///
    /// - Throws: `FullTextError` if no index can serve the search, or the descriptor has no search; else as ``fetch(_:)``.
    /// - Complexity: two statements, and one for each result where there are excerpts.
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
