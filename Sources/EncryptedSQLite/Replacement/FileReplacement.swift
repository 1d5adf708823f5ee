import CSQLCipher
import Foundation

/// Replaces the file of an open database by a new file with the same content, under another key or in another layout.
///
/// SQLCipher's own change of the key (`sqlite3_rekey_v2`) works in place: if it fails in the middle, it can report
/// success, and the next write destroys the file. VACUUM works in place, too. Here the new file is built beside the old
/// one under a temporary name, verified page by page, written to the disk, and takes the name of the old one in one
/// step. Up to that step the old file is complete and in use; from then on the new one is. A process that ends at any
/// instant leaves one of the two at the path, and the next replacement or opening removes an unfinished new file.
///
/// No process can write while the new file is built. ``FileSwap`` describes the exchange of the files.
struct FileReplacement {
    let session: FileSession
    let options: Database.Options
    let counters: StatisticsCounters

    private var files: DatabaseFiles { session.opener.files }

    /// A complete new file that waits for its name.
    struct Built {
        let file: UnnamedFile
        let key: DerivedKey
        let retainedKey: RetainedKey
    }

    /// A new file under its temporary name, and the lock that keeps all processes from writing to the old file.
    final class UnnamedFile {
        let files: DatabaseFiles
        let lock: LogLocks
        /// Whether the file was renamed. Another process can use the temporary name then.
        var isNamed = false

        /// Creates the empty file. Only the holder of the lock uses the temporary name, so that a file with that name
        /// is a leftover.
        init(replacing original: DatabaseFiles, _ lock: LogLocks) throws(DatabaseError) {
            files = TemporaryDatabaseFile.replacement(of: original)
            self.lock = lock
            TemporaryDatabaseFile.remove(files)
            TemporaryDatabaseFile.remove(TemporaryDatabaseFile.compaction(of: original))
            try TemporaryDatabaseFile.create(files)
        }

        deinit {
            // The lock is released afterwards.
            if !isNamed { TemporaryDatabaseFile.remove(files) }
        }
    }

    /// Builds the new file. A file that is a mount point is refused: rename(2) cannot replace it.
    ///
    /// - Parameters:
    ///   - newKey: The key of the new file; nil for the key of the old one, with a fresh salt.
    ///   - progress: Receives the finished part, and can be cancelled.
    ///   - copy: Copies the content of the first connection, which is in a read transaction on the latest commit, to
    ///     the empty database of the second one.
    /// - Throws: `busy` if a connection writes for longer than the busy timeout; `moved`; `damaged` if a page of the
    ///   old file does not verify; `CancellationError`; errors of `copy`. The old file is unchanged then.
    func build(
        _ newKey: EncryptionKey?,
        progress: Progress,
        copy: (_ source: Connection, _ target: Connection, _ progress: Progress) throws -> Void
    ) throws -> Built {
        // Before the locks: the derivation takes time.
        let key = try newKey.map { try DerivedKey(forNewFile: $0, counters: counters) } ?? session.deriveKeyOfNewFile()
        let retainedKey = try newKey.map { try RetainedKey($0) } ?? session.key
        let lock = try LogLocks(session.open(.reader))
        try lock.lockWriting(timeoutMilliseconds: options.busyTimeoutMilliseconds)
        try lock.connection.requireSoundFile()
        try lock.connection.requireUnmovedFile()
        try Self.requireOwnership(of: files)
        guard !MountPoint.exists(at: files.path) else {
            throw DatabaseError.cannotOpen(
                path: files.namedPath,
                reason: "the file is a mount point, which no other file can replace"
            )
        }
        let file = try UnnamedFile(replacing: files, lock)
        var opener = session.opener
        opener.files = file.files
        opener = opener.with(key)
        let copying = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: progress.totalUnitCount * 3 / 4)
        let source = try session.open(.reader)
        try source.beginSnapshot()
        let expected = try Identification(of: source)
        try fill(opener, expected) { target in
            try copy(source, target, copying)
            // The last page that was copied may be one that did not verify.
            try source.verifyPages()
        }
        source.close()
        let verification = FileVerification(file.files, opener)
        try verification.run(
            expecting: expected.header,
            progress: Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: progress.totalUnitCount / 4)
        )
        try FileCreation.synchronize(file: file.files.path, for: files)
        return Built(file: file, key: key, retainedKey: retainedKey)
    }

    /// Fills the new file through a connection that has it alone.
    private func fill(
        _ opener: ConnectionOpener,
        _ expected: Identification,
        _ body: (Connection) throws -> Void
    ) throws {
        let target = try opener.connect()
        defer { target.close() }
        try opener.prepare(target, for: .creator)
        // If the process ends, the file is discarded: it needs neither a journal nor a certain order of its writes.
        try target.runSettings("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4096")
        try body(target)
        try target.runSettings("PRAGMA synchronous = FULL")
        try opener.finish(target, for: .creator)
        try expected.write(to: target)
        try target.writeLogBack()
    }

    /// Removes the unfinished new files of a process that ended, if no other process is building one, and its lock file.
    ///
    /// - Parameter connection: A connection to the file at the path that has read the database. Its read transaction
    ///   ends if there are such files.
    static func removeLeftover(beside files: DatabaseFiles, through connection: Connection) {
        NamingLock.removeLeftover(of: files)
        let leftovers = [TemporaryDatabaseFile.replacement(of: files), TemporaryDatabaseFile.compaction(of: files)]
        guard leftovers.contains(where: { DatabaseFiles.exists($0.path) }) else { return }
        connection.endReading()
        guard let lock = try? LogLocks(borrowing: connection) else { return }
        withExtendedLifetime(lock) {
            guard (try? lock.lockWriting(timeoutMilliseconds: 0)) != nil, connection.sharedFile?.movedFile == nil
            else { return }
            for leftover in leftovers { TemporaryDatabaseFile.remove(leftover) }
        }
    }

    /// Throws `permissionDenied` if the new file cannot have the owner of the old one.
    static func requireOwnership(of files: DatabaseFiles) throws(DatabaseError) {
        guard let status = DatabaseFiles.status(of: files.path) else { throw .moved(path: files.namedPath) }
        guard status.st_uid == geteuid() || geteuid() == 0 else { throw .permissionDenied(path: files.namedPath) }
    }
}

/// The numbers in a database that are not rows.
private struct Identification {
    let header: DatabaseHeader
    let schemaVersion: Int64

    init(of connection: Connection) throws(DatabaseError) {
        header = DatabaseHeader(
            userVersion: Int32(clamping: try connection.value(of: .userVersion)),
            applicationID: Int32(clamping: try connection.value(of: .applicationID))
        )
        schemaVersion = try connection.schemaVersion()
    }

    /// Writes the numbers. The version of the schema increases, since connections keep the schema in memory and read it
    /// again only if its version differs.
    func write(to connection: Connection) throws {
        csqlcipher_configure(connection.handle, SQLITE_DBCONFIG_DEFENSIVE, 0)
        defer { csqlcipher_configure(connection.handle, SQLITE_DBCONFIG_DEFENSIVE, 1) }
        sqlite3_set_authorizer(connection.handle, nil, nil)
        let version = UInt32(truncatingIfNeeded: schemaVersion) &+ 1
        try connection.runSettings(
            """
            BEGIN IMMEDIATE; PRAGMA user_version = \(header.userVersion); PRAGMA application_id = \(header.applicationID);
            PRAGMA schema_version = \(Int32(bitPattern: version)); COMMIT
            """
        )
    }
}
