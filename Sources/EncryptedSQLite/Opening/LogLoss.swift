import CSQLCipher
import Foundation

/// The transactions of a log that an opened database does not have, because a part of the log before them did not reach
/// the disk before a power failure, or has changed since.
///
/// SQLite overwrites them with the next transaction. If blocks of zeros prove the power failure, nothing else is known
/// about them. Otherwise the log may have been complete once, and was damaged later: an opening for writing keeps a copy
/// of it.
package struct LogLoss: Hashable, Sendable {
    /// The number of transactions whose last page lies behind the missing part. The last one may not have been complete.
    package let commitCount: Int
    /// The path of the copy of the log; nil if no copy exists.
    package let copyPath: String?

    /// Records the lost transactions, which a later opening would not find any more. The caller keeps all connections
    /// from writing.
    init?(_ log: LogContent, in files: DatabaseFiles, mayWrite: Bool) {
        guard log.hasLoss else { return nil }
        commitCount = log.lostCommitCount
        copyPath = mayWrite && !log.hasUnwrittenBlock ? Self.copy(log, files) : nil
    }

    /// The copy of the log of a file. A later loss replaces it.
    static func copyPath(_ files: DatabaseFiles) -> String { files.log + ".lost" }

    /// Copies a log, unless the copy has the same transactions. The opening does not fail if the disk has no room.
    private static func copy(_ log: LogContent, _ files: DatabaseFiles) -> String? {
        let path = copyPath(files)
        if isCopied(log, files, at: path) { return path }
        guard let temporary = try? TemporaryDatabaseFile(beside: files) else { return nil }
        do throws(DatabaseError) {
            try FileCopy(to: temporary.files.path, namedPath: files.namedPath).copy(files.log)
            try FileCreation.synchronize(file: temporary.files.path, for: files)
        } catch {
            return nil
        }
        return rename(temporary.files.path, path) == 0 ? path : nil
    }

    /// Whether a copy has the last lost transaction: later transactions have overwritten a part of the log since then.
    private static func isCopied(_ log: LogContent, _ files: DatabaseFiles, at path: String) -> Bool {
        guard let offset = log.lastLostOffset, let status = DatabaseFiles.status(of: path),
            status.st_mode & S_IFMT == S_IFREG, let frame = Self.frame(of: files.log, at: offset)
        else { return false }
        return frame == Self.frame(of: path, at: offset)
    }

    private static func frame(of path: String, at offset: Int64) -> Data? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard (try? file.seek(toOffset: UInt64(offset))) != nil else { return nil }
        return try? file.read(upToCount: LogFormat.frameByteCount)
    }
}
