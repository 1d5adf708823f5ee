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
    /// ``rollback()`` and ``reset()`` also forget all failures, and ``refresh(_:mergeChanges:)`` forgets those of the
    /// refreshed object.
    public func forgetReadFailures() { readFailures.removeAll() }

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

    /// Assigns permanent identifiers to all new objects, calls `body`, which answers a child context, and throws if the
    /// answer contains values that could not be read. These failures stay unreported in this context.
    func answering<R>(_ body: () throws -> R) throws -> R {
        try obtainingKeys { try requiringReadableValues(body) }
    }

    /// Assigns permanent identifiers to all new objects and calls `body`, which changes objects for a child context.
    /// Values that cannot be read meanwhile are reported in this context only.
    func obtainingKeys<R>(_ body: () throws -> R) throws -> R {
        try permanentKeys.obtainForAll()
        return try body()
    }

    /// Calls `body`, which must not change anything, and throws if it could not read values.
    ///
    /// A value that could not be read before, either, counts again: the result contains its substitute.
    func requiringReadableValues<R>(_ body: () throws -> R) throws -> R {
        let additions = readFailures.additions
        let result = try body()
        guard readFailures.additions == additions else { throw ObjectGraphError.unreadable(readFailures.values) }
        return result
    }

    /// Throws all failures that have not been forgotten, as a save does.
    ///
    /// - Throws: ``ObjectGraphError/unreadable(_:)``.
    /// - Complexity: O(1) without failures.
    package func requireReadableValues() throws { try loader.requireReadableValues() }
}
