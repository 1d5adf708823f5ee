import CSQLCipher
import CStoreFiles

// SQLCipher does not fail the read of a page whose authentication code is wrong: it returns zeros and puts the pager
// into an error state. SQLite reports that state (as SQLITE_ERROR) when the next page is requested, and clears it when
// the transaction ends. After a b-tree page or an inner overflow page there is always a next request, or the zeros are
// recognised as SQLITE_CORRUPT. After the last overflow page of a value there may be no further request. Therefore the
// connection requests a page before it returns a result, in the transaction that read it.
//
// If the system fails to read a page (EIO), SQLite reports SQLITE_CORRUPT, and SQLCipher decrypts a buffer without the
// content of the page. The file may be sound. The file system of the package records the failure, which distinguishes it
// from a page that was read and does not verify.
extension Connection {
    /// A statement that requests a page, and returns a row in every database with a table.
    private static let pageRequest = "SELECT 1 FROM sqlite_schema"

    /// Throws `damaged` if a page that the open transaction read did not verify; `inputOutput` if the system failed to
    /// read a page.
    ///
    /// Takes some 20 ns, and some 200 ns more if pages were read since the last call.
    func verifyPages() throws(DatabaseError) {
        if let defect { throw defect }
        guard isEncrypted, isInTransaction, hasReadPages else { return }
        let code = requestPage()
        guard code == SQLITE_ROW || code == SQLITE_DONE else {
            let error = DatabaseError(code: code, connection: handle, path: path, phase: .execution)
            if case .inputOutput = error { defect = error }
            guard error.mayBeCausedByDamage else { throw error }
            throw finding(during: .execution)
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

    /// Returns the error for a page that did not verify, and records the cause: the system failed to read the page, or
    /// else the page is damaged. The connection runs no further statement in either case. The next connection reads the
    /// page again.
    ///
    /// - Parameter readError: The result of ``takeReadError()`` if that was called before.
    func finding(during phase: DatabaseError.Phase, _ readError: Int32 = 0) -> DatabaseError {
        let code = readError != 0 ? readError : takeReadError()
        guard code == 0 else {
            defect = .inputOutput(extendedCode: code, isIndeterminate: false)
            return .inputOutput(extendedCode: code, isIndeterminate: phase == .commit)
        }
        return noteDamage()
    }

    /// Returns SQLite's extended result code of a failed read if the system has failed to read the file or its log on this
    /// connection since the last call; 0 otherwise.
    func takeReadError() -> Int32 {
        guard isEncrypted, cstorefiles_take_read_error(handle) != 0 else { return 0 }
        // SQLite has codes of its own for some errors of the system, one of which counts as damage.
        return DatabaseError.readFailureCode
    }

    /// Whether pages were read since all of them were last known to verify.
    var hasReadPages: Bool { pagesRead != verifiedPagesRead }

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
