import CSQLCipher
import CStoreFiles

/// The virtual file system through which each connection opens its files; see `CStoreFiles.h`.
enum StoreFileSystem {
    private static let registeredName = cstorefiles_register().map { String(cString: $0) }

    /// The name of the file system for SQLite.
    ///
    /// - Throws: `cipherUnavailable` if SQLite has no file system on which it could stand.
    static var name: String {
        get throws(DatabaseError) {
            guard let registeredName else { throw .cipherUnavailable(reason: "it has no file system") }
            return registeredName
        }
    }
}

extension Connection {
    /// Makes SQLite refuse clear bytes of the file and of its log that contradict SQLCipher 4's format, whenever it reads
    /// them. The key must be set; it decides on the layout.
    func checkClearBytes(of layout: FileLayout) throws(DatabaseError) {
        let code = cstorefiles_check_clear_bytes(handle, layout == .plaintextHeader ? 1 : 0)
        guard code == SQLITE_OK else {
            throw .cipherUnavailable(reason: "a file is not opened through its file system")
        }
    }
}
