import CEncryptedTemporaryFiles

/// The files to which SQLite moves what does not fit into memory.
///
/// SQLCipher does not encrypt them. Temporary data therefore stay in memory, except where their size depends on the
/// number of rows of a table: for these operations, SQLite may use files of a file system that encrypts them.
enum TemporaryFiles {
    /// The name of the file system; nil if SQLite does not know one.
    nonisolated(unsafe) static let encryptingSystem: UnsafePointer<CChar>? = cencryptedtemporaryfiles_register()
}

extension Connection {
    /// Calls `body`, in which SQLite sorts in encrypted temporary files what exceeds the page cache: the rows of an
    /// index that is built, for example. Memory then does not depend on the number of rows.
    ///
    /// The files are in the first existing folder of the environment variables `SQLITE_TMPDIR` and `TMPDIR`, `/var/tmp`
    /// and `/tmp`. They have no name and vanish with the process. Their keys are random and stay in memory.
    package func sortingInFiles<R>(_ body: () throws -> R) throws -> R {
        guard !sortsInFiles, isEncrypted, TemporaryFiles.encryptingSystem != nil else { return try body() }
        sortsInFiles = true
        try runSettings("PRAGMA temp_store = FILE")
        defer {
            try? runSettings("PRAGMA temp_store = MEMORY")
            sortsInFiles = false
        }
        return try body()
    }
}
