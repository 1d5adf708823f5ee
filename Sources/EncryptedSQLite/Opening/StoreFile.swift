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
    /// Whether the first 32 bytes of an encrypted database are not encrypted, see
    /// ``EncryptionKey/withPlaintextHeader(salt:)``.
    public let hasPlaintextHeader: Bool
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
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        hasLog = DatabaseFiles.byteCount(of: files.log) > 0
        hasJournal = DatabaseFiles.byteCount(of: files.journal) > 0
        guard try files.exist() else {
            kind = .missing
            byteCount = 0
            hasPlaintextHeader = false
            return
        }
        byteCount = Int(clamping: DatabaseFiles.byteCount(of: files.path))
        let connection = try ConnectionOpener.connect(
            files,
            options: .init(readOnly: true),
            counters: StatisticsCounters()
        )
        defer { connection.close() }
        (kind, hasPlaintextHeader) = try Self.inspect(files, connection)
    }

    private static func inspect(_ files: DatabaseFiles, _ connection: Connection) throws -> (Kind, Bool) {
        do {
            let inspection = try FileInspection(files, of: connection)
            return inspection.isPlausible ? (.encrypted, inspection.salt == nil) : (.other, false)
        } catch DatabaseError.emptyFile {
            return (.empty, false)
        } catch DatabaseError.notADatabase(_, .plaintextSQLite) {
            return (.plaintextSQLite, false)
        } catch DatabaseError.notADatabase {
            return (.other, false)
        }
    }
}
