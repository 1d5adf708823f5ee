import ObjectGraph

extension ModelContext {
    /// Enables autosaving on the main actor, and merges changes that other contexts save soon after their saves.
    @MainActor
    func becomeMainContext() {
        enableAutosave(on: MainActor.shared)
        let reference = SentContextReference(self)
        graph.onRemoteChange = {
            Task { @MainActor in reference.context?.processPendingChanges() }
        }
    }
}
