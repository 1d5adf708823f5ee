#if canImport(Combine)
    public import Combine
#else
    public import OpenCombine
#endif
import Guarded
public import SealedData

extension ResultsObserver {
    /// The change sets of the results: first the present results, then their changes.
    ///
    /// A subscriber that demands no values for a time receives one set with all changes of that time.
    ///
    /// The subscription retains the observer. Like the observer, it belongs to the actor of the context: subscribe and
    /// cancel there. The values are delivered there, and can be passed on to other threads.
    ///
    /// - Parameter keyPaths: The persisted properties whose changes are modifications; all if the list is empty.
    /// - Precondition: The key paths lead to persisted properties of the model.
    public func changesPublisher(
        of keyPaths: [PartialKeyPath<Element>] = []
    ) -> ResultsChangesPublisher<Element, SectionTitle> {
        ResultsChangesPublisher(observer: self, keyPaths: keyPaths)
    }

    /// The results: first the present results, then the results after each change of their members or their order.
    ///
    /// The values belong to the actor of the context; demand them there, as `sink` does.
    public var resultsPublisher: AnyPublisher<FetchResultsCollection<Element>, Never> {
        changesPublisher()
            .filter { $0.isInitial || !$0.insertions.isEmpty || !$0.deletions.isEmpty || !$0.moves.isEmpty }
            .map { [self] _ in results }
            .eraseToAnyPublisher()
    }
}

/// A publisher of the change sets of live results; ``SealedData/ResultsObserver/changesPublisher(of:)`` makes it.
public struct ResultsChangesPublisher<Element: PersistentModel, SectionTitle: Hashable>: Publisher {
    /// The change sets.
    public typealias Output = ResultsChanges
    /// No error ends the changes.
    public typealias Failure = Never

    let observer: ResultsObserver<Element, SectionTitle>
    let keyPaths: [PartialKeyPath<Element>]

    /// Begins to deliver change sets to a subscriber.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == ResultsChanges, S.Failure == Never {
        let subscription = ResultsChangesSubscription(subscriber)
        subscriber.receive(subscription: subscription)
        subscription.begin(observer, keyPaths)
    }
}

/// Delivers change sets as a subscriber demands them.
private final class ResultsChangesSubscription<S: Subscriber>: Subscription
where S.Input == ResultsChanges, S.Failure == Never {
    private struct State {
        /// Nil after the cancellation.
        var subscriber: S?
        var demand = Subscribers.Demand.none
        /// The changes that are not delivered yet.
        var changes = CollectedChanges()
        var isDelivering = false
    }

    private let state: Guarded<State>
    /// The subscription to the observer, and the observer.
    private var source: (subscription: ResultsSubscription, observer: AnyObject)?

    init(_ subscriber: S) {
        state = Guarded(State(subscriber: subscriber))
    }

    func begin<Element, Title>(
        _ observer: ResultsObserver<Element, Title>,
        _ keyPaths: [PartialKeyPath<Element>]
    ) {
        guard state.withLock({ $0.subscriber != nil }) else { return }
        let subscription = observer.onChange(of: keyPaths) { [weak self] changes in
            guard let self else { return }
            state.withLock { $0.changes.add(changes) }
            deliver()
        }
        // The first set may have made the subscriber cancel.
        if state.withLock({ $0.subscriber != nil }) { source = (subscription, observer) }
    }

    func request(_ demand: Subscribers.Demand) {
        state.withLock { $0.demand += demand }
        deliver()
    }

    func cancel() {
        state.withLock { state in
            state.subscriber = nil
            state.changes = CollectedChanges()
        }
        source?.subscription.cancel()
        source = nil
    }

    private func deliver() {
        // A subscriber may demand further values, or cancel, while it receives one.
        while let (subscriber, changes) = take() {
            let demand = subscriber.receive(changes)
            state.withLock { state in
                state.demand += demand
                state.isDelivering = false
            }
        }
    }

    private func take() -> (S, ResultsChanges)? {
        state.withLock { state in
            guard !state.isDelivering, state.demand > .none, let subscriber = state.subscriber,
                let changes = state.changes.take()
            else { return nil }
            state.demand -= .max(1)
            state.isDelivering = true
            return (subscriber, changes)
        }
    }
}
