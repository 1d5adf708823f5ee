import CSQLCipher
import Foundation

/// The identity of a file, independent of its path.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Reads the identity of the file at a path; nil if no file exists there.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
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
        guard let name = sqlite3_db_filename(handle, "main"), let identity = FileIdentity(path: String(cString: name))
        else { throw .moved(path: path) }
        try requireUnmovedFile()
        return identity
    }

    /// Throws `moved` if the path does not lead to the open file any more: it was deleted or moved, or another file
    /// took its place. Costs one system call.
    func requireUnmovedFile() throws(DatabaseError) {
        guard isEncrypted else { return }
        if Self.hasMovedFile(handle) { throw .moved(path: path) }
    }

    static func hasMovedFile(_ handle: OpaquePointer?) -> Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }
}
