import Guarded
import ObjectGraph

extension ModelContext {
    /// Processes changes of the context, and changes that other contexts save, soon after they are made: when the actor
    /// of the context runs no other code.
    ///
    /// - Parameter actor: The actor whose code uses the context; nil if only the context may know it.
    func followChanges(isolation actor: (any Actor)?) {
        // A context that was sent to an actor knows only the actor where it was made.
        guard let isolation = actor.map(ContextIsolation.init(actor:)) ?? isolation else { return }
        if self.isolation == nil { self.isolation = isolation }
        let reference = SentContextReference(self)
        let processing = scheduledProcessing
        let schedule: @Sendable () -> Void = { processing.schedule(reference, on: isolation) }
        graph.onUndeliveredChange = schedule
        graph.onRemoteChange = schedule
    }
}

/// The next processing of a context's changes. While one is enqueued, further changes enqueue none.
final class ScheduledProcessing: Sendable {
    private struct State {
        var isScheduled = false
        var enqueuedCount = 0
    }

    private let state = Guarded(State())

    /// Whether a processing is enqueued that has not begun.
    var isScheduled: Bool { state.withLock { $0.isScheduled } }
    /// The number of processings that were enqueued.
    var enqueuedCount: Int { state.withLock { $0.enqueuedCount } }

    /// Enqueues a processing, unless one is enqueued.
    func schedule(_ reference: SentContextReference, on isolation: ContextIsolation) {
        let isFirst = state.withLock { state in
            guard !state.isScheduled else { return false }
            state.isScheduled = true
            state.enqueuedCount += 1
            return true
        }
        guard isFirst else { return }
        let isEnqueued = isolation.enqueue { [self] in
            // First, since a change that another context saves during the processing needs the next processing.
            endScheduling()
            reference.context?.processPendingChanges()
        }
        if !isEnqueued { endScheduling() }
    }

    private func endScheduling() { state.withLock { $0.isScheduled = false } }
}
