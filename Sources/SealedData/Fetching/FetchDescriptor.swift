public import Foundation

/// A description of a fetch: the models of a class that fulfil a predicate, in an order.
///
/// ```swift
/// var descriptor = FetchDescriptor<Trip>(
///     predicate: #Predicate { $0.name.contains("Kyoto") }, sortBy: [SortDescriptor(\.startDate)])
/// descriptor.fetchLimit = 10
/// ```
///
/// `@unchecked Sendable`: key paths are immutable, though not all of them are marked `Sendable`.
public struct FetchDescriptor<T: PersistentModel>: Equatable, @unchecked Sendable {
    /// The condition; nil for all models.
    public var predicate: Predicate<T>?
    /// A full-text search that selects the models; nil for no search. The class must have a full-text index, see
    /// ``Schema/Index/Types/fullText(_:tokenizer:prefixLengths:)``.
    public var search: FullTextSearch<T>?
    /// The order. If it is empty, models come in the order of their first save or, with a ``search``, most relevant
    /// first.
    public var sortBy: [SortDescriptor<T>]
    /// Computed values to sort by before ``sortBy``.
    public var sortExpressions: [SortExpression<T>] = []
    /// The largest number of results; nil for no limit.
    public var fetchLimit: Int?
    /// The number of results to skip at the beginning.
    public var fetchOffset: Int?
    /// Whether the results include unsaved changes of the context.
    public var includePendingChanges = true
    /// Whether Foundation may evaluate a predicate or a sort descriptor that the store cannot evaluate. Such a fetch
    /// reads all models of the class.
    public var allowsInMemoryEvaluation = false
    /// The properties to read; empty for all. Reading one of the remaining properties, or changing a model, reads them
    /// for many of the fetched models at once.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships to prefetch. It is a hint: following a relationship of many fetched models reads it for many
    /// of them at once in any case.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// Makes a descriptor.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }

    /// Whether the descriptor has an order.
    @inlinable var isOrdered: Bool { !sortBy.isEmpty || !sortExpressions.isEmpty }
}
