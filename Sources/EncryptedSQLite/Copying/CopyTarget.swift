import CSQLCipher
import Foundation

/// The path at which a copy of a database takes its name.
///
/// A copy is built under a temporary name and takes its name when it is complete, verified and on the disk. Without
/// `replacesExisting`, an existing file at the path is never touched.
///
/// A file that is replaced must not be in use: a connection to it would continue with a file without a name, and the
/// log beside it would be taken for that of the new file. Therefore the replacement holds SQLite's exclusive lock on
/// the old file until the rename:
///
///     copying process                  other process                   at the path
///     locks the old file exclusively                                   old file
///     finds no log beside it           opens the old file, waits       old file
///     renames the copy over it                                         copy
///     closes the old file              gets the lock on the old file,  copy
///                                      which has no name any more:
///                                      SQLite reports a moved file
struct CopyTarget {
    let files: DatabaseFiles
    let replacesExisting: Bool

    init(path: String, replacesExisting: Bool) throws(DatabaseError) {
        files = try DatabaseFiles(at: path)
        self.replacesExisting = replacesExisting
    }

    /// Throws if the path is taken, before the work of copying begins.
    func requireFree() throws(DatabaseError) {
        guard try files.exist(), !replacesExisting else { return }
        throw taken
    }

    private var taken: DatabaseError { .cannotOpen(path: files.namedPath, reason: "a file exists at this path") }

    /// Gives a complete file its name.
    func giveName(to temporary: DatabaseFiles, _ creation: FileCreation) throws(DatabaseError) {
        guard replacesExisting, try files.exist() else {
            guard try creation.giveName(to: temporary) else { throw taken }
            return
        }
        let lock = try NamingLock.take(files, timeoutMilliseconds: creation.options.busyTimeoutMilliseconds)
        var options = creation.options
        options.readOnly = false
        let old = try ConnectionOpener.connect(files, options: options, counters: creation.counters)
        defer { old.close() }
        guard let file = csqlcipher_main_file(old.handle), csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK,
            csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
        else { throw .busy }
        defer { csqlcipher_unlock_file(file) }
        guard DatabaseFiles.byteCount(of: files.log) == 0, DatabaseFiles.byteCount(of: files.journal) == 0 else {
            throw .cannotOpen(
                path: files.namedPath,
                reason:
                    "a log of an earlier process lies beside the file that is to be replaced; open or remove it first"
            )
        }
        if try files.removeCompanions() { try FileCreation.synchronize(folder: files.folder, for: files) }
        guard rename(temporary.path, files.path) == 0 else {
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        try FileCreation.synchronize(folder: files.folder, for: files)
        withExtendedLifetime(lock) {}
    }
}
