extension ManagedObjectContext {
    /// The values that could not be read since the failures were last forgotten, oldest first; at most 100.
    public var unreadableValues: [ObjectGraphError.UnreadableValue] { readFailures.values }

    /// Called with each value that could not be read, on the thread that reads the property; once for each value until
    /// the failures are forgotten. It must not use the context.
    ///
    /// It is also called, once, for the first value that an object cannot read because the context is deallocated.
    public var didFailToRead: ReadFailures.Handler? {
        get { readFailures.handler }
        set { readFailures.handler = newValue }
    }

    /// Forgets the failures, so that the next save writes values that were computed from substitutes.
    ///
    /// ``rollback()`` and ``reset()`` also forget all failures, and ``refresh(_:mergeChanges:)`` forgets the failures
    /// of the refreshed object.
    public func forgetReadFailures() { loader.forgetReadFailures() }

    /// Throws the failures that no fetch or save has thrown.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    /// - Complexity: O(1) without failures.
    package func reportReadFailures() throws {
        guard readFailures.hasUnreported else { return }
        deletePropagation.run()
        try loader.reportReadFailures()
    }

    /// Calls `body`, which fetches, and throws if values could not be read since the last fetch or by `body`.
    func reportingReadFailures<R>(_ body: () throws -> R) throws -> R {
        try reportReadFailures()
        let result = try body()
        try reportReadFailures()
        return result
    }

    /// Throws all failures that have not been forgotten, as a save does.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    /// - Complexity: O(1) without failures.
    package func requireReadableValues() throws { try loader.requireReadableValues() }
}
