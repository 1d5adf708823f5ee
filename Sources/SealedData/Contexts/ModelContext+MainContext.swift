import ObjectGraph

extension ModelContext {
    /// Enables autosaving on the main actor, and merges changes that other contexts save soon after their saves.
    @MainActor
    func becomeMainContext() {
        enableAutosave(on: MainActor.shared)
        let reference = MainContextReference(context: self)
        graph.onRemoteChange = {
            Task { @MainActor in reference.context?.processPendingChanges() }
        }
    }
}

/// A main context that is sent to the main actor.
private struct MainContextReference: @unchecked Sendable {
    // Sound because the main context of a container belongs to the main actor, and only code on the main actor follows
    // the reference: another thread that holds it, such as the thread that announces a save, only passes it on.
    weak var context: ModelContext?
}
