import Guarded
import ObjectGraph

/// The change sets of live results: first the present results, then their changes.
///
/// A consumer that lags behind gets one set with all changes since its previous one. The sequence ends when the
/// observer is released. Each sequence has one consumer at a time.
public struct ResultsChangeSequence: AsyncSequence, Sendable {
    /// The change sets.
    public typealias Element = ResultsChanges
    /// No error ends the sequence: see ``ResultsObserver/fetchError``.
    public typealias Failure = Never

    let mailbox: ResultsChangeMailbox
    /// Waits for further changes after the first one of a set.
    let wait: (@Sendable () async throws -> Void)?

    /// Returns an iterator over the change sets.
    public func makeAsyncIterator() -> Iterator { Iterator(mailbox: mailbox, wait: wait) }

    /// An iterator over change sets.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let mailbox: ResultsChangeMailbox
        let wait: (@Sendable () async throws -> Void)?

        /// Returns the changes since the previous set, and suspends until there are some; nil if the task is cancelled
        /// or the observer is released.
        public mutating func next() async -> ResultsChanges? {
            guard await mailbox.waitForChanges() else { return nil }
            // A wait that is cancelled ends early.
            if let wait { try? await wait() }
            return mailbox.take()
        }
    }
}

/// The changes that a consumer has not taken yet.
final class ResultsChangeMailbox: ResultsChangeReceiver, Sendable {
    private struct State {
        var collected = CollectedChanges()
        var isFinished = false
        var waiters: [Int: CheckedContinuation<Bool, Never>] = [:]
        var lastWaiter = 0
    }

    private let state = Guarded(State())
    /// The slots whose changes are modifications; nil for all.
    private let slots: SlotSet?

    init(_ slots: SlotSet?) {
        self.slots = slots
    }

    func receive(_ update: ResultsUpdate) {
        let changes = update.changes(of: slots)
        guard !changes.isEmpty else { return }
        resume { $0.collected.add(changes) }
    }

    func finish() { resume { $0.isFinished = true } }

    /// The changes, which the mailbox drops; nil if there are none.
    func take() -> ResultsChanges? { state.withLock { $0.collected.take() } }

    /// Suspends until there are changes.
    ///
    /// - Returns: false if the task is cancelled, or there will be no changes.
    func waitForChanges() async -> Bool {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if !state.collected.isEmpty { return true }
                    if state.isFinished || Task.isCancelled { return false }
                    state.waiters[number] = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    private func resume(_ change: (inout State) -> Void) {
        let (waiters, hasChanges) = state.withLock { state in
            change(&state)
            defer { state.waiters = [:] }
            return (Array(state.waiters.values), !state.collected.isEmpty)
        }
        for waiter in waiters { waiter.resume(returning: hasChanges) }
    }
}
