import CSQLCipher

/// Repairs the shared memory of a database after a process ended while it exchanged the file, see ``FileSwap``.
///
/// The index of the log is invalid then, so that every opening fails for as long as any process keeps the shared memory
/// open. The index records the inodes of both files and of the shared memory:
///
/// - If the old file is at the path, the index is reset. SQLite then builds it from the log, all of whose content is in
///   the file already, and the connections that have the file open continue.
/// - If the new file is at the path, the shared memory belongs to connections to the old file. It loses its name, so
///   that connections to the new file make another one; those to the old file throw `moved`.
///
/// A process that exchanges files holds the lock on the folder and all locks of the log. The repair takes both.
enum InterruptedSwap {
    /// The result of a repair.
    enum Outcome {
        /// The database can be opened again.
        case repaired
        /// No exchange was interrupted. One that was running meanwhile is complete.
        case nothingFound
    }

    /// Waits for a running exchange, and repairs the shared memory after an interrupted one.
    static func repair(_ files: DatabaseFiles, _ options: Database.Options) -> Outcome {
        do {
            let lock = try FolderLock.take(files.folder, timeoutMilliseconds: options.busyTimeoutMilliseconds)
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
        return repair(files, file) ? .repaired : .nothingFound
    }

    private static func repair(_ files: DatabaseFiles, _ file: UnsafeMutablePointer<sqlite3_file>) -> Bool {
        guard csqlcipher_log_index_is_invalid(file) != 0,
            csqlcipher_lock_log(file, 0, Int32(CSQLCIPHER_LOCK_COUNT)) == SQLITE_OK
        else { return false }
        defer { _ = csqlcipher_unlock_log(file, 0, Int32(CSQLCIPHER_LOCK_COUNT)) }
        var exchange = csqlcipher_file_exchange()
        // Connections of one process share the memory of a file, also after it has lost its name.
        guard csqlcipher_read_file_exchange(file, &exchange) != 0,
            let memory = DatabaseFiles.status(of: files.sharedMemory), UInt64(memory.st_ino) == exchange.shared_memory,
            let named = DatabaseFiles.status(of: files.path)
        else { return false }
        switch UInt64(named.st_ino) {
        case exchange.old_file: csqlcipher_reset_log_index(file)
        case exchange.new_file: unlink(files.sharedMemory)
        default: return false
        }
        return true
    }
}
