import CStoreFiles
import CSQLCipher
import Foundation

/// The files to which SQLite moves data that do not fit into memory.
///
/// SQLCipher does not encrypt them. Temporary data therefore stay in memory, except where their size depends on the
/// number of rows of a table: for these operations, SQLite may use files, which ``StoreFileSystem`` encrypts.
enum TemporaryFiles {
    /// Calls `body`, in which this thread creates temporary files in a folder.
    static func withFolder<R>(_ folder: String, _ body: () throws -> R) rethrows -> R {
        try folder.withCString { folder in
            let outerFolder = cstorefiles_set_folder(folder)
            defer { _ = cstorefiles_set_folder(outerFolder) }
            return try body()
        }
    }
}

extension Connection {
    /// Calls `body`, in which SQLite moves data that exceed the page cache to encrypted temporary files: sorted rows of
    /// an index that is built, the pages that a statement changes and may have to restore. Memory then does not depend
    /// on the number of rows. The pages of a statement stay in memory if `body` is called inside a transaction.
    ///
    /// The files are in the folder of the database. If no file can be created there, SQLite chooses the folder, which
    /// the environment variables `SQLITE_TMPDIR` and `TMPDIR` name. A file is unlinked directly after its creation; a
    /// process that is killed between both calls leaves an empty file. The keys are random and stay in memory.
    package func usingTemporaryFiles<R>(_ body: () throws -> R) throws -> R {
        guard !usesTemporaryFiles, isEncrypted else { return try body() }
        try moveTemporaryData("PRAGMA temp_store = FILE")
        usesTemporaryFiles = true
        defer {
            try? moveTemporaryData("PRAGMA temp_store = MEMORY")
            usesTemporaryFiles = false
        }
        // The program may have opened the database through a symbolic link in another folder.
        let path = sqlite3_db_filename(handle, "main").map { String(cString: $0) } ?? path
        return try TemporaryFiles.withFolder(DatabaseFiles(path: path, namedPath: path).folder, body)
    }

    private func moveTemporaryData(_ setting: String) throws(DatabaseError) {
        mayMoveTemporaryData = true
        defer { mayMoveTemporaryData = false }
        try runSettings(setting)
    }
}
