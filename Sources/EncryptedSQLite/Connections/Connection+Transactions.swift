import CSQLCipher

extension Connection {
    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// The transaction takes the write lock at once, so that no statement in it fails for lack of the lock. Inside
    /// another transaction of this connection it is a savepoint.
    ///
    /// Throws `moved`, and commits nothing, if the path does not lead to the file, its log or the index of the log any
    /// more: SQLite itself would continue to write to a file without a name. The files are checked right before COMMIT,
    /// at the end of a savepoint, after which other files may be committed, and after an error, which a moved file may
    /// explain. A file that is moved while COMMIT appends to the log, a few microseconds to milliseconds, is detected
    /// by the next transaction.
    ///
    /// Throws `damaged`, and commits nothing, if the content of the file proved damaged on any connection.
    func transaction<R>(_ body: (Connection) throws -> R) throws -> R {
        try checkUsable()
        try requireSoundFile()
        let isOutermost = transactionDepth == 0
        try runControl(isOutermost ? .beginImmediate : .beginNested)
        stateNumber &+= 1
        transactionDepth += 1
        defer { transactionDepth -= 1 }
        do {
            let result = try body(self)
            guard isInTransaction else { throw DatabaseError.transactionRolledBack }
            try requireSoundFile()
            try requireUnmovedFile()
            try runControl(isOutermost ? .commit : .endNested, during: isOutermost ? .commit : .execution)
            if isOutermost {
                statistics.transactionsCommitted.count()
                noteNewLog()
            }
            return result
        } catch {
            defer { rollBack(isOutermost: isOutermost) }
            if isOutermost { try requireUnmovedFile() }
            throw error
        }
    }

    /// Ends the transaction unless SQLite has already ended it. If the rollback fails, the transaction ends with the
    /// connection.
    private func rollBack(isOutermost: Bool) {
        stateNumber &+= 1
        removeAnnotation()
        guard isInTransaction else { return }
        // Not through the statement cache, which refuses to run on a damaged connection: the lock would stay.
        let sql = isOutermost ? "ROLLBACK" : "ROLLBACK TO nested; RELEASE nested"
        sqlite3_exec(handle, sql, nil, nil, nil)
    }
}
