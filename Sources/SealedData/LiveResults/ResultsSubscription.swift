import ObjectGraph

/// A function that receives the changes of live results, until the subscription is cancelled or released.
public final class ResultsSubscription: ResultsChangeReceiver {
    private let slots: SlotSet?
    private var body: ((ResultsChanges) -> Void)?
    /// The time for which changes are collected; nil to call the function at each change.
    private let interval: CollectionInterval?
    private var collected = CollectedChanges()
    /// Whether the function will be called with the collected changes.
    private var isScheduled = false

    init(_ slots: SlotSet?, _ interval: CollectionInterval? = nil, _ body: @escaping (ResultsChanges) -> Void) {
        self.slots = slots
        self.interval = interval
        self.body = body
    }

    /// Ends the subscription. Changes that it has collected are dropped.
    public func cancel() { finish() }

    func receive(_ update: ResultsUpdate) {
        let changes = update.changes(of: slots)
        guard body != nil, !changes.isEmpty else { return }
        guard let interval, !changes.isInitial else {
            body?(changes)
            return
        }
        collected.add(changes)
        guard !isScheduled else { return }
        isScheduled = true
        let reference = SentSubscriptionReference(subscription: self)
        Task {
            // A wait that fails ends early.
            try? await interval.wait()
            interval.isolation.enqueue { reference.subscription?.deliver() }
        }
    }

    private func deliver() {
        isScheduled = false
        if let changes = collected.take(), !changes.isEmpty { body?(changes) }
    }

    func finish() {
        body = nil
        collected = CollectedChanges()
    }
}

/// The time for which a subscription collects changes, and the actor, executor or queue that then receives them.
struct CollectionInterval: Sendable {
    let isolation: ContextIsolation
    let wait: @Sendable () async throws -> Void
}

/// A weak reference to a subscription that is sent to the actor, executor or queue whose code uses it.
///
/// `@unchecked Sendable`: only the destination follows the reference; the waiting task only passes it on.
private struct SentSubscriptionReference: @unchecked Sendable {
    private(set) weak var subscription: ResultsSubscription?
}

/// Changes of live results that a receiver has not taken yet.
///
/// They are kept as a few sets, each of which has at least twice as many changes as the next: a set is combined with
/// the previous one as soon as it is large enough. So a change is combined O(log *m*) times for *m* changes, and the
/// sets need no more memory than two of the results.
package struct CollectedChanges {
    private var sets: [ResultsChanges] = []

    package init() {}

    package var isEmpty: Bool { sets.isEmpty }

    /// Adds later changes.
    package mutating func add(_ changes: ResultsChanges) {
        sets.append(changes)
        while sets.count > 1, sets[sets.count - 1].count * 2 >= sets[sets.count - 2].count {
            let last = sets.removeLast()
            sets[sets.count - 1] = sets[sets.count - 1].followed(by: last)
        }
    }

    /// Removes and returns all changes as one set; nil if there are none.
    package mutating func take() -> ResultsChanges? {
        guard var changes = sets.popLast() else { return nil }
        while let earlier = sets.popLast() { changes = earlier.followed(by: changes) }
        return changes
    }
}
