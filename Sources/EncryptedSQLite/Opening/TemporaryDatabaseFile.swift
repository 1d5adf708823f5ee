import Foundation

/// A database file that is built before it takes its name, and removed with the value if it has not.
///
/// It lies in a ``TemporaryFolder`` beside the database for which it is built. If the process ends first, the next
/// operation in that place removes it. Its name is short, since SQLite allows 512 bytes for a path.
struct TemporaryDatabaseFile: ~Copyable {
    let files: DatabaseFiles
    /// Nil for a file under a fixed name.
    private let folder: TemporaryFolder?

    /// Creates an empty file that only its owner can read, before SQLite opens it. The log and the shared memory
    /// inherit the permissions.
    init(beside original: DatabaseFiles) throws(DatabaseError) {
        let folder = try TemporaryFolder(beside: original)
        let files = DatabaseFiles(path: folder.path + "/database", namedPath: original.namedPath)
        try Self.create(files)
        (self.files, self.folder) = (files, folder)
    }

    /// Creates an empty file under the name of ``compaction(of:)``, which replaces a leftover.
    init(compacting original: DatabaseFiles) throws(DatabaseError) {
        let files = Self.compaction(of: original)
        Self.remove(files)
        try Self.create(files)
        (self.files, folder) = (files, nil)
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
        if folder == nil { Self.remove(files) }
    }

    /// Removes a file and the files beside it.
    static func remove(_ files: DatabaseFiles) {
        for path in [files.path] + files.companions { unlink(path) }
    }
}
