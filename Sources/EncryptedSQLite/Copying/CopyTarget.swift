import CSQLCipher
import Foundation

/// The path at which a copy of a database takes its name.
///
/// A copy is built under a temporary name and takes its name when it is complete, verified and on the disk.
///
/// A file that is replaced must not be in use: a connection to it would continue with a file without a name, and the
/// log beside it would be taken for the log of the new file. Therefore the replacement holds SQLite's exclusive lock on
/// the old file until the rename:
///
///     copying process                  other process                   at the path
///     locks the old file exclusively                                   old file
///     finds no log beside it           opens the old file, waits       old file
///     renames the copy over it                                         copy
///     closes the old file              gets the lock on the old file,  copy
///                                      which has no name any more:
///                                      SQLite reports a moved file
///
/// A log beside the old file has saves that are not in the file. Only ``Existing/restored`` discards such a log: see
/// ``InterruptedRestoration``.
struct CopyTarget {
    /// What happens to an existing file at the path.
    enum Existing {
        /// It is never touched.
        case kept
        /// It is replaced, unless a log lies beside it.
        case replaced
        /// It is replaced with all files beside it. The new file gets its owner and permissions.
        case restored
    }

    let files: DatabaseFiles
    let existing: Existing

    init(path: String, _ existing: Existing) throws(DatabaseError) {
        files = try DatabaseFiles(at: path)
        self.existing = existing
    }

    /// Throws if the copy cannot take its name, before the work of copying begins: the path is taken, the file that is to
    /// be replaced is in use, or the name belongs to a file that SQLite keeps beside a database.
    func requireFree(_ options: Database.Options, _ counters: StatisticsCounters) throws(DatabaseError) {
        try files.requireNameOfNoStore()
        guard try files.exist() else { return }
        guard existing != .kept else { throw taken }
        try files.requireSingleName(timeoutMilliseconds: options.busyTimeoutMilliseconds)
        if existing == .restored { try FileReplacement.requireOwnership(of: files) }
        let old = try lock(options, counters)
        old.connection.close()
    }

    private var taken: DatabaseError { .cannotOpen(path: files.namedPath, reason: "a file exists at this path") }

    /// Gives a complete file its name.
    func giveName(to temporary: DatabaseFiles, _ creation: FileCreation) throws(DatabaseError) {
        guard existing != .kept, try files.exist() else {
            guard try creation.giveName(to: temporary) else { throw taken }
            return
        }
        // A connection of this process that opened the old file would read it by the index of the new one.
        let gate = OpeningGate.at(files.path)
        gate.close()
        defer { gate.open() }
        let lock = try NamingLock.take(files, timeoutMilliseconds: creation.options.busyTimeoutMilliseconds)
        try replace(by: temporary, creation)
        withExtendedLifetime(lock) {}
    }

    private func replace(by temporary: DatabaseFiles, _ creation: FileCreation) throws(DatabaseError) {
        try InterruptedRestoration.finishUnderLock(files)
        let old = try self.lock(creation.options, creation.counters)
        defer {
            csqlcipher_unlock_file(old.file)
            old.connection.close()
        }
        guard existing == .replaced else {
            guard let status = DatabaseFiles.status(of: files.path) else { throw .moved(path: files.namedPath) }
            try FileAttributes.copy(of: files, status, to: temporary)
            try InterruptedRestoration.restore(files, from: temporary)
            return
        }
        if try files.removeCompanions() { try FileCreation.synchronize(folder: files.folder, for: files) }
        guard rename(temporary.path, files.path) == 0 else {
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        try FileCreation.synchronize(folder: files.folder, for: files)
    }

    /// A connection that holds the exclusive lock on the file that is to be replaced.
    private struct Locked {
        let connection: Connection
        let file: UnsafeMutablePointer<sqlite3_file>
    }

    /// Locks the file that is to be replaced exclusively.
    ///
    /// - Throws: `busy` if it is in use; `hardLinked`: the other name would keep the old file.
    private func lock(_ options: Database.Options, _ counters: StatisticsCounters) throws(DatabaseError) -> Locked {
        try files.requireOnlyName()
        // A restoration moves the journal away, which is never rolled back.
        if existing == .restored { try files.requireRegularCompanions() } else { try files.checkCompanions() }
        var options = options
        options.readOnly = false
        let connection = try ConnectionOpener.connect(files, options: options, counters: counters)
        // Closing the connection must not write to a file that it has not read.
        connection.writesLogBackOnClose = false
        guard let file = csqlcipher_main_file(connection.handle),
            csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK,
            csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
        else {
            connection.close()
            throw .busy
        }
        let hasLog = DatabaseFiles.byteCount(of: files.log) > 0 || DatabaseFiles.byteCount(of: files.journal) > 0
        guard existing == .restored || !hasLog else {
            csqlcipher_unlock_file(file)
            connection.close()
            throw .cannotOpen(
                path: files.namedPath,
                reason:
                    "a log of an earlier process lies beside the file that is to be replaced; open or restore it first"
            )
        }
        return Locked(connection: connection, file: file)
    }
}
