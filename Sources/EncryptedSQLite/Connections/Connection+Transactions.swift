import CSQLCipher

extension Connection {
    /// How a transaction begins.
    enum TransactionKind {
        /// For reading: one snapshot, taken by the first statement that reads.
        case read
        /// For writing: takes the write lock at once, so that no statement in it fails for want of it.
        case write
    }

    /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
    ///
    /// Inside another transaction of this connection it is a savepoint of that one.
    func transaction<R>(_ kind: TransactionKind, _ body: (Connection) throws -> R) throws -> R {
        try checkUsable()
        let isOutermost = transactionDepth == 0
        try runControl(isOutermost ? kind.begin : "SAVEPOINT nested")
        transactionDepth += 1
        defer { transactionDepth -= 1 }
        do {
            let result = try body(self)
            guard isInTransaction else { throw DatabaseError.transactionRolledBack }
            guard !isDamaged else { throw DatabaseError.damaged(path: path) }
            try runControl(isOutermost ? "COMMIT" : "RELEASE nested", during: isOutermost ? .commit : .execution)
            if isOutermost, kind == .write { statistics.transactionsCommitted.count() }
            return result
        } catch {
            rollBack(isOutermost: isOutermost)
            throw error
        }
    }

    /// Ends the transaction, which SQLite may have done already. Where the rollback itself fails, the transaction ends
    /// with the connection.
    private func rollBack(isOutermost: Bool) {
        guard isInTransaction else { return }
        // Not by way of the statement cache: it refuses to run on a damaged connection, and a lock would stay.
        let sql = isOutermost ? "ROLLBACK" : "ROLLBACK TO nested; RELEASE nested"
        sqlite3_exec(handle, sql, nil, nil, nil)
    }
}

extension Connection.TransactionKind {
    fileprivate var begin: String {
        switch self {
        case .read: "BEGIN"
        case .write: "BEGIN IMMEDIATE"
        }
    }
}
