import CSQLCipher

/// The number of commits to a file by all processes.
package struct CommitCounter: Sendable {
    /// A number that every commit increases by one, modulo 2^32. It starts again when a log is recovered.
    package let value: UInt32
    /// Whether the transaction reads exactly the state after these commits. If not, another connection has committed
    /// since the transaction began, and the transaction may see some of its commits, too.
    package let isExact: Bool
}

extension Connection {
    /// A read transaction that stays open while the connection is idle.
    struct KeptTransaction {
        /// The file, and the head of the log's index from before the transaction began; nil if there is no such index.
        fileprivate var begin: (file: UnsafeMutablePointer<sqlite3_file>, state: csqlcipher_log_state)?
        /// Whether the transaction was used since ``endReadingIfUnused()`` was called last.
        fileprivate var wasUsed = true
    }

    /// Runs `body` in a read transaction on the latest commit, which stays open afterwards if it does no harm.
    ///
    /// Nested calls share the transaction of the outermost one.
    func withReadTransaction<R>(_ body: (Connection) throws -> R) throws -> R {
        guard !isReading else { return try body(self) }
        isReading = true
        defer { isReading = false }
        do {
            try beginReading()
            let result = try body(self)
            if !mayKeepTransaction { endReading() }
            return result
        } catch {
            endReading()
            throw error
        }
    }

    /// Ensures a read transaction on the latest commit.
    ///
    /// To begin and to end a transaction costs two system calls, more than to find a row. Therefore the previous
    /// transaction continues if no process has committed since it began. The index of the log, which all processes
    /// share in memory, shows that.
    ///
    /// While such a transaction is open, no process can reset the log, even if all of it has been written back. Each
    /// reader that fetches often would let it grow without bound. See ``mayKeepTransaction``.
    func beginReading() throws(DatabaseError) {
        if seesLastCommit {
            keptTransaction?.wasUsed = true
            return
        }
        endReading()
        var state = csqlcipher_log_state()
        var kept = KeptTransaction()
        if hasLog, let file = csqlcipher_main_file(handle), csqlcipher_read_log_state(file, &state) != 0 {
            kept.begin = (file, state)
        }
        try runControl(.begin)
        stateNumber &+= 1
        keptTransaction = kept
    }

    /// Whether the log cannot grow because the open transaction stays open between two uses of the connection.
    ///
    /// Without a log, an open transaction would block the writers of other processes. With a log it does no harm while
    /// the log is too short to be written back, nor if all of the log had been written back when the transaction began:
    /// such a transaction reads the file only, and the next writer resets the log.
    var mayKeepTransaction: Bool {
        guard let state = keptTransaction?.begin?.state else { return false }
        return state.frames < Checkpointer.threshold || state.frames == state.frames_written_back
    }

    /// Makes the open transaction read the state that is committed now. BEGIN alone fixes no state; the first statement
    /// does.
    func fixState() throws(DatabaseError) { _ = try value(of: .schemaObjectCount) }

    /// Whether no process has committed since before the open transaction began.
    var seesLastCommit: Bool {
        guard var begin = keptTransaction?.begin, isInTransaction else { return false }
        return csqlcipher_log_state_is_current(begin.file, &begin.state) != 0
    }

    /// The number of commits to the file from before the open read transaction began; nil if the file has no log.
    package var commitCounter: CommitCounter? {
        guard var state = keptTransaction?.begin?.state else { return nil }
        return CommitCounter(value: csqlcipher_commit_counter(&state), isExact: seesLastCommit)
    }

    /// SQLite's version of the schema in the current transaction. Every commit that changes the schema changes it.
    package func schemaVersion() throws(DatabaseError) -> Int64 { try value(of: .schemaVersion) }

    /// Ends the read transaction that ``beginReading()`` began, if it is still open.
    func endReading() {
        guard keptTransaction != nil else { return }
        keptTransaction = nil
        guard isInTransaction else { return }
        do {
            try runControl(.commit)
        } catch {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        }
    }

    /// Ends the read transaction if it was not used since the last call. Returns whether it stays open.
    func endReadingIfUnused() -> Bool {
        guard keptTransaction?.wasUsed ?? false else {
            endReading()
            return false
        }
        keptTransaction?.wasUsed = false
        return true
    }
}
