import Guarded
import Observation

/// The registrars of the models that somebody has observed.
///
/// They are kept beside the models, which so do not grow by a field that hardly any of them needs.
final class ObservedModels: Sendable {
    static let shared = ObservedModels()

    private struct Entry: @unchecked Sendable {
        // Sound because the model is only compared with others.
        weak var model: AnyObject?
        let registrar: ObservationRegistrar
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        /// The number of entries from which on those of models that are gone are dropped.
        var limit = 64
    }

    private let state = Guarded(State())

    /// The registrar of a model, made when it is first asked for.
    func registrar(for model: AnyObject) -> ObservationRegistrar {
        state.withLock { state in
            // Another model may have been in the same place before.
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
