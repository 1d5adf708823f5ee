import CSQLCipher
import Foundation

/// The names that belong to a database, and the names of its file.
extension DatabaseFiles {
    /// The suffixes of the files that SQLite keeps beside a database; the last suffix names the second log of some
    /// versions of SQLite.
    private static let suffixes = ["-wal", "-shm", "-journal", "-wal2"]

    /// Throws if the path is the name of a file that SQLite keeps beside a database in the same folder. A new file must
    /// not take such a name: SQLite would read it as the log of the database, and a file that it replaces has the last
    /// saves of the database.
    ///
    /// Symbolic links are resolved in the path.
    package func requireNameOfNoStore() throws(DatabaseError) {
        // A file system may not distinguish upper and lower case.
        let lowercased = path.lowercased()
        for suffix in Self.suffixes where lowercased.hasSuffix(suffix) && name.utf8.count > suffix.utf8.count {
            let database = String(path.dropLast(suffix.count))
            guard let status = Self.status(of: database), status.st_mode & S_IFMT != S_IFDIR else { continue }
            throw .cannotOpen(path: namedPath, reason: "SQLite would take it for the log of a database at \(database)")
        }
    }

    // MARK: Files of an earlier database

    /// Throws if a file beside the database, which a creation would remove, is not what its name says: it may be a
    /// database of its own.
    func requireRemovableCompanions() throws(DatabaseError) {
        for companion in companions {
            guard let status = Self.status(of: companion) else { continue }
            // An open database is not read: closing a second descriptor would release its locks.
            guard !OpenFile.isInUse(FileIdentity(status)), Self.isCompanion(companion) else {
                throw .cannotOpen(
                    path: namedPath,
                    reason: "the file \(companion) is no file that SQLite keeps beside a database; move it away"
                )
            }
        }
    }

    /// Whether a file begins as a log, an index or a journal does, or with zeros, as these can after a crash.
    private static func isCompanion(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return true }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 8)
        guard pread(descriptor, &bytes, bytes.count, 0) == bytes.count else { return true }
        let beginnings: [[UInt8]] = [
            [0, 0, 0, 0], [0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83], [0xD9, 0xD5, 0x05, 0xF9],
        ]
        let word = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
        return beginnings.contains { bytes.starts(with: $0) } || word == CSQLCIPHER_LOG_INDEX_VERSION
            || word == CSQLCIPHER_INVALID_LOG_INDEX
    }

    // MARK: Hard links

    /// The number of names of the file; 0 if there is no file.
    private var nameCount: Int { Self.status(of: path).map { Int($0.st_nlink) } ?? 0 }

    /// Throws `hardLinked` if the file has another name.
    ///
    /// SQLite names the log after the name of the file. A process that opens the file under another name has another
    /// log, and destroys the file and the saves of the other processes. A reader sees an older state. On a medium that
    /// cannot be written, no process has a log.
    ///
    /// On a file system that cannot rename a file without replacing an existing file, a new file has two names for a
    /// moment, under the lock on the name. If the process is killed at that moment, the file has two names until its
    /// temporary folder is removed.
    func requireSingleName(timeoutMilliseconds: Int) throws(DatabaseError) {
        guard nameCount > 1, !ReadOnlyMedium.contains(path) else { return }
        let lock = try NamingLock.take(self, timeoutMilliseconds: timeoutMilliseconds)
        try requireOnlyName()
        withExtendedLifetime(lock) {}
    }

    /// Throws `hardLinked` if the file has another name. The caller holds the lock on the name.
    func requireOnlyName() throws(DatabaseError) {
        guard nameCount > 1 else { return }
        TemporaryFolder.removeLeftovers(beside: self)
        guard nameCount > 1 else { return }
        throw .hardLinked(path: namedPath)
    }
}
