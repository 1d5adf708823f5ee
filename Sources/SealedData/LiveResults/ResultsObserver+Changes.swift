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
        subscription(of: keyPaths, nil, body)
    }

    /// Calls a function with the present results at once, and then with their changes, collected for an interval after
    /// the first change.
    ///
    /// Changes of a context that belongs to no actor are not collected, because no other thread may use the context
    /// when the interval ends.
    ///
    /// - Parameters:
    ///   - keyPaths: The persisted properties whose changes are modifications; all if the list is empty.
    ///   - interval: The time for which changes are collected after the first one of a set.
    ///   - clock: The clock of the interval.
    ///   - body: The function, called on the actor of the context.
    /// - Returns: The subscription, which ends when it is released, without the changes that it has collected.
    /// - Precondition: The key paths lead to persisted properties of the model.
    public func onChange(
        of keyPaths: [PartialKeyPath<Element>] = [],
        collectedFor interval: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        perform body: @escaping (ResultsChanges) -> Void
    ) -> ResultsSubscription {
        let collection = modelContext.isolation.map { isolation in
            CollectionInterval(isolation: isolation) { try await clock.sleep(for: interval) }
        }
        return subscription(of: keyPaths, collection, body)
    }

    private func subscription(
        of keyPaths: [PartialKeyPath<Element>],
        _ interval: CollectionInterval?,
        _ body: @escaping (ResultsChanges) -> Void
    ) -> ResultsSubscription {
        let subscription = ResultsSubscription(slots(of: keyPaths), interval, body)
        addReceiver(subscription)
        return subscription
    }
}
