import CSQLCipher
import Foundation

/// Creates a database file, which appears at its path in one step for every process.
///
/// The file is built in a temporary folder beside its place and renamed when it is complete and on the disk. So the
/// path never leads to an incomplete file.
///
/// Files of an earlier database with that name may exist (a crash left its log, and only the database file was
/// removed). SQLite would apply an old log or roll back an old journal into the new file, so they are removed before
/// the file gets its name. A live log must not be removed: once one process has named its file, the log beside it
/// belongs to that file. Therefore each process removes and renames under the ``NamingLock``, and only if the path has
/// no file:
///
///     process A                      process B                     at the path
///     finds no file                  finds no file                 old log
///     builds a temporary file        builds a temporary file       old log
///     locks the name                 waits for the lock            old log
///     finds no file
///     removes the old log                                          nothing
///     renames its file                                             A's file
///     unlocks                        locks the name
///     opens the file, commits                                      A's file and log
///                                    finds a file, unlocks         A's file and log
///                                    opens A's file
///
/// Files appear at the path only under the lock, so a process that removes files never removes the files of a new
/// database. A process that ends at any step leaves either no file at the path, with some of the old files, which the
/// next creation removes, or a complete file with no other files beside it. The folder is written to the disk before
/// the file gets its name, so that a power failure cannot bring an old log back beside it.
///
/// A process that still has the removed database open keeps its log and shared memory, which have no names any more. A
/// tool that creates a database in place at the same time takes no such lock; its file is never replaced.
struct FileCreation {
    let files: DatabaseFiles
    let options: Database.Options
    let counters: StatisticsCounters

    /// Creates the file. Returns false, with nothing changed, if another process or thread has created it first.
    func create(with key: DerivedKey, schema: (Connection) throws -> Void) throws -> Bool {
        let temporary = try TemporaryDatabaseFile(beside: files)
        do {
            let opener = ConnectionOpener(files: temporary.files, key: key, options: options, counters: counters)
            let connection = try opener.open(.creator)
            try Self.buildSchema(on: connection, options: options, create: schema)
            try connection.writeLogBack()
            connection.close()
        }
        try verify(temporary.files, with: key)
        return try giveName(to: temporary.files)
    }

    /// Runs the first transaction of a database: the program's tables and the numbers that identify its files.
    static func buildSchema(
        on connection: Connection,
        options: Database.Options,
        create: (Connection) throws -> Void
    ) throws {
        try connection.transaction { connection in
            try create(connection)
            try connection.setting("PRAGMA application_id = \(options.applicationID)")
            if try connection.setting("PRAGMA user_version") == "0" {
                try connection.setting("PRAGMA user_version = \(options.newestUserVersion)")
            }
        }
    }

    // MARK: The file's name

    /// Gives a complete file its name. Returns false if the name is taken.
    func giveName(to temporary: DatabaseFiles) throws(DatabaseError) -> Bool {
        let lock = try NamingLock.take(files, timeoutMilliseconds: options.busyTimeoutMilliseconds)
        guard try !files.exist() else { return false }
        // Otherwise the next opening would move the log of an earlier file back.
        try InterruptedRestoration.finishUnderLock(files)
        if files.haveCompanions {
            try files.requireRemovableCompanions()
            guard lock != nil else {
                throw .cannotOpen(
                    path: files.namedPath,
                    reason:
                        "files of an earlier database lie beside it, and its folder allows no locks under which they can "
                        + "be removed; remove \(files.name)-wal, \(files.name)-shm and \(files.name)-journal"
                )
            }
            if try files.removeCompanions() { try Self.synchronize(folder: files.folder, for: files) }
        }
        guard csqlcipher_rename_exclusively(temporary.path, files.path) == 0 else {
            let code = errno
            if code == EEXIST { return false }
            throw DatabaseError(systemError: code, path: files.namedPath)
        }
        try Self.synchronize(folder: files.folder, for: files)
        // The lock is held until here.
        withExtendedLifetime(lock) {}
        return true
    }

    /// Checks that the file is complete and encrypted with the key, and writes it to the disk.
    private func verify(_ temporary: DatabaseFiles, with key: DerivedKey) throws(DatabaseError) {
        let isComplete = !FileManager.default.fileExists(atPath: temporary.log)
        let firstPage = FileHandle(forReadingAtPath: temporary.path).flatMap { file in
            defer { try? file.close() }
            return try? file.read(upToCount: PageCipher.pageByteCount)
        }
        guard isComplete, let firstPage, firstPage.count == PageCipher.pageByteCount else {
            throw .cannotOpen(path: files.namedPath, reason: "the new file could not be completed")
        }
        let cipher = try PageCipher(key)
        guard !FileLayout.isPlaintext(firstPage) || key.layout == .plaintextHeader,
            firstPage.withUnsafeBytes({ cipher.verifies($0, number: 1) })
        else { throw .cipherUnavailable(reason: "a new file was not encrypted with its key") }
        try Self.synchronize(file: temporary.path, for: files)
    }

    /// Waits until the content of a file is on the disk.
    static func synchronize(file path: String, for files: DatabaseFiles) throws(DatabaseError) {
        let code = synchronize(path, flags: 0)
        guard code == 0 else { throw DatabaseError(systemError: code, path: files.namedPath) }
    }

    /// Waits until the entries of a folder are on the disk. Some file systems have no such function, and return EINVAL.
    static func synchronize(folder path: String, for files: DatabaseFiles) throws(DatabaseError) {
        let code = synchronize(path, flags: O_DIRECTORY)
        guard code == 0 || code == EINVAL else { throw DatabaseError(systemError: code, path: files.namedPath) }
    }

    /// Returns 0 or an `errno`.
    private static func synchronize(_ path: String, flags: Int32) -> Int32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | flags)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return fsync(descriptor) == 0 ? 0 : errno
    }
}

extension DatabaseError {
    /// The error for an `errno` of a call on a file or its folder.
    init(systemError code: Int32, path: String) {
        self =
            switch code {
            case EACCES, EPERM, EROFS: .permissionDenied(path: path)
            case ENOSPC, EDQUOT: .diskFull
            case ENOENT, ENOTDIR: .cannotOpen(path: path, reason: "its folder does not exist")
            default: .cannotOpen(path: path, reason: String(cString: strerror(code)))
            }
    }
}
