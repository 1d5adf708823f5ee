import ObjectGraph

extension ModelContext {
    /// Saves soon after the first change, again and again, as long as ``autosaveEnabled`` is true; takes in soon what other
    /// contexts save.
    @MainActor
    func becomeMainContext() {
        enableAutosave(on: MainActor.shared)
        let reference = MainContextReference(context: self)
        graph.didGetNews = {
            Task { @MainActor in reference.context?.processPendingChanges() }
        }
    }
}

/// A main context on its way to the main actor.
private struct MainContextReference: @unchecked Sendable {
    // Sound because the context is a container's main context, which belongs to the main actor, and the reference is only
    // followed there: any other thread that holds it, such as the one that announces a save, passes it on.
    weak var context: ModelContext?
}
