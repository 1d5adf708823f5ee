import CSQLCipher

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// It takes the write lock at once, so that no statement in it fails for want of it. Inside another transaction of this
    /// connection it is a savepoint of that one.
    ///
    /// Throws `moved`, and commits nothing, if the path does not lead to the file any more. SQLite itself would go on to write
    /// to a file without a name. It is asked at the begin, so that no work is done in vain, and right before COMMIT: a file
    /// that is moved while COMMIT appends to the log, a few microseconds to milliseconds, is not noticed before the next
    /// transaction.
    func transaction<R>(_ body: (Connection) throws -> R) throws -> R {
        try checkUsable()
        let isOutermost = transactionDepth == 0
        try runControl(isOutermost ? "BEGIN IMMEDIATE" : "SAVEPOINT nested")
        stateNumber &+= 1
        transactionDepth += 1
        defer { transactionDepth -= 1 }
        do {
            if isOutermost { try requireUnmovedFile() }
            let result = try body(self)
            guard isInTransaction else { throw DatabaseError.transactionRolledBack }
            guard !isDamaged else { throw DatabaseError.damaged(path: path) }
            if isOutermost { try requireUnmovedFile() }
            try runControl(isOutermost ? "COMMIT" : "RELEASE nested", during: isOutermost ? .commit : .execution)
            if isOutermost { statistics.transactionsCommitted.count() }
            return result
        } catch {
            rollBack(isOutermost: isOutermost)
            throw error
        }
    }

    /// Ends the transaction, which SQLite may have done already. Where the rollback itself fails, the transaction ends
    /// with the connection.
    private func rollBack(isOutermost: Bool) {
        stateNumber &+= 1
        annotation = nil
        guard isInTransaction else { return }
        // Not by way of the statement cache: it refuses to run on a damaged connection, and a lock would stay.
        let sql = isOutermost ? "ROLLBACK" : "ROLLBACK TO nested; RELEASE nested"
        sqlite3_exec(handle, sql, nil, nil, nil)
    }
}
