import CSQLCipher

extension Connection {
    /// A read transaction that stays open while nobody has the connection.
    struct KeptTransaction {
        /// The file and what was committed in it before the transaction began; nil where that cannot be known.
        fileprivate var begin: (file: UnsafeMutablePointer<sqlite3_file>, state: csqlcipher_log_state)?
    }

    /// Sees to it that a read transaction is open that sees what is committed now.
    ///
    /// To begin one and to end it costs two system calls, more than finding a row. So the last one goes on where nothing
    /// was committed since it began, by whatever process: the index of the log, which all processes share in memory, tells.
    ///
    /// While such a transaction is open, no process can begin the log anew, even if all of it has been written back. Each
    /// reader that fetches often would let it grow without bound. See ``mayKeepTransaction``.
    func beginReading() throws(DatabaseError) {
        if seesLastCommit { return }
        endReading()
        var state = csqlcipher_log_state()
        var kept = KeptTransaction()
        if hasLog, let file = csqlcipher_main_file(handle), csqlcipher_read_log_state(file, &state) != 0 {
            kept.begin = (file, state)
        }
        try runControl("BEGIN")
        stateNumber &+= 1
        keptTransaction = kept
    }

    /// Whether the open transaction does not let the log grow if it stays open between two uses of the connection.
    ///
    /// Without a log it would keep the writers of other processes from the file. With one it does no harm while the log is so short that it is not written back yet; nor where all of the log had been written
    /// back when the transaction began, which then reads the file alone and lets the next writer begin the log anew.
    var mayKeepTransaction: Bool {
        guard let state = keptTransaction?.begin?.state else { return false }
        return state.frames < Checkpointer.threshold || state.frames == state.frames_written_back
    }

    /// Takes the state that the open transaction reads: by itself it begins with the first statement.
    func fixState() throws(DatabaseError) { _ = try value(of: "SELECT count(*) FROM sqlite_schema") }

    /// Whether nothing was committed since before the open transaction began.
    var seesLastCommit: Bool {
        guard var begin = keptTransaction?.begin, isInTransaction else { return false }
        return csqlcipher_log_state_is_current(begin.file, &begin.state) != 0
    }

    /// SQLite's version of the schema in the current transaction. Every commit that changes the schema changes it.
    package func schemaVersion() throws(DatabaseError) -> Int64 { try value(of: "PRAGMA schema_version") }

    /// Ends the read transaction that ``beginReading()`` began, where it is still open.
    func endReading() {
        guard keptTransaction != nil else { return }
        keptTransaction = nil
        guard isInTransaction else { return }
        do {
            try runControl("COMMIT")
        } catch {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        }
    }
}
