import Foundation
import Guarded
import ObjectGraph
public import Observation

/// Counts the transactions that concern some models or authors, of all contexts, containers and processes.
///
/// A widget or a sync engine fetches the history when the counter changes:
///
/// ```swift
/// let observer = try HistoryObserver(observedModels: [Trip.self], authors: ["app"], modelContainer: container)
/// withObservationTracking { _ = observer.eventCounter } onChange: { … }
/// ```
///
/// The observer reads the history soon after a commit, when its actor runs no other code, and any number of commits
/// until then are one event.
public final class HistoryObserver: Observable, Sendable {
    /// The container whose stores are observed.
    public let modelContainer: ModelContainer
    /// The classes, with their subclasses, whose changes count; empty for all.
    public let observedModels: [any PersistentModel.Type]
    /// The authors whose transactions count; empty for all transactions.
    public let authors: Set<String>

    private let registrar = ObservationRegistrar()
    private let state: Guarded<State>
    private let isolation: HistoryIsolation
    /// The indexes of the observed entities; nil for all.
    private let entities: Set<Int>?
    private let listener = Guarded<HistoryListener?>(nil)

    private struct State {
        /// The last known transactions of encrypted stores, by their identities.
        var positions: [String: PersistentHistoryPosition]
        /// The tokens of the last known transactions of custom stores, by their identities; nil before the first one.
        var tokens: [String: (any Sendable)?]
        var eventCounter = 0
        var isReading = false
        /// Whether there was a commit since the present reading began.
        var hasNews = false
    }

    /// Begins to observe.
    ///
    /// - Parameters:
    ///   - historyTokens: The known positions in the histories, by the identities of the stores; nil for the present
    ///     positions. Relevant transactions after them are an event.
    ///   - observedModels: The classes whose changes count; empty for all.
    ///   - authors: The authors whose transactions count; empty for all transactions.
    ///   - modelContainer: The container.
    ///   - isolation: The actor whose code uses the observer.
    /// - Throws: ``SwiftDataError/invalidTransactionFetchRequest`` if no store of the container has a history;
    ///   ``SwiftDataError/unknownSchema`` if a class is not in the container's schema; errors of the stores.
    public init(
        historyTokens: [String: any HistoryToken]? = nil,
        observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [],
        modelContainer: ModelContainer,
        isolation: isolated (any Actor)? = #isolation
    ) throws {
        self.modelContainer = modelContainer
        self.observedModels = observedModels
        self.authors = authors
        self.isolation = HistoryIsolation(isolation)
        let stores = modelContainer.stores
        let model = stores.coordinator.model
        let observed = try observedModels.map { type in
            guard let name = stores.schema.entities.first(where: { $0.modelType == type })?.name,
                let entity = model.entitiesByName[name]
            else { throw SwiftDataError(classOutsideSchema: type) }
            return entity
        }
        entities = observed.isEmpty ? nil : Set(observed.flatMap(\.family).map(\.index))
        var tokens: [String: (any Sendable)?] = [:]
        for store in stores.dataStores {
            guard store.hasHistory else { continue }
            if let known = historyTokens?[store.identifier] {
                tokens[store.identifier] = known
            } else {
                tokens[store.identifier] = try store.historyNews(after: nil) { _ in false }?.token
            }
        }
        var positions: [String: PersistentHistoryPosition] = [:]
        do {
            positions = try StoreHistory(stores.coordinator, stores.schema).lastPositions()
        } catch SwiftDataError.invalidTransactionFetchRequest where !tokens.isEmpty {
            // Only custom stores have a history.
        }
        for (store, token) in historyTokens ?? [:] where positions[store] != nil {
            if let token = token as? DefaultHistoryToken { positions[store] = token.position(in: store) }
        }
        state = Guarded(State(positions: positions, tokens: tokens))
        // Before the first reading, so that no commit after the reading is missed.
        let new = HistoryListener(stores.coordinator) { [weak self] in self?.scheduleReading() }
        listener.withLock { $0 = new }
        if historyTokens != nil { read() }
    }

