/// An observer of compiled statements. A statement is compiled once for each connection while it is cached.
package protocol PreparationObserver: AnyObject, Sendable {
    /// Called when a statement was compiled, before it runs.
    func didPrepare(_ sql: SQLText, on connection: Connection) throws
}

extension Connection {
    /// Lends the prepared statement for a text to `body`, like ``withStatement(_:_:)-swift.method``, and notifies an
    /// observer if it was not cached.
    package func withStatement<R>(
        _ sql: SQLText,
        observer: (any PreparationObserver)?,
        _ body: (borrowing Statement) throws -> R
    ) throws -> R {
        guard let observer else { return try withStatement(sql, body) }
        let (entry, isNew) = try takeOrCompileStatement(sql)
        let result: R
        do {
            if isNew { try observer.didPrepare(sql, on: self) }
            result = try body(entry.statement)
        } catch {
            throw release(entry, after: error)
        }
        try release(entry)
        return result
    }
}
