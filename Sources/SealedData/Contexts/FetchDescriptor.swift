public import Foundation

/// What to fetch: the models of a class that fulfil a predicate, in an order.
///
/// ```swift
/// var descriptor = FetchDescriptor<Trip>(
///     predicate: #Predicate { $0.name.contains("Kyoto") }, sortBy: [SortDescriptor(\.startDate)])
/// descriptor.fetchLimit = 10
/// ```
public struct FetchDescriptor<T: PersistentModel>: @unchecked Sendable {
    // Sound because key paths are immutable, though not all of them are marked `Sendable`.

    /// The condition; nil lets all models through.
    public var predicate: Predicate<T>?
    /// A full-text search that the models are found by; nil for none. The class has to have a full-text index, see
    /// ``Schema/Index/Types/fullText(_:tokenizer:prefixLengths:)``.
    public var search: FullTextSearch<T>?
    /// The order. Where it is empty it is that of the first save, and with a ``search`` the best results come first.
    public var sortBy: [SortDescriptor<T>]
    /// Computed values to sort by before ``sortBy``.
    public var sortExpressions: [SortExpression<T>] = []
    /// The largest number of results; nil for no limit.
    public var fetchLimit: Int?
    /// The number of results to leave out at the beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context take part.
    public var includePendingChanges = true
    /// Whether Foundation may evaluate a predicate, or a sort descriptor, that has no form in the store. All models of the
    /// class are read for it.
    public var allowsInMemoryEvaluation = false
    /// The properties that will be read; none stands for all. Other properties can be read as well: when the first one is, or
    /// a model is changed, what was left out is read for many of the fetched models at once.
    public var propertiesToFetch: [PartialKeyPath<T>] = []
    /// The relationships that will be followed. A hint: a relationship that is followed over many fetched models is read
    /// for many of them at once in any case.
    public var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

    /// Makes a descriptor.
    public init(predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = []) {
        self.predicate = predicate
        self.sortBy = sortBy
    }

    /// Whether an order is asked for.
    @inlinable var isOrdered: Bool { !sortBy.isEmpty || !sortExpressions.isEmpty }
}