    /// The number of events. It rises when transactions of the authors have changed observed models.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return state.withLock { $0.eventCounter }
    }

    private func scheduleReading() {
        isolation.enqueue { [weak self] in self?.read() }
    }

    /// Reads the transactions after the known ones, also the transactions of commits during the reading. Without an
    /// actor, several threads may call this.
    private func read() {
        let begins = state.withLock { state in
            state.hasNews = state.isReading
            if state.isReading { return false }
            state.isReading = true
            return true
        }
        guard begins else { return }
        var continues = true
        while continues {
            readOnce()
            continues = state.withLock { state in
                state.isReading = state.hasNews
                state.hasNews = false
                return state.isReading
            }
        }
    }

    private func readOnce() {
        listener.withLock { $0 }?.reset()
        var new = state.withLock { $0 }
        var isEvent = false
        for (store, position) in new.positions {
            guard let uuid = UUID(uuidString: store) else { continue }
            // A failure repeats with the next commit.
            guard let last = try? readStore(uuid, after: position, &isEvent) else { continue }
            new.positions[store] = last
        }
        for store in modelContainer.stores.dataStores {
            guard let token = new.tokens[store.identifier],
                let news = try? store.historyNews(after: token, isRelevant)
            else { continue }
            new.tokens[store.identifier] = .some(news.token)
            isEvent = isEvent || news.isRelevant
        }
        guard isEvent else { return state.withLock { ($0.positions, $0.tokens) = (new.positions, new.tokens) } }
        registrar.withMutation(of: self, keyPath: \.eventCounter) {
            state.withLock { state in
                (state.positions, state.tokens) = (new.positions, new.tokens)
                state.eventCounter += 1
            }
        }
    }

    /// Reads the transactions of an encrypted store, and returns the last one.
    private func readStore(
        _ uuid: UUID,
        after position: PersistentHistoryPosition,
        _ isEvent: inout Bool
    ) throws -> PersistentHistoryPosition {
        let coordinator = modelContainer.stores.coordinator
        var last = position
        do {
            while true {
                var request = HistoryFetchRequest(after: last.number, fetchLimit: 256)
                request.afterTimestamp = last.timestamp
                request.expiry = .always
                request.includesChanges = entities != nil
                request.includesValues = false
                let page = try coordinator.history(request, ofStore: uuid)
                isEvent = isEvent || page.contains(where: isRelevant)
                guard let end = page.last else { return last }
                last = PersistentHistoryPosition(number: end.number, timestamp: end.timestamp)
            }
        } catch is PersistentHistoryError {
            // The deleted transactions may have been relevant.
            isEvent = true
            let state = try coordinator.historyState(ofStore: uuid)
            return PersistentHistoryPosition(number: state.lastTransaction, timestamp: state.lastTimestamp)
        }
    }

    private func isRelevant(_ transaction: any HistoryTransaction) -> Bool {
        guard authors.isEmpty || transaction.author.map(authors.contains) ?? false else { return false }
        guard let entities else { return true }
        let model = modelContainer.stores.coordinator.model
        return transaction.changes.contains { change in
            model.entitiesByName[change.changedPersistentIdentifier.entityName].map { entities.contains($0.index) }
                ?? false
        }
    }

    private func isRelevant(_ transaction: PersistentHistoryTransaction) -> Bool {
        guard authors.isEmpty || transaction.author.map(authors.contains) ?? false else { return false }
        guard let entities else { return true }
        return transaction.groups.contains { entities.contains($0.entity.index) }
    }
}

/// The actor whose code uses an observer. The observer is sent to the actor for each event.
private struct HistoryIsolation: Sendable {
    // Weak, because the actor may retain the observer.
    private let actor: WeakActor?

    private final class WeakActor: Sendable {
        private let reference: Guarded<Reference>

        private struct Reference: Sendable {
            weak var actor: (any Actor)?
        }

        init(_ actor: any Actor) { reference = Guarded(Reference(actor: actor)) }

        var actor: (any Actor)? { reference.withLock { $0.actor } }
    }

    init(_ actor: (any Actor)?) {
        self.actor = actor.map(WeakActor.init)
    }

    /// Runs a function on the actor, after its running code; without an actor on any thread.
    func enqueue(_ body: @escaping @Sendable () -> Void) {
        guard let reference = actor else {
            Task { body() }
            return
        }
        guard let actor = reference.actor else { return }
        Task { await run(body, on: actor) }
    }
}

private func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) { body() }
