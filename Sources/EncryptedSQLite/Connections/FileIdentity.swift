import CSQLCipher
import Foundation

/// The identity of a file, independent of its path.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Reads the identity of the file at a path; nil if no file exists there. A symbolic link has an identity of its
    /// own: SQLite resolves the links in the name of a database when it opens the file, and names the log after the
    /// result.
    package init?(path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The same for a name that ends with a zero byte.
    init?(name: [CChar]) {
        var status = stat()
        guard lstat(name, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The identity of the file with a status.
    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

extension Connection {
    /// The identity of the open file.
    ///
    /// Throws `moved` if the file is no longer at its path.
    func fileIdentity() throws(DatabaseError) -> FileIdentity {
        // Symbolic links are resolved in this name, as they were when the file was opened.
        guard let name = sqlite3_db_filename(handle, "main"), let identity = FileIdentity(path: String(cString: name)),
            !hasMovedFile
        else { throw .moved(path: path) }
        return identity
    }

    /// Whether SQLite finds another file, or none, at the path.
    var hasMovedFile: Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }
}
