public import Dispatch
import ObjectGraph

extension ModelContext {
    /// Sets ``autosaveEnabled`` to true for a context that is used only by the code of an actor.
    ///
    /// It is required if the context cannot find its actor: in the initializer of the actor and in the initial value of
    /// a `lazy` property, Swift does not provide the actor of the code.
    ///
    /// ```swift
    /// context.enableAutosave(on: self)
    /// ```
    public func enableAutosave(on actor: any Actor) {
        isolation = ContextIsolation(actor: actor)
        autosaveEnabled = true
    }

    /// Sets ``autosaveEnabled`` to true for a context that is used only by blocks of a serial dispatch queue.
    ///
    /// - Precondition: The queue is serial: a concurrent queue would save while other blocks use the context.
    public func enableAutosave(on queue: DispatchQueue) {
        isolation = ContextIsolation(queue: queue)
        autosaveEnabled = true
    }

    /// Sets the executor on which the context autosaves.
    func adopt(executor: any SerialModelExecutor) {
        isolation = ContextIsolation(executor: executor)
        // Autosaving may have been enabled before the executor existed.
        if autosaveEnabled { beginAutosaving() }
    }

    /// Enables autosaving, which saves soon after a change, until ``autosaveEnabled`` becomes false.
    func beginAutosaving() {
        if graph.didGetChanges == nil { graph.didGetChanges = { [weak self] in self?.scheduleAutosave() } }
        if graph.hasChanges { scheduleAutosave() }
    }

    private func scheduleAutosave() {
        guard autosaveEnabled, !isAutosaveScheduled, let isolation else { return }
        // The block retains the context, so that changes are saved even if the program releases the context right after
        // them.
        let sent = SentContext(context: self)
        isAutosaveScheduled = isolation.enqueue { sent.context.autosave() }
    }

    private func autosave() {
        isAutosaveScheduled = false
        guard autosaveEnabled else { return }
        do {
            try save()
        } catch {
            graph.announcesNextChange = true
            // No call can throw the error. One report is enough until a save succeeds.
            if !hasReportedAutosaveFailure {
                RuntimeIssues.report("autosaving a context failed, and the context keeps its changes: \(error)")
            }
            hasReportedAutosaveFailure = true
        }
    }
}

/// The actor, executor or queue whose code uses a context.
///
/// The references to an actor and an executor are weak because an actor and an executor retain their context.
struct ContextIsolation: Sendable {
    private weak var actor: (any Actor)?
    private weak var executor: (any SerialModelExecutor)?
    private var queue: DispatchQueue?

    init(actor: any Actor) { self.actor = actor }

    init(executor: any SerialModelExecutor) { self.executor = executor }

    init(queue: DispatchQueue) { self.queue = queue }

    /// Whether the context belongs to a given executor.
    func isExecutor(_ other: any ModelExecutor) -> Bool { executor === other }

    /// Enqueues a function after the running code.
    ///
    /// - Returns: false if the actor or executor no longer exists.
    @discardableResult
    func enqueue(_ body: @escaping @Sendable () -> Void) -> Bool {
        if let queue {
            queue.async { body() }
        } else if let actor = actor ?? executor.map(ExecutorActor.init) {
            Task { await run(body, on: actor) }
        } else {
            return false
        }
        return true
    }
}

private func run(_ body: @Sendable () -> Void, on actor: isolated any Actor) { body() }

/// Runs code on a model actor's executor without a reference to the actor.
private actor ExecutorActor {
    private nonisolated let executor: any SerialModelExecutor

    init(_ executor: any SerialModelExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}
