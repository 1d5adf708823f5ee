import CSQLCipher
import Foundation

/// Gives a new database file the name of an open one.
///
/// A connection of any process keeps the file that it has opened, and finds the log and the shared memory by name. So
/// no connection may use the old file beside the new log, nor the new file beside the old log, and two groups of
/// connections must never use one file with different shared memory. Connections that have the old file open must not
/// read or write it any more.
///
///     this process                                       | other connections                        | at the path
///     locks the log for writing                          | read; writes wait                        | old file, log
///     builds and verifies the new file                   | read; writes wait                        |
///     writes all of the log back, locks its readers      | no transaction is open, none can begin   | complete
///     takes the PENDING lock                             | no connection to the old file can begin  |
///     locks the name, syncs the old file                 |                                          |
///     1 makes the shared index of the log invalid        | can begin no transaction any more        |
///     2 empties the log, syncs it                        |                                          | old file
///     3 removes the shared memory                        |                                          |
///     4 renames the new file, syncs the folder           |                                          | new file
///     5 overwrites the first page of the old file        |                                          |
///     releases all locks                                 | next use throws `moved`                  |
///
/// If the process ends before step 1, nothing has changed. Between 1 and 3, the old file is complete at the path, and
/// no transaction can begin until ``InterruptedSwap`` makes the index valid again. From step 3 on, connections that had
/// the old file open throw `moved`, and no other connections use their shared memory. If the process ends between 3 and
/// 4, which are two system calls, a process that has the old file open can open it again after it has closed those
/// connections: connections of one process to one file share their memory. The log was emptied on the disk before the
/// rename, so that a power failure cannot bring its content back beside the new file.
///
/// A connection that has opened the old file and waits for the PENDING lock at step 4 reads the old file beside the new
/// log afterwards. Step 5 makes it fail; connections of this package compare the file with the path after opening, too.
/// A connection of this process would also damage the new index: see ``OpeningGate``.
/// Step 5 leaves no content of the old file on the disk for as long as connections keep it. It is omitted if the file
/// has another name, a hard link. The length stays at one page: SQLite removes the log by name if the file is empty.
struct FileSwap {
    let session: FileSession
    let options: Database.Options

    private var files: DatabaseFiles { session.opener.files }

    /// Swaps the files.
    ///
    /// - Returns: The session of the new file.
    /// - Throws: Errors before step 4; the old file is at the path then.
    func run(_ built: FileReplacement.Built) throws(DatabaseError) -> Outcome {
        let timeout = options.busyTimeoutMilliseconds
        let lock = built.file.lock
        let gate = OpeningGate.at(files.path)
        try lock.lockReading(timeoutMilliseconds: timeout, gate) { session.file.endIdleTransactions() }
        // The gate opens before this database opens its new connections.
        defer { gate.open() }
        try lock.lockOpening(timeoutMilliseconds: timeout)
        guard let file = csqlcipher_main_file(lock.connection.handle) else { throw .moved(path: files.namedPath) }
        let namingLock = try NamingLock.take(files, timeoutMilliseconds: timeout)
        try lock.connection.requireSoundFile()
        try lock.connection.requireUnmovedFile()
        let code = csqlcipher_file_sync(file)
        guard code == SQLITE_OK else { throw .inputOutput(extendedCode: code, isIndeterminate: false) }
        guard let old = DatabaseFiles.status(of: files.path) else { throw .moved(path: files.namedPath) }
        try FileAttributes.copy(of: files, old, to: built.file.files)
        guard let identity = FileIdentity(path: built.file.files.path) else { throw .moved(path: files.namedPath) }
        try invalidateIndex(file)
        do throws(DatabaseError) {
            try emptyLog()
            try removeIndex()
        } catch {
            csqlcipher_restart_log_index(file)
            throw error
        }
        guard rename(built.file.files.path, files.path) == 0 else {
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        built.file.isNamed = true
        // The copy of a lost log has pages under the old key.
        unlink(LogLoss.copyPath(files))
        var isConfirmed = true
        do { try FileCreation.synchronize(folder: files.folder, for: files) } catch { isConfirmed = false }
        if isConfirmed, old.st_nlink == 1 { Self.destroy(file) }
        withExtendedLifetime(namingLock) {}
        return Outcome(
            session: FileSession(
                file: OpenFile(files, identity),
                opener: session.opener.with(built.key),
                key: built.retainedKey
            ),
            isConfirmed: isConfirmed
        )
    }

    struct Outcome {
        let session: FileSession
        /// Whether the disk has confirmed the new name.
        let isConfirmed: Bool
    }

    /// Step 1.
    func invalidateIndex(_ file: UnsafeMutablePointer<sqlite3_file>) throws(DatabaseError) {
        guard let old = DatabaseFiles.status(of: files.path),
            let memory = DatabaseFiles.status(of: files.sharedMemory)
        else { throw .moved(path: files.namedPath) }
        let exchange = csqlcipher_file_exchange(file: UInt64(old.st_ino), shared_memory: UInt64(memory.st_ino))
        guard csqlcipher_invalidate_log_index(file, exchange) != 0 else {
            throw .cannotOpen(path: files.namedPath, reason: "its write-ahead log has no index")
        }
    }

    /// Step 2, and the removal of a journal, which another tool can have left.
    func emptyLog() throws(DatabaseError) {
        let descriptor = open(files.log, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.log) }
        defer { close(descriptor) }
        guard ftruncate(descriptor, 0) == 0, fsync(descriptor) == 0 else {
            throw DatabaseError(systemError: errno, path: files.log)
        }
        if unlink(files.journal) == 0 {
            try FileCreation.synchronize(folder: files.folder, for: files)
        } else if errno != ENOENT {
            throw DatabaseError(systemError: errno, path: files.journal)
        }
    }

    /// Step 3. Before the rename: a connection to the new file would find the shared memory by its name.
    func removeIndex() throws(DatabaseError) {
        guard unlink(files.sharedMemory) == 0 else { throw DatabaseError(systemError: errno, path: files.sharedMemory) }
    }

    /// Step 5. If it fails, the content stays on the disk until no connection has the old file open.
    private static func destroy(_ file: UnsafeMutablePointer<sqlite3_file>) {
        var page = [UInt8](repeating: 0, count: PageCipher.pageByteCount)
        guard RAND_bytes(&page, Int32(page.count)) == 1 else { return }
        guard csqlcipher_file_write(file, page, Int32(page.count), 0) == SQLITE_OK else { return }
        _ = csqlcipher_file_truncate(file, Int64(page.count))
    }
}
