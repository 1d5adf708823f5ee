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

    /// Reads the identity of the file with a name that ends with a zero byte; nil if no file has the name.
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

/// The attributes that distinguish a file from any other file, also from a later file with the same inode number: file
/// systems use the numbers of removed files again. Neither a commit nor a checkpoint changes the mark.
package struct FileMark: Equatable, Sendable {
    private let identity: FileIdentity
    /// The time at which the file was created; nil if the file system does not record it.
    private let birth: [Int64]?
    /// The salt, or the constant beginning of a file with a plaintext header.
    private let beginning: [UInt8]

    fileprivate init?(of connection: Connection, at path: String) {
        guard let identity = FileIdentity(path: path), let file = csqlcipher_main_file(connection.handle) else {
            return nil
        }
        self.identity = identity
        var birth: [Int64] = [0, 0]
        self.birth = csqlcipher_birth_time(path, &birth) == 0 ? nil : birth
        var beginning = [UInt8](repeating: 0, count: DerivedKey.saltByteCount)
        guard csqlcipher_file_read(file, &beginning, Int32(beginning.count), 0) == SQLITE_OK else { return nil }
        self.beginning = beginning
    }
}

extension Database {
    /// The mark of the file at the path, whose beginning is read through a connection to it; nil for a database in memory,
    /// and if it cannot be read.
    package func fileMark(of connection: Connection) -> FileMark? {
        files.flatMap { FileMark(of: connection, at: $0.path) }
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
