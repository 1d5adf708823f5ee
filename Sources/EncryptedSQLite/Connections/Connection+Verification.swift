import CSQLCipher

// SQLCipher does not fail the read of a page whose authentication code is wrong: it returns zeros and puts the pager
// into an error state. SQLite reports that state (as SQLITE_ERROR) when the next page is requested, and clears it when
// the transaction ends. After a b-tree page or an inner overflow page there is always a next request, or the zeros are
// recognised as SQLITE_CORRUPT. After the last overflow page of a value there may be no further request. Therefore the
// connection requests a page before it returns a result, in the transaction that read it.
extension Connection {
    /// A statement that requests a page, and returns a row in every database with a table.
    private static let pageRequest = "SELECT 1 FROM sqlite_schema"

    /// Throws `damaged` if a page that the open transaction read did not verify.
    ///
    /// Takes some 20 ns, and some 200 ns more if pages were read since the last call.
    func verifyPages() throws(DatabaseError) {
        guard !isDamaged else { throw .damaged(path: path) }
        guard isEncrypted, isInTransaction, pagesRead != verifiedPagesRead else { return }
        let code = requestPage()
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            let error = DatabaseError(code: code, connection: handle, path: path, phase: .execution)
            guard error.mayBeCausedByDamage else { throw error }
            noteDamage()
            throw .damaged(path: path)
        }
        verifiedPagesRead = pagesRead
    }

    /// Whether a page that the open transaction read did not verify, which explains any error of a statement.
    func hasUnverifiedPage() -> Bool {
        guard isEncrypted, isInTransaction else { return false }
        let code = requestPage()
        guard code != SQLITE_ROW, code != SQLITE_DONE else { return false }
        return DatabaseError(code: code, connection: handle, path: path, phase: .execution).mayBeCausedByDamage
    }

    /// The number of pages that were read from the file or its log, modulo 2³².
    private var pagesRead: Int32 {
        var current: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &current, &highest, 0)
        return current
    }

    private func requestPage() -> Int32 {
        if pageRequestStatement == nil {
            let code = sqlite3_prepare_v3(
                handle,
                Self.pageRequest,
                -1,
                UInt32(SQLITE_PREPARE_PERSISTENT),
                &pageRequestStatement,
                nil
            )
            guard code == SQLITE_OK else { return code }
        }
        let code = sqlite3_step(pageRequestStatement)
        sqlite3_reset(pageRequestStatement)
        return code
    }

    // MARK: The schema

    /// Reads the schema, and with it the first pages, which proves the key.
    ///
    /// The texts of the schema may have overflow pages like any other value, hence the transaction. Its first statement
    /// does not need the schema, so that the schema is read inside the transaction.
    func loadSchema() throws(DatabaseError) {
        try runSettings("BEGIN; PRAGMA schema_version")
        do {
            try setting("SELECT count(*) FROM sqlite_schema")
            try verifyPages()
        } catch {
            sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
            throw error
        }
        try runSettings("COMMIT")
    }
}

extension DatabaseError {
    /// Whether the error of a page request can come from the pager's error state after a page that did not verify.
    fileprivate var mayBeCausedByDamage: Bool {
        switch self {
        case .damaged: true
        case .sqlite(let code, _, _): code == SQLITE_ERROR
        default: false
        }
    }
}
