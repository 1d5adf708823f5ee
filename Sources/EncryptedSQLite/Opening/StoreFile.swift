import CSQLCipher
public import Foundation

/// A file at the path of a store, as far as it can be described without its key.
public struct StoreFile: Equatable, Sendable {
    /// The kinds of files.
    public enum Kind: Equatable, Sendable {
        /// There is no file.
        case missing
        /// The file has no content.
        case empty
        /// A SQLite database without encryption.
        case plaintextSQLite
        /// An encrypted database, or random bytes: without the key, the two cannot be distinguished.
        case encrypted
        /// Content of another kind.
        case other
    }

    /// The kind of the file.
    public let kind: Kind
    /// The length in bytes; 0 if there is no file.
    public let byteCount: Int
    /// Whether a write-ahead log with content lies beside the file. Its last saves are in the log then, and a copy of
    /// the file alone lacks them.
    public let hasLog: Bool
    /// Whether a rollback journal lies beside the file, which another tool left in the middle of a transaction.
    public let hasJournal: Bool

    /// Examines the file at a URL, and changes nothing.
    ///
    /// - Throws: `DatabaseError.permissionDenied`; `DatabaseError.cannotOpen` if it is not a regular file.
    /// - Complexity: O(1).
    public init(at url: URL) throws {
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        hasLog = DatabaseFiles.byteCount(of: files.log) > 0
        hasJournal = DatabaseFiles.byteCount(of: files.journal) > 0
        guard try files.exist() else {
            kind = .missing
            byteCount = 0
            return
        }
        byteCount = Int(clamping: DatabaseFiles.byteCount(of: files.path))
        let connection = try ConnectionOpener.connect(
            files,
            options: .init(readOnly: true),
            counters: StatisticsCounters()
        )
        defer { connection.close() }
        do {
            kind = try FileInspection(files, of: connection).isPlausible ? .encrypted : .other
        } catch DatabaseError.emptyFile {
            kind = .empty
        } catch DatabaseError.notADatabase(_, .plaintextSQLite) {
            kind = .plaintextSQLite
        } catch DatabaseError.notADatabase {
            kind = .other
        }
    }
}
