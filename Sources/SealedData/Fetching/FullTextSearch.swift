public import ObjectGraph

@_exported public import enum ObjectGraph.FullTextError
@_exported public import enum ObjectGraph.FullTextQuery
@_exported public import struct ObjectGraph.FullTextMarks

/// A full-text search for models, which narrows the results of a ``FetchDescriptor``.
///
/// ```swift
/// var descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.year > 2000 })
/// descriptor.search = FullTextSearch("green tea", weights: [\.title: 10])
/// descriptor.fetchLimit = 20
/// let articles = try context.fetch(descriptor)
/// ```
///
/// The text of a search can be any user input, because it has no syntax. If the descriptor has no order, the most
/// relevant models come first.
///
/// A search evaluates saved texts: a model is found by the texts in the store, and a new model after it is saved.
/// Deleted models are excluded, and predicate and order apply to unsaved changes, as in every fetch.
///
/// `@unchecked Sendable`: key paths are immutable, though not all of them are marked `Sendable`.
public struct FullTextSearch<T: PersistentModel>: Hashable, @unchecked Sendable {
    /// The query.
    public var query: FullTextQuery
    /// The properties to search; empty for all properties of the model's first full-text index.
    public var properties: [PartialKeyPath<T>]
    /// The weights of properties in the relevance; 1 for all other properties.
    public var weights: [PartialKeyPath<T>: Double]

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - query: The query. A string literal means all of its words.
    ///   - properties: The properties to search; empty for all.
    ///   - weights: The weights of properties in the relevance; 1 for all other properties.
    public init(
        _ query: FullTextQuery,
        in properties: [PartialKeyPath<T>] = [],
        weights: [PartialKeyPath<T>: Double] = [:]
    ) {
        self.query = query
        self.properties = properties
        self.weights = weights
    }

    /// Makes a search for all words of a text.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - properties: The properties to search; empty for all.
    ///   - weights: The weights of properties in the relevance; 1 for all other properties.
    @_disfavoredOverload
    public init(
        _ text: String,
        in properties: [PartialKeyPath<T>] = [],
        weights: [PartialKeyPath<T>: Double] = [:]
    ) {
        self.init(.words(text), in: properties, weights: weights)
    }

    /// Returns the search with property names instead of key paths.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` if a path does not lead to a persisted property of the model.
    func resolved() throws -> ObjectGraph.FullTextSearch {
        var search = ObjectGraph.FullTextSearch(query, in: try properties.map(Self.name))
        for (keyPath, weight) in weights { search.weights[try Self.name(keyPath)] = weight }
        return search
    }

    static func name(_ keyPath: PartialKeyPath<T>) throws -> String {
        guard let name = PropertyLookup.name(of: keyPath, in: T.self) else {
            throw SwiftDataError(.unsupportedKeyPath, "'\(keyPath)' is not a persisted property of the model")
        }
        return name
    }
}

extension FullTextQuery {
    /// Returns a query that searches the texts of one property only.
    public static func within<T: PersistentModel>(_ keyPath: PartialKeyPath<T>, _ query: FullTextQuery) -> FullTextQuery
    {
        // The search reports the error for an unknown name.
        .within([PropertyLookup.name(of: keyPath, in: T.self) ?? "\(keyPath)"], query)
    }
}
