import Dispatch
import ObjectGraph

extension ModelContext {
    /// Processes changes of the context, and changes that other contexts save, soon after they are made: when the actor
    /// of the context runs no other code.
    ///
    /// - Parameter actor: The actor whose code uses the context; nil if only the context may know it.
    func followChanges(isolation actor: (any Actor)?) {
        // A context that was sent to an actor knows the one where it was made.
        guard let isolation = actor.map(ContextIsolation.init(actor:)) ?? isolation else { return }
        if self.isolation == nil { self.isolation = isolation }
        let reference = FollowingContext(self, isolation)
        graph.onUndeliveredChange = { reference.scheduleProcessing() }
        graph.onRemoteChange = { reference.scheduleProcessing() }
    }
}

/// A context that is sent to its actor, executor or queue.
private struct FollowingContext: @unchecked Sendable {
    // Sound because only the destination accesses the context: other threads only pass the reference on.
    private weak var context: ModelContext?
    private let isolation: ContextIsolation

    init(_ context: ModelContext, _ isolation: ContextIsolation) {
        self.context = context
        self.isolation = isolation
    }

    func scheduleProcessing() {
        isolation.enqueue { context?.processPendingChanges() }
    }
}
