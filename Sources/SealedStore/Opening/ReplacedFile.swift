import EncryptedSQLite

/// Another file took the place of the file of a database that this program has just opened: another program has
/// compacted the store or changed its key. The new file has all commits of the old one.
///
/// An operation that opens a file by its URL, works on it and closes it begins again then: its caller has no open store
/// that could be opened again.
struct ReplacedFile: Error {
    /// The error that the use of the database has thrown.
    let cause: any Error

    /// The number of times that an operation begins.
    private static let maximumAttempts = 10

    /// Runs an operation, which begins again if it throws ``ReplacedFile``.
    ///
    /// - Parameter operation: Receives whether it begins for the first time.
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
    /// - Throws: ``ReplacedFile`` if the error of `body` means that; otherwise that error.
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
