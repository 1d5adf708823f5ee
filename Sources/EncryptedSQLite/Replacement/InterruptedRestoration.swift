import CSQLCipher
import Foundation

/// Puts a new file in the place of a database with all files beside it, and finishes that after the process ended.
///
/// The log of the old file must never lie beside the new one, and the old file is not complete without its log. Two
/// renames cannot be one step. Therefore a folder with a fixed name, `.NAME.restoring`, holds the new file and the files
/// that lay beside the old one. Whether the new file is still in it shows which of the two files counts:
///
///     this process                         at the path        in the folder     after the end of the process
///     holds the folder's lock, and that    old file, log
///     of the old file
///     moves the new file into the folder   old file, log      new file          the folder is removed
///     moves the log, the journal           old file           new file, log     both are moved back
///     removes the index                    old file           new file, log     both are moved back
///     renames the new file                 new file           log               the folder is removed
///     removes the folder                   new file
///
/// Each opening and each restoration looks for the folder first. So at every instant an opening finds the old file with
/// its log, or the new file without one.
enum InterruptedRestoration {
    private static let newName = "new"
    private static let suffixes = ["-wal", "-journal"]

    private static func folder(of files: DatabaseFiles) -> String {
        files.folder + "/" + TemporaryName(of: files).fixed("restoring")
    }

    /// Puts a complete file, which is on the disk, in the place of a database. The caller holds the lock on the name and
    /// the exclusive lock on the old file.
    static func restore(_ files: DatabaseFiles, from new: DatabaseFiles) throws(DatabaseError) {
        let folder = folder(of: files)
        guard mkdir(folder, 0o700) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        do throws(DatabaseError) {
            try move(new.path, to: folder + "/" + newName, for: files)
            try synchronize(folder, files)
            for suffix in suffixes where DatabaseFiles.exists(files.path + suffix) {
                try move(files.path + suffix, to: folder + "/" + suffix, for: files)
            }
            guard unlink(files.sharedMemory) == 0 || errno == ENOENT else {
                throw DatabaseError(systemError: errno, path: files.namedPath)
            }
            try synchronize(folder, files)
            try move(folder + "/" + newName, to: files.path, for: files)
        } catch {
            try? finishUnderLock(files)
            throw error
        }
        try synchronize(folder, files)
        try finishUnderLock(files)
    }

    private static func move(_ old: String, to new: String, for files: DatabaseFiles) throws(DatabaseError) {
        guard rename(old, new) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
    }

    private static func synchronize(_ folder: String, _ files: DatabaseFiles) throws(DatabaseError) {
        try FileCreation.synchronize(folder: folder, for: files)
        try FileCreation.synchronize(folder: files.folder, for: files)
    }

    /// Finishes an interrupted restoration of a database. Waits for one that is running.
    ///
    /// - Throws: `busy`; `permissionDenied` if the folder cannot be written.
    static func finish(_ files: DatabaseFiles, _ options: Database.Options) throws(DatabaseError) {
        guard DatabaseFiles.exists(folder(of: files)) else { return }
        let lock = try NamingLock.take(files, timeoutMilliseconds: options.busyTimeoutMilliseconds)
        try finishUnderLock(files)
        withExtendedLifetime(lock) {}
    }

    /// The same under the lock on the name.
    static func finishUnderLock(_ files: DatabaseFiles) throws(DatabaseError) {
        let folder = folder(of: files)
        guard DatabaseFiles.exists(folder) else { return }
        if DatabaseFiles.exists(folder + "/" + newName) {
            for suffix in suffixes where DatabaseFiles.exists(folder + "/" + suffix) {
                // Another tool can have made a log since the interruption. That log has the last saves.
                guard DatabaseFiles.byteCount(of: files.path + suffix) == 0 else { continue }
                try move(folder + "/" + suffix, to: files.path + suffix, for: files)
            }
            try synchronize(folder, files)
            guard unlink(folder + "/" + newName) == 0 else {
                throw DatabaseError(systemError: errno, path: files.namedPath)
            }
        }
        for suffix in suffixes { unlink(folder + "/" + suffix) }
        guard rmdir(folder) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
    }
}
