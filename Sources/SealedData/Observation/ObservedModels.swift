import Guarded
import Observation

/// The registrars of the models that have been observed.
///
/// They are stored outside the models, because few models are observed and a field would enlarge all of them.
final class ObservedModels: Sendable {
    static let shared = ObservedModels()

    /// `@unchecked Sendable`: the model, which belongs to another isolation, is only compared by its identity; the runtime
    /// synchronizes weak references. The registrar is `Sendable`.
    private struct Entry: @unchecked Sendable {
        weak var model: AnyObject?
        let registrar: ObservationRegistrar
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The number of entries at which the entries of released models are removed.
        var limit = 64
    }

    private let state = Guarded(State())

    /// Returns the registrar of a model, created on first access.
    func registrar(for model: AnyObject) -> ObservationRegistrar {
        state.withLock { state in
            // A released model may have had the same address.
            if let entry = state.entries[ObjectIdentifier(model)], entry.model === model { return entry.registrar }
            if state.entries.count >= state.limit {
                state.entries = state.entries.filter { $0.value.model != nil }
                state.limit = max(64, 2 * state.entries.count)
            }
            let entry = Entry(model: model, registrar: ObservationRegistrar())
            state.entries[ObjectIdentifier(model)] = entry
            return entry.registrar
        }
    }
}
