extension ManagedObjectContext {
    /// The values that could not be read since the failures were last forgotten, oldest first; at most 100.
    public var unreadableValues: [ObjectGraphError.UnreadableValue] { readFailures.values }

    /// Called with each value that could not be read, on the thread that reads the property; once for a value until the
    /// failures are forgotten. It must not use the context.
    ///
    /// It is also called, once, for the first value that an object cannot read because the context is deallocated.
    public var didFailToRead: ReadFailures.Handler? {
        get { readFailures.handler }
        set { readFailures.handler = newValue }
    }

    /// Forgets that values could not be read, so that the next save writes values that were computed from substitutes.
    ///
    /// So do ``rollback()`` and ``reset()``, and ``refresh(_:mergeChanges:)`` for the refreshed object.
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

    /// Calls `body`, which answers a child context, after all new objects have permanent identifiers, and throws if the
    /// answer contains values that could not be read. The failures stay unreported here.
    func answering<R>(_ body: () throws -> R) throws -> R {
        try permanentKeys.obtainForAll()
        let additions = readFailures.additions
        let result = try body()
        guard readFailures.additions == additions else { throw ObjectGraphError.unreadable(readFailures.values) }
        return result
    }
}
