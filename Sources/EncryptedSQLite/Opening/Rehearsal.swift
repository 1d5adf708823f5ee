import CSQLCipher
import Foundation

/// Checks a database that an earlier process left with a log or journal beside it, without changing any of these files.
///
/// SQLite recovers such a database before it reads it: it rebuilds the shared memory, or rolls the journal back into
/// the file and removes it. A file that is refused afterwards would have changed. So the checks run first:
///
/// - on a connection with an exclusive lock; SQLite then keeps the index of the log in private memory and creates no
///   shared memory beside the file;
/// - if a journal has to be rolled back, on a copy of the file and the files beside it.
///
/// The first check is that the log belongs to the file. If a backup takes the place of a file whose process was killed,
/// the log of the old file lies beside it. Its checksums are valid, so that SQLite reads its pages in place of the
/// pages of the new file, and writes them into it when the last connection is closed.
///
/// SQLite drops the transactions behind a part of the log that did not reach the disk before a power failure, and its next
/// transaction overwrites them. The rehearsal counts them, see ``LogLoss``.
///
/// If other connections have the file open, no recovery is due, and reading changes no file. The log belongs to the
/// file, since these connections write to it.
struct Rehearsal {
    private let opener: ConnectionOpener
    private var files: DatabaseFiles { opener.files }
    /// Whether the database is opened for writing, so that its next transaction overwrites the end of the log.
    private let mayWrite: Bool

    /// Creates a rehearsal of an opening with a key and options.
    init(_ opener: ConnectionOpener) {
        mayWrite = !opener.options.readOnly && !opener.options.examinesOnly
        var opener = opener
        // Only a connection that may write can lock the file exclusively.
        opener.options.readOnly = false
        self.opener = opener
    }

    /// Runs the checks, unless other connections have the file open.
    ///
    /// - Parameter connection: A connection to the file that has read nothing yet.
    /// - Returns: The loss of transactions of the log; nil if none is known.
    func run(onBehalfOf connection: Connection, _ check: (Connection) throws -> Void) throws -> LogLoss? {
        guard let copy = try copyWithJournal(through: connection) else {
            return isOpenElsewhere(connection) ? nil : try rehearse(check)
        }
        defer { withExtendedLifetime(copy) {} }
        var opener = opener
        opener.files = copy.files
        return try rehearse(on: try opener.connect(), opener, check)
    }

    /// Whether other connections, of this or another process, have the file open.
    ///
    /// The locks are tried on the existing connection: opening a second connection in vain takes longer than all of the
    /// checks. A read-only connection cannot try them.
    private func isOpenElsewhere(_ connection: Connection) -> Bool {
        guard sqlite3_db_readonly(connection.handle, "main") == 0, let file = csqlcipher_main_file(connection.handle)
        else { return false }
        defer { csqlcipher_unlock_file(file) }
        return csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) != SQLITE_OK
            || csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) != SQLITE_OK
    }

    private func rehearse(_ check: (Connection) throws -> Void) throws -> LogLoss? {
        guard let connection = try writableConnection(), let file = csqlcipher_main_file(connection.handle) else {
            try checkUnlockedLog()
            return nil
        }
        // SQLite finds the lock taken when it reads. It then attributes a journal to an active writer and does not roll
        // it back.
        guard csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK,
            csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
        else {
            csqlcipher_unlock_file(file)
            return nil
        }
        return try rehearse(on: connection, opener, check)
    }

    /// A connection that can lock the file exclusively; nil if this process may only read the file.
    private func writableConnection() throws(DatabaseError) -> Connection? {
        do throws(DatabaseError) {
            let connection = try opener.connect()
            return sqlite3_db_readonly(connection.handle, "main") == 0 ? connection : nil
        } catch {
            guard case .permissionDenied = error else { throw error }
            return nil
        }
    }

    private func rehearse(
        on connection: Connection,
        _ opener: ConnectionOpener,
        _ check: (Connection) throws -> Void
    ) throws -> LogLoss? {
        defer { connection.close() }
        let log = try ownLog(opener)
        // If there is no log, closing the connection removes the empty log that SQLite creates for reading.
        connection.writesLogBackOnClose = !FileManager.default.fileExists(atPath: opener.files.log)
        // Before the other settings, some of which read the file.
        try connection.setting("PRAGMA locking_mode = EXCLUSIVE")
        try opener.prepare(connection, for: .reader)
        try check(connection)
        // The copy is made while the connection has the file locked: otherwise another process would overwrite the log.
        return log.flatMap { LogLoss($0, in: files, mayWrite: mayWrite) }
    }

    /// The content of the log; nil if it has no frame.
    ///
    /// A file with the same key and the same salt, such as a plain copy of the file, cannot be distinguished: the file
    /// has no record of its log.
    ///
    /// - Throws: `foreignLog` if a page in the log does not verify with the key of the file, or bytes of the log have
    ///   changed since it was written, so that SQLite would drop transactions. `inputOutput` if the log cannot be read.
    private func ownLog(_ opener: ConnectionOpener) throws(DatabaseError) -> LogContent? {
        guard LogFormat.frameCount(inByteCount: DatabaseFiles.byteCount(of: opener.files.log)) > 0 else { return nil }
        let cipher = try PageCipher(opener.key)
        let content = LogContent(path: opener.files.log, cipher: cipher)
        guard !content.hasReadError else {
            throw .inputOutput(extendedCode: DatabaseError.readFailureCode, isIndeterminate: false)
        }
        let verifies = try content.verifies(path: opener.files.log, cipher)
        guard verifies, !content.wasModified else { throw .foreignLog(path: opener.files.namedPath) }
        return content
    }

    private static let maximumAttempts = 5

    /// Checks that the log belongs to the file, of which this process can lock nothing. If another process begins the log
    /// anew during the check, the header of the log changes, and the check is repeated.
    ///
    /// - Throws: `foreignLog` if a page in the log does not verify with the key of the file; `inputOutput`.
    private func checkUnlockedLog() throws(DatabaseError) {
        guard LogFormat.frameCount(inByteCount: DatabaseFiles.byteCount(of: files.log)) > 0 else { return }
        let cipher = try PageCipher(opener.key)
        for _ in 0..<Self.maximumAttempts {
            let header = LogContent.header(path: files.log)
            if try LogContent(path: files.log, cipher: cipher).verifies(path: files.log, cipher) { return }
            guard LogContent.header(path: files.log) != header else { throw .foreignLog(path: files.namedPath) }
        }
    }

    // MARK: A journal

    /// Copies the file and the files beside it if SQLite would roll back a journal at the next read.
    ///
    /// SQLite rolls a hot journal back if no connection writes. The shared lock prevents writes while the file is copied.
    private func copyWithJournal(through connection: Connection) throws(DatabaseError) -> TemporaryDatabaseFile? {
        guard DatabaseFiles.byteCount(of: files.journal) > 0, let file = csqlcipher_main_file(connection.handle),
            csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK
        else { return nil }
        defer { csqlcipher_unlock_file(file) }
        guard csqlcipher_file_is_reserved(file) == 0, RollbackJournal(path: files.journal).isHot else { return nil }
        try files.checkContentLength()
        let copy = try TemporaryDatabaseFile(beside: files)
        try FileCopy(to: copy.files.path, namedPath: files.namedPath).copy(file)
        try FileCopy(to: copy.files.log, namedPath: files.namedPath).copy(files.log)
        try FileCopy(to: copy.files.journal, namedPath: files.namedPath).copy(files.journal)
        return copy
    }
}
