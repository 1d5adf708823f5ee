#if canImport(SwiftUI) || SWIFTUI_STAND_IN
    import Foundation
    @_exported public import SealedData
    #if canImport(SwiftUI)
        public import SwiftUI
    #else
        public import SwiftUIStandIn
    #endif

    /// A property of a view with the live results of a fetch in the model context of the view's environment.
    ///
    /// ```swift
    /// struct TripList: View {
    ///     @Query(filter: #Predicate<Trip> { !$0.isArchived }, sort: \Trip.startDate) private var trips: [Trip]
    ///
    ///     var body: some View {
    ///         List(trips) { trip in Text(trip.name) }
    ///     }
    /// }
    /// ```
    ///
    /// The view is updated when the list changes, and when a model's property that it reads changes: by saves of this
    /// and other contexts, other containers and other processes, and by unsaved changes. A view that makes its query in
    /// its initializer can make it with other parameters: the results are fetched again if the parameters differ.
    ///
    /// It has the name of the property wrapper for types outside SwiftUI. Files with views import `SealedDataSwiftUI`,
    /// which exports `SealedData`, and not both.
    @propertyWrapper
    public struct Query<Element: PersistentModel, Result: QueryResult>: DynamicProperty where Result.Model == Element {
        @Environment(\.modelContext) private var environmentContext
        @State private var storage = QueryStorage<Element, Result.SectionTitle>()
        private let parameters: QueryParameters<Element>

        // Swift initializes `@Query var trips: [Trip]` without parentheses only with an initializer that the type itself
        // declares, without constraints, and only if no other initializer has the same name.

        /// All models, in the order of their first save. A query of sections has no sections until the program sets
        /// ``ResultsObserver/sectionBy`` of the observer.
        public init() { self.init(QueryParameters(FetchDescriptor())) }

        init(_ parameters: QueryParameters<Element>) {
            self.parameters = parameters
        }

        /// The models; empty if the first fetch has failed, see ``fetchError``.
        @MainActor public var wrappedValue: Result { Result(observer) }

        /// The observer of the results, whose filter, order and sections can be set until the view makes its query with
        /// other parameters.
        @MainActor public var projectedValue: ResultsObserver<Element, Result.SectionTitle> { observer }

        /// The sections; nil without sections.
        @MainActor public var sections: SectionedResults<Element, Result.SectionTitle>? { observer.sections }

        /// The context of the results: the context of the view's environment.
        @MainActor public var modelContext: ModelContext { environmentContext }

        /// The error of the last fetch, which left the results as they were; nil if it succeeded.
        @MainActor public var fetchError: (any Error)? { observer.fetchError }

        @MainActor fileprivate var observer: ResultsObserver<Element, Result.SectionTitle> {
            storage.observer(parameters, environmentContext)
        }

        /// Fetches the results if the context or the parameters have changed. SwiftUI calls it before it evaluates the
        /// view.
        public nonisolated mutating func update() {
            let query = MainActorValue(value: self)
            MainActor.assumeIsolated { _ = query.value.observer }
        }
    }

    /// A value of the main actor, in a function without isolation.
    ///
    /// `@unchecked Sendable`: SwiftUI updates views on the main thread, and the value is used before the function
    /// returns.
    private struct MainActorValue<Value>: @unchecked Sendable {
        let value: Value
    }

    /// The parameters of a query.
    final class QueryParameters<Element: PersistentModel> {
        let descriptor: FetchDescriptor<Element>
        let sectionBy: PartialKeyPath<Element>?
        let transaction: Transaction?

        init(
            _ descriptor: FetchDescriptor<Element>,
            sectionBy: PartialKeyPath<Element>? = nil,
            transaction: Transaction? = nil
        ) {
            self.descriptor = descriptor
            self.sectionBy = sectionBy
            self.transaction = transaction
        }

        func haveSameQuery(as other: QueryParameters) -> Bool {
            descriptor == other.descriptor && sectionBy == other.sectionBy
        }
    }

    /// The observer of a query, for the lifetime of the view.
    @MainActor
    final class QueryStorage<Element: PersistentModel, SectionTitle: Hashable> {
        private var current: ResultsObserver<Element, SectionTitle>?
        private var parameters: QueryParameters<Element>?

        nonisolated init() {}

        /// The observer for parameters in a context.
        func observer(
            _ parameters: QueryParameters<Element>,
            _ context: ModelContext
        ) -> ResultsObserver<Element, SectionTitle> {
            let transaction = parameters.transaction
            let observer: ResultsObserver<Element, SectionTitle>
            if let current, current.modelContext === context {
                guard parameters !== self.parameters else { return current }
                observer = current
                // A query that the program has set stays until the view has other parameters.
                if !(self.parameters.map(parameters.haveSameQuery) ?? false) {
                    observer.setQuery(parameters.descriptor, sectionBy: parameters.sectionBy)
                }
            } else {
                observer = ResultsObserver(
                    reportingErrorsOf: parameters.descriptor,
                    sectionBy: parameters.sectionBy,
                    modelContext: context,
                    isolation: MainActor.shared
                )
                current = observer
            }
            self.parameters = parameters
            observer.performUpdate = transaction.map { transaction in
                { (update: () -> Void) in withTransaction(transaction, update) }
            }
            return observer
        }
    }
#endif
