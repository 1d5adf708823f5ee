/// Receives the announced commits to the stores of a coordinator, by its contexts, other coordinators and other
/// processes.
package final class HistoryListener: Sendable {
    private let inbox = ContextInbox()
    /// Makes the stores notice the commits of other processes.
    private let subscription: CommitSubscription

    /// Begins to receive commits.
    ///
    /// - Parameter onCommit: Called on any thread for the first commit, and for the first commit after each
    ///   ``reset()``.
    package init(_ coordinator: PersistentStoreCoordinator, onCommit: @escaping @Sendable () -> Void) {
        subscription = coordinator.followOtherProcesses()
        inbox.onRemoteChange = onCommit
        coordinator.add(inbox)
    }

    /// Forgets the commits so far: the next commit is reported again.
    package func reset() { _ = inbox.take() }
}
