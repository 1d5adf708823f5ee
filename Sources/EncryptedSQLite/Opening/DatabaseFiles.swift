import CSQLCipher
import Foundation

/// The path of a database file, and of the files that SQLite keeps beside it.
///
/// SQLite follows symbolic links and keeps the other files beside the target of a link. Their names therefore begin
/// with the resolved path.
package struct DatabaseFiles: Sendable {
    /// The absolute path as the program gives it. Errors name this path.
    let namedPath: String
    /// The path with symbolic links resolved.
    let path: String

    var log: String { path + "-wal" }
    var sharedMemory: String { path + "-shm" }
    var journal: String { path + "-journal" }

    /// The files beside the database.
    var companions: [String] { [log, sharedMemory, journal] }

    /// The folder; the resolved path is absolute and has no slash at its end.
    var folder: String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? ""
        return folder.isEmpty ? "/" : folder
    }

    var name: String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Resolves the symbolic links of a path. The file need not exist.
    package init(at path: String) throws(DatabaseError) {
        // A connection that is opened later may find another working directory.
        namedPath = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        guard !path.utf8.contains(0) else {
            throw .cannotOpen(path: namedPath, reason: "a path cannot contain a zero byte")
        }
        if let resolved = Self.resolve(namedPath) {
            self.path = resolved
        } else {
            let (folder, name) = (
                (namedPath as NSString).deletingLastPathComponent, (namedPath as NSString).lastPathComponent
            )
            self.path = Self.resolve(folder).map { ($0 == "/" ? "" : $0) + "/" + name } ?? namedPath
        }
    }

    /// Files at a resolved path. Errors name `namedPath`.
    init(path: String, namedPath: String) {
        self.path = path
        self.namedPath = namedPath
    }

    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    // MARK: Existence and kind

    /// Whether the database file exists. Throws if the path leads to anything but a regular file.
    func exist() throws(DatabaseError) -> Bool {
        var status = stat()
        guard stat(namedPath, &status) == 0 else {
            guard errno == ENOENT else { throw DatabaseError(systemError: errno, path: namedPath) }
            guard lstat(namedPath, &status) != 0 else {
                throw .cannotOpen(path: namedPath, reason: "it is a symbolic link to a file that does not exist")
            }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: namedPath, reason: "it is not a regular file")
        }
        return true
    }

    /// Throws if one of SQLite's file names belongs to anything but a regular file. Throws `superJournal` if the rollback of
    /// the journal would delete another file.
    func checkCompanions() throws(DatabaseError) {
        try requireRegularCompanions()
        guard !RollbackJournal(path: journal).namesSuperJournal else { throw .superJournal(path: journal) }
    }

    /// Throws if one of SQLite's file names belongs to anything but a regular file: opening a FIFO, for example, blocks
    /// forever.
    func requireRegularCompanions() throws(DatabaseError) {
        for companion in companions {
            if let status = Self.status(of: companion), status.st_mode & S_IFMT != S_IFREG {
                throw .cannotOpen(path: companion, reason: "it is not a regular file")
            }
        }
    }

    /// Whether any of the files beside the database exists.
    var haveCompanions: Bool { companions.contains { Self.status(of: $0) != nil } }

    /// The length of a file; 0 if it does not exist.
    static func byteCount(of path: String) -> Int64 { status(of: path).map { Int64($0.st_size) } ?? 0 }

    /// Removes the files beside the database. Returns whether any existed.
    func removeCompanions() throws(DatabaseError) -> Bool {
        var isAnyRemoved = false
        for companion in companions {
            if unlink(companion) == 0 {
                isAnyRemoved = true
            } else if errno != ENOENT {
                throw DatabaseError(systemError: errno, path: companion)
            }
        }
        return isAnyRemoved
    }

    /// Whether anything has a name.
    static func exists(_ path: String) -> Bool { status(of: path) != nil }

    static func status(of path: String) -> stat? {
        var status = stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    // MARK: The log's length

    /// The largest number of bytes of a log after its first hole. A power failure can leave the end of a log unwritten,
    /// but SQLite builds an index in memory for the whole length (1/512 of it).
    private static let unwrittenLogByteCount: Int64 = 16 << 30

    /// Throws if no sequence of commits can have produced the length of the log.
    func checkLogLength() throws(DatabaseError) {
        let byteCount = Self.byteCount(of: log)
        guard byteCount > Self.unwrittenLogByteCount else { return }
        let frameCount = LogFormat.frameCount(inByteCount: byteCount)
        guard frameCount < Int64(UInt32.max), byteCount - firstHole(of: log) <= Self.unwrittenLogByteCount else {
            throw .damaged(path: namedPath)
        }
    }

    /// Throws if nearly all of the database file is a hole, which no writer produces: copying it would take forever.
    func checkContentLength() throws(DatabaseError) {
        guard let status = Self.status(of: path) else { return }
        let written = Int64(status.st_blocks) * 512
        let holes = Int64(status.st_size) - written
        // An image of a failing disk can have large holes.
        guard holes <= Self.unwrittenLogByteCount || holes / 16 <= written else { throw .damaged(path: namedPath) }
    }

    /// The offset of the first hole of a sparse file; the length of the file if it has no hole.
    private func firstHole(of path: String) -> Int64 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return .max }
        defer { close(descriptor) }
        let hole = csqlcipher_first_hole(descriptor)
        return hole < 0 ? .max : hole
    }
}
