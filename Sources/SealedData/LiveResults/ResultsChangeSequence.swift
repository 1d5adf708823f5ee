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
///
/// They are kept as a few sets, each of which has at least twice as many changes as the next: a set is combined with the
/// previous one as soon as it is large enough. So a change is combined O(log *m*) times for *m* changes, and the sets
/// need no more memory than two of the results.
final class ResultsChangeMailbox: ResultsChangeReceiver, Sendable {
    private struct State {
        var sets: [ResultsChanges] = []
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
        resume { state in
            state.sets.append(changes)
            while state.sets.count > 1,
                state.sets[state.sets.count - 1].count * 2 >= state.sets[state.sets.count - 2].count
            {
                let last = state.sets.removeLast()
                state.sets[state.sets.count - 1] = state.sets[state.sets.count - 1].followed(by: last)
            }
        }
    }

    func finish() { resume { $0.isFinished = true } }

    /// The changes, which the mailbox drops; nil if there are none.
    func take() -> ResultsChanges? {
        state.withLock { state in
            guard var changes = state.sets.popLast() else { return nil }
            while let earlier = state.sets.popLast() { changes = earlier.followed(by: changes) }
            return changes
        }
    }

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
                    if !state.sets.isEmpty { return true }
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
            return (Array(state.waiters.values), !state.sets.isEmpty)
        }
        for waiter in waiters { waiter.resume(returning: hasChanges) }
    }
}
