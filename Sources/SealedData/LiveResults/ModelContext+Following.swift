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
        let reference = SentContextReference(self)
        let scheduleProcessing: @Sendable () -> Void = {
            isolation.enqueue { reference.context?.processPendingChanges() }
        }
        graph.onUndeliveredChange = scheduleProcessing
        graph.onRemoteChange = scheduleProcessing
    }
}
