import CSQLCipher
import Foundation

/// Makes a database usable after a process ended while it exchanged the file, see ``FileSwap``.
///
/// The index of the log is invalid then. Every opening would fail for as long as any process keeps the shared memory
/// open. All of the log was written back before: so the index is set to an empty log. The connections that have the
/// file open continue.
///
/// A process that exchanges files holds the ``NamingLock`` and all locks of the log. The repair takes both. The index
/// records the inodes of the file and of the shared memory. If other files are at the path, the index stays invalid.
enum InterruptedSwap {
    /// The result of a repair.
    enum Outcome {
        /// The database can be opened again.
        case repaired
        /// No exchange was interrupted. An exchange that was running is complete.
        case nothingFound
    }

    /// Waits for a running exchange, and repairs the index after an interrupted one.
    static func repair(_ files: DatabaseFiles, _ options: Database.Options) -> Outcome {
        do {
            let lock = try NamingLock.take(files, timeoutMilliseconds: options.busyTimeoutMilliseconds)
            let outcome = repairUnderLock(files, options)
            _ = consume lock
            return outcome
        } catch {
            return .nothingFound
        }
    }

    private static func repairUnderLock(_ files: DatabaseFiles, _ options: Database.Options) -> Outcome {
        // Otherwise a connection would create the shared memory.
        guard DatabaseFiles.exists(files.sharedMemory) else { return .nothingFound }
        var options = options
        options.readOnly = false
        guard let connection = try? ConnectionOpener.connect(files, options: options, counters: StatisticsCounters())
        else { return .nothingFound }
        defer { connection.close() }
        guard let file = csqlcipher_main_file(connection.handle) else { return .nothingFound }
        defer { csqlcipher_close_log_index(file) }
        guard csqlcipher_log_index_is_invalid(file) != 0,
            csqlcipher_lock_log(file, 0, Int32(CSQLCIPHER_LOCK_COUNT)) == SQLITE_OK
        else { return .nothingFound }
        defer { _ = csqlcipher_unlock_log(file, 0, Int32(CSQLCIPHER_LOCK_COUNT)) }
        var exchange = csqlcipher_file_exchange()
        guard csqlcipher_read_file_exchange(file, &exchange) != 0, inode(of: files.path) == exchange.file,
            inode(of: files.sharedMemory) == exchange.shared_memory
        else { return .nothingFound }
        csqlcipher_restart_log_index(file)
        return .repaired
    }

    private static func inode(of path: String) -> UInt64? { DatabaseFiles.status(of: path).map { UInt64($0.st_ino) } }
}
