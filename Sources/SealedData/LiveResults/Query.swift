public import Foundation
import ObjectGraph

/// A property with the live results of a fetch, for types of the main actor.
///
/// ```swift
/// @MainActor
/// final class TripList {
///     @Query var all: [Trip]
///     @Query(filter: #Predicate<Trip> { !$0.isArchived }, sort: \Trip.startDate) var trips: [Trip]
///     @Query(sort: \Trip.name, sectionBy: \Trip.country) var byCountry: SectionedResults<Trip, String>
/// }
/// ```
///
/// The property is read from the container that an initializer names, or from ``ModelContainer/current`` at the first
/// access. Its projected value, `$trips`, is the ``ResultsObserver``, whose filter, order and sections can
/// be set. Code that reads the property within `withObservationTracking` is notified of changes. In a class with
/// `@Observable`, declare the property with `@ObservationIgnored`.
@MainActor
@propertyWrapper
public struct Query<Element: PersistentModel, Result: QueryResult> where Result.Model == Element {
    private let source: QuerySource<Element, Result.SectionTitle>

    /// The models; empty if the first fetch has failed, see ``fetchError``.
    public var wrappedValue: Result { Result(source.observer) }

    /// The observer of the results.
    public var projectedValue: ResultsObserver<Element, Result.SectionTitle> { source.observer }

    /// The context of the results.
    ///
    /// - Precondition: The query has a container.
    public var modelContext: ModelContext { source.observer.modelContext }

    /// The error of the last fetch, which left the results as they were; nil if it succeeded.
    public var fetchError: (any Error)? { source.observer.fetchError }

    // Swift initializes `@Query var trips: [Trip]` without parentheses only with an initializer that the type itself
    // declares, without constraints, and only if no other initializer has the same name.

    /// All models of ``ModelContainer/current``, in the order of their first save. A query of sections has no sections
    /// until the program sets ``ResultsObserver/sectionBy`` of the observer.
    public init() { self.init(FetchDescriptor(), nil, nil) }

    fileprivate init(
        _ descriptor: FetchDescriptor<Element>,
        _ sectionBy: PartialKeyPath<Element>?,
        _ container: ModelContainer?
    ) {
        source = QuerySource(ResultsQuery(descriptor: descriptor, sectionBy: sectionBy), container)
    }
}

/// A type of the values of a ``Query``: an array of models, or their sections.
public protocol QueryResult {
    /// The class of the models.
    associatedtype Model: PersistentModel
    /// The type of the section titles; `Never` for no sections.
    associatedtype SectionTitle: Hashable
    /// Makes a value with the models of an observer.
    init(_ observer: ResultsObserver<Model, SectionTitle>)
}

extension Array: QueryResult where Element: PersistentModel {
    /// The class of the models.
    public typealias Model = Element

    /// Makes an array of the models of an observer.
    public init(_ observer: ResultsObserver<Element, Never>) { self = observer.models }
}

extension SectionedResults: QueryResult {
    /// Makes the sections of an observer.
    public init(_ observer: ResultsObserver<Model, SectionTitle>) { self = observer.sections ?? SectionedResults() }
}

/// The observer of a query, made at the first access.
@MainActor
private final class QuerySource<Element: PersistentModel, SectionTitle: Hashable> {
    private let query: ResultsQuery<Element, SectionTitle>
    private let givenContainer: ModelContainer?
    private(set) lazy var observer = ResultsObserver(reportingErrorsOf: query, container.mainContext, MainActor.shared)
    /// The container at the first access, which the query retains.
    private lazy var container: ModelContainer = {
        guard let container = givenContainer ?? ModelContainer.current else {
            preconditionFailure("a query needs a container: pass one, or set ModelContainer.current before")
        }
        return container
    }()

    init(_ query: ResultsQuery<Element, SectionTitle>, _ container: ModelContainer?) {
        self.query = query
        givenContainer = container
    }
}

extension ModelContainer {
    /// The container of queries that name no container. Set it once, before such a query is read.
    @MainActor public static var current: ModelContainer?
}

// MARK: Initializers

extension Query where Result == [Element] {
    /// All models, in the order of their first save.
    public init(modelContainer: ModelContainer) { self.init(FetchDescriptor(), nil, modelContainer) }

    /// The models that match a descriptor.
    public init(_ descriptor: FetchDescriptor<Element>, modelContainer: ModelContainer? = nil) {
        self.init(descriptor, nil, modelContainer)
    }

    /// The models that fulfil a predicate, in an order.
    public init(
        filter: Predicate<Element>? = nil,
        sort descriptors: [SortDescriptor<Element>] = [],
        modelContainer: ModelContainer? = nil
    ) {
        self.init(FetchDescriptor(predicate: filter, sortBy: descriptors), nil, modelContainer)
    }

    /// The models that fulfil a predicate, in the order of a property.
    public init<Value: Comparable>(
        filter: Predicate<Element>? = nil,
        sort keyPath: any KeyPath<Element, Value> & Sendable,
        order: SortOrder = .forward,
        modelContainer: ModelContainer? = nil
    ) {
        let descriptor = FetchDescriptor(predicate: filter, sortBy: [SortDescriptor(keyPath, order: order)])
        self.init(descriptor, nil, modelContainer)
    }

    /// The models that fulfil a predicate, in the order of an optional property.
    public init<Value: Comparable>(
        filter: Predicate<Element>? = nil,
        sort keyPath: any KeyPath<Element, Value?> & Sendable,
        order: SortOrder = .forward,
        modelContainer: ModelContainer? = nil
    ) {
        let descriptor = FetchDescriptor(predicate: filter, sortBy: [SortDescriptor(keyPath, order: order)])
        self.init(descriptor, nil, modelContainer)
    }
}

extension Query {
    /// The models that match a descriptor, in sections.
    public init<Title: Hashable>(
        _ descriptor: FetchDescriptor<Element>,
        sectionBy: KeyPath<Element, Title>,
        modelContainer: ModelContainer? = nil
    ) where Result == SectionedResults<Element, Title> {
        self.init(descriptor, sectionBy, modelContainer)
    }

    /// The models that fulfil a predicate, in sections and in an order.
    public init<Title: Hashable>(
        filter: Predicate<Element>? = nil,
        sort descriptors: [SortDescriptor<Element>] = [],
        sectionBy: KeyPath<Element, Title>,
        modelContainer: ModelContainer? = nil
    ) where Result == SectionedResults<Element, Title> {
        self.init(FetchDescriptor(predicate: filter, sortBy: descriptors), sectionBy, modelContainer)
    }

    /// The models that fulfil a predicate, in sections and in the order of a property.
    public init<Title: Hashable, Value: Comparable>(
        filter: Predicate<Element>? = nil,
        sort keyPath: any KeyPath<Element, Value> & Sendable,
        order: SortOrder = .forward,
        sectionBy: KeyPath<Element, Title>,
        modelContainer: ModelContainer? = nil
    ) where Result == SectionedResults<Element, Title> {
        let descriptor = FetchDescriptor(predicate: filter, sortBy: [SortDescriptor(keyPath, order: order)])
        self.init(descriptor, sectionBy, modelContainer)
    }
}
