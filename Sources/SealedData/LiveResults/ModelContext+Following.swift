import Dispatch
import ObjectGraph

extension ModelContext {
    /// Processes changes of the context, and changes that other contexts save, soon after they are made: when the actor
    /// of the context runs no other code.
    ///
    /// - Parameter isolation: The actor whose code uses the context, if the context does not know it.
    func followChanges(isolation actor: (any Actor)?) {
        if isolation == nil, let actor { isolation = ContextIsolation(actor: actor) }
        guard let isolation else { return }
        let reference = FollowingContext(self, isolation)
        if graph.onUndeliveredChange == nil { graph.onUndeliveredChange = { reference.scheduleProcessing() } }
        // The main context has an equal function.
        if graph.onRemoteChange == nil { graph.onRemoteChange = { reference.scheduleProcessing() } }
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
