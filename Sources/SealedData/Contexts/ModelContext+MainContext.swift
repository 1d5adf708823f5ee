import ObjectGraph

extension ModelContext {
    /// Saves soon after the first change, again and again, as long as ``autosaveEnabled`` is true; takes in soon what other
    /// contexts save.
    ///
    /// A save that fails leaves the changes in the context. It is tried again as soon as a further model is inserted, changed
    /// or deleted, and by the next explicit save.
    @MainActor
    func becomeMainContext() {
        autosaveEnabled = true
        graph.didGetChanges = { [weak self] in self?.scheduleAutosave() }
        let reference = MainContextReference(context: self)
        graph.didGetNews = {
            Task { @MainActor in reference.context?.processPendingChanges() }
        }
    }

    private func scheduleAutosave() {
        guard autosaveEnabled, !isAutosaveScheduled else { return }
        isAutosaveScheduled = true
        let reference = MainContextReference(context: self)
        Task { @MainActor in
            guard let context = reference.context else { return }
            context.isAutosaveScheduled = false
            guard context.autosaveEnabled else { return }
            do {
                try context.save()
            } catch {
                context.graph.announcesNextChange = true
            }
        }
    }
}

/// A main context on its way to the main actor.
private struct MainContextReference: @unchecked Sendable {
    // Sound because the context is a container's main context, which belongs to the main actor, and the reference is only
    // followed there: whoever else holds it, such as the thread that brings news, passes it on.
    weak var context: ModelContext?
}
