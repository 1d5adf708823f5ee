public import ObjectGraph

@_exported public import enum ObjectGraph.FullTextError
@_exported public import enum ObjectGraph.FullTextQuery
@_exported public import struct ObjectGraph.FullTextMarks

/// A full-text search for models, which a ``FetchDescriptor`` is narrowed to.
///
/// ```swift
/// var descriptor = FetchDescriptor<Article>(predicate: #Predicate { $0.year > 2000 })
/// descriptor.search = FullTextSearch("green tea", weights: [\.title: 10])
/// descriptor.fetchLimit = 20
/// let articles = try context.fetch(descriptor)
/// ```
///
/// The text of a search can be anything that a user types: nothing in it is syntax. Where the descriptor has no order of its
/// own, the most relevant models come first.
///
/// A search looks at what was saved: a model is found by the texts that it has in the store, and a new one when it is saved.
/// Deleted models are left out, and predicate and order count with unsaved changes, as in every fetch.
public struct FullTextSearch<T: PersistentModel>: Hashable, @unchecked Sendable {
    // Sound because key paths are immutable, though not all of them are marked `Sendable`.

    /// What to look for.
    public var query: FullTextQuery
    /// The properties to look at; all those of the model's first full-text index where there are none.
    public var properties: [PartialKeyPath<T>]
    /// How much a word in a property counts for relevance; 1 for others.
    public var weights: [PartialKeyPath<T>: Double]

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - query: What to look for. A string literal stands for all of its words.
    ///   - properties: The properties to look at; none for all.
    ///   - weights: How much a word in a property counts for relevance; 1 for others.
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
    ///   - properties: The properties to look at; none for all.
    ///   - weights: How much a word in a property counts for relevance; 1 for others.
    @_disfavoredOverload
    public init(
        _ text: String,
        in properties: [PartialKeyPath<T>] = [],
        weights: [PartialKeyPath<T>: Double] = [:]
    ) {
        self.init(.words(text), in: properties, weights: weights)
    }

    /// The search in the language of stores.
    ///
    /// - Throws: ``SwiftDataError/unsupportedKeyPath`` for a path that leads to no persisted property of the model.
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
    /// A query in the texts of one property only.
    public static func within<T: PersistentModel>(_ keyPath: PartialKeyPath<T>, _ query: FullTextQuery) -> FullTextQuery
    {
        // A search reports a name that no property has.
        .within([PropertyLookup.name(of: keyPath, in: T.self) ?? "\(keyPath)"], query)
    }
}
