import CSQLCipher
package import Foundation

/// Copies a database page by page to a connection with another key, with SQLite's backup functions.
///
/// The copy keeps everything: `user_version`, `application_id`, statistics, full-text indexes, free pages. Unlike
/// `sqlcipher_export`, it runs no SQL, and its memory does not depend on the size of the database.
package enum PageCopy {
    private static let pagesInStep: Int32 = 256

    /// Copies all pages of the state that the source reads.
    ///
    /// - Parameters:
    ///   - source: A connection in a read transaction, see `Database.snapshot()`. After the copy, its caller has to
    ///     make sure that all pages verified.
    ///   - target: A connection to an encrypted database that no other connection has open.
    ///   - progress: Receives the numbers of pages, and can be cancelled.
    /// - Throws: `DatabaseError`; `CancellationError`.
    package static func run(from source: Connection, to target: Connection, progress: Progress?) throws {
        guard let backup = sqlite3_backup_init(target.handle, "main", source.handle, "main") else {
            throw target.failure(sqlite3_errcode(target.handle), during: .execution)
        }
        var code = SQLITE_OK
        var isCancelled = false
        while code == SQLITE_OK, !isCancelled {
            code = sqlite3_backup_step(backup, pagesInStep)
            let total = Int64(sqlite3_backup_pagecount(backup))
            progress?.totalUnitCount = max(total, 1)
            progress?.completedUnitCount = total - Int64(sqlite3_backup_remaining(backup))
            isCancelled = code == SQLITE_OK && progress?.isCancelled ?? false
        }
        let result = sqlite3_backup_finish(backup)
        guard !isCancelled else { throw CancellationError() }
        guard code == SQLITE_DONE, result == SQLITE_OK else {
            // A page of the source that does not verify is the cause of any later error.
            try source.verifyPages()
            let readError = source.takeReadError()
            guard readError == 0 else { throw source.finding(during: .execution, readError) }
            throw DatabaseError(
                code: code == SQLITE_DONE ? result : code,
                connection: target.handle,
                path: target.path,
                phase: .execution
            )
        }
    }
}
