import ObjectGraph

/// A function that receives the changes of live results, until the subscription is cancelled or released.
public final class ResultsSubscription: ResultsChangeReceiver {
    private let slots: SlotSet?
    private var body: ((ResultsChanges) -> Void)?

    init(_ slots: SlotSet?, _ body: @escaping (ResultsChanges) -> Void) {
        self.slots = slots
        self.body = body
    }

    /// Ends the subscription.
    public func cancel() { body = nil }

    func receive(_ update: ResultsUpdate) {
        let changes = update.changes(of: slots)
        if !changes.isEmpty { body?(changes) }
    }

    func finish() { body = nil }
}
