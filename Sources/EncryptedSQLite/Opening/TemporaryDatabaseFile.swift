import CSQLCipher
import Foundation

/// A database file under a temporary name in the folder of another database.
///
/// A crash can leave such a file, which is encrypted. ``removeLeftovers(beside:)`` removes it one hour after its last
/// write.
struct TemporaryDatabaseFile: ~Copyable {
    let files: DatabaseFiles

    /// The time without a write after which a file with a temporary name counts as a leftover.
    private static let leftoverAge: TimeInterval = 3600

    /// Creates an empty file that only its owner can read, before SQLite opens it. The log and the shared memory
    /// inherit the permissions.
    init(beside original: DatabaseFiles) throws(DatabaseError) { files = try Self.create(beside: original) }

    /// Creates an empty file under the name of ``compaction(of:)``, which replaces a leftover.
    init(compacting original: DatabaseFiles) throws(DatabaseError) {
        files = Self.compaction(of: original)
        Self.remove(files)
        try Self.create(files)
    }

    /// Creates the file, which the caller removes with ``remove(_:)``.
    static func create(beside original: DatabaseFiles) throws(DatabaseError) -> DatabaseFiles {
        let files = named(TemporaryName(of: original).unused(), beside: original)
        try create(files)
        return files
    }

    /// The files of a replacement of a database, see ``FileReplacement``. The name is always the same.
    static func replacement(of original: DatabaseFiles) -> DatabaseFiles {
        named(TemporaryName(of: original).fixed("replacing"), beside: original)
    }

    /// The files of the compact copy of a database that is compacted in place. The name is always the same, and only
    /// the holder of the lock for writing uses it.
    static func compaction(of original: DatabaseFiles) -> DatabaseFiles {
        named(TemporaryName(of: original).fixed("compacting"), beside: original)
    }

    private static func named(_ name: String, beside original: DatabaseFiles) -> DatabaseFiles {
        DatabaseFiles(path: original.folder + "/" + name, namedPath: original.namedPath)
    }

    static func create(_ files: DatabaseFiles) throws(DatabaseError) {
        let descriptor = OwnerOnly.createFile(files.path, O_EXCL | O_RDWR)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        close(descriptor)
    }

    deinit {
        Self.remove(files)
    }

    /// Removes temporary files that ended processes have left. A file counts as such one hour after its last write.
    static func removeLeftovers(beside original: DatabaseFiles) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: original.folder)) ?? []
        let temporary = TemporaryName(of: original)
        // A database that is created under a temporary name has a further temporary name meanwhile.
        for name in names where temporary.matches(name) || temporary.matchesNested(name) {
            let path = original.folder + "/" + name
            let files = DatabaseFiles(path: path, namedPath: path)
            // A long transaction writes only the log.
            let dates = ([path] + files.companions).compactMap { file in
                (try? FileManager.default.attributesOfItem(atPath: file))?[.modificationDate] as? Date
            }
            guard let last = dates.max(), -last.timeIntervalSinceNow > leftoverAge else { continue }
            remove(files)
        }
    }

    /// Removes a file and the files beside it.
    static func remove(_ files: DatabaseFiles) {
        for path in [files.path] + files.companions { unlink(path) }
    }
}
