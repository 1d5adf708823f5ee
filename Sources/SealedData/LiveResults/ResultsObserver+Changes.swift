extension ResultsObserver {
    /// The changes of the results, as a sequence that any task may read.
    ///
    /// - Parameters:
    ///   - keyPaths: The persisted properties whose changes are modifications; all if the list is empty.
    ///   - interval: The time for which the sequence collects changes after the first one of a set.
    ///   - clock: The clock of the interval.
    /// - Precondition: The key paths lead to persisted properties of the model.
    public func changes(
        of keyPaths: [PartialKeyPath<Element>] = [],
        collectedFor interval: Duration,
        clock: some Clock<Duration> = ContinuousClock()
    ) -> ResultsChangeSequence {
        changes(of: keyPaths) { try await clock.sleep(for: interval) }
    }

    /// The changes of the results, as a sequence that any task may read.
    ///
    /// - Parameter keyPaths: The persisted properties whose changes are modifications; all if the list is empty.
    /// - Precondition: The key paths lead to persisted properties of the model.
    public func changes(of keyPaths: [PartialKeyPath<Element>] = []) -> ResultsChangeSequence {
        changes(of: keyPaths, nil)
    }

    private func changes(
        of keyPaths: [PartialKeyPath<Element>],
        _ wait: (@Sendable () async throws -> Void)?
    ) -> ResultsChangeSequence {
        let mailbox = ResultsChangeMailbox(slots(of: keyPaths))
        addReceiver(mailbox)
        return ResultsChangeSequence(mailbox: mailbox, wait: wait)
    }

    /// Calls a function with the present results, and then with each change of them, right after the results have
    /// changed.
    ///
    /// - Parameters:
    ///   - keyPaths: The persisted properties whose changes are modifications; all if the list is empty.
    ///   - body: The function, called on the actor of the context.
    /// - Returns: The subscription, which ends when it is released.
    /// - Precondition: The key paths lead to persisted properties of the model.
    public func onChange(
        of keyPaths: [PartialKeyPath<Element>] = [],
        perform body: @escaping (ResultsChanges) -> Void
    ) -> ResultsSubscription {
        let subscription = ResultsSubscription(slots(of: keyPaths), body)
        addReceiver(subscription)
        return subscription
    }
}
