import EncryptedSQLite

/// A failure because another program has put a new file in the place of a database's file that this program has just
/// opened: the other program has compacted the store or changed its key. The new file has all commits of the old file.
///
/// An operation that opens a file by its URL, works on it and closes it begins again after this error, since its caller
/// has no open store that could be opened again.
struct ReplacedFile: Error {
    /// The error that the use of the database has thrown.
    let cause: any Error

    /// The number of attempts of an operation.
    private static let maximumAttempts = 10

    /// Runs an operation, and runs it again if it throws ``ReplacedFile``.
    ///
    /// - Parameter operation: The operation. Its argument is true in the first attempt.
    static func beginningAgain<R>(_ operation: (_ isFirst: Bool) throws -> R) throws -> R {
        for attempt in 1..<maximumAttempts {
            do { return try operation(attempt == 1) } catch is ReplacedFile {}
        }
        do {
            return try operation(false)
        } catch let replaced as ReplacedFile {
            throw replaced.cause
        }
    }

    /// Calls `body`, which uses an open database. If it throws, closes the database.
    ///
    /// - Throws: ``ReplacedFile`` if the error of `body` means that the file was replaced; otherwise the error of
    ///   `body`.
    static func using<R>(_ database: Database, _ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            let isReplaced = database.isReplaced(accordingTo: error)
            try? database.close()
            throw isReplaced ? ReplacedFile(cause: error) : error
        }
    }
}
