/// Somebody who wants to look at a statement when it is compiled, which is once for each connection while it is cached.
package protocol PreparationObserver: AnyObject, Sendable {
    /// Takes note of a statement that was compiled and did not run yet.
    func didPrepare(_ sql: SQLText, on connection: Connection) throws
}

extension Connection {
    /// Lends the prepared statement for a text to `body`, like ``withStatement(_:_:)-swift.method``, and shows it to an
    /// observer where it was not cached.
    package func withStatement<R>(
        _ sql: SQLText,
        observer: (any PreparationObserver)?,
        _ body: (borrowing Statement) throws -> R
    ) throws -> R {
        guard let observer else { return try withStatement(sql, body) }
        let (entry, isNew) = try takeStatementTellingOrigin(sql)
        let result: R
        do {
            if isNew { try observer.didPrepare(sql, on: self) }
            result = try body(entry.statement)
        } catch {
            throw giveBack(entry, after: error)
        }
        try giveBack(entry)
        return result
    }
}
