import CSQLCipher
import Foundation

/// Puts a new file in the place of a database with all files beside it, and finishes that after the process ended.
///
/// The log of the old file must never lie beside the new one, and the old file is not complete without its log. Two
/// renames cannot be one step. Therefore a folder with a fixed name, `.NAME.restoring`, holds the new file and the files
/// that lay beside the old one. Whether the new file is still in it shows which of the two files counts:
///
///     this process                         at the path        in the folder     after the end of the process
///     holds the lock on the name and the   old file, log
///     lock on the old file
///     moves the new file into the folder   old file, log      new file          the folder is removed
///     moves the log, the journal           old file           new file, log     both are moved back
///     removes the index                    old file           new file, log     both are moved back
///     renames the new file                 new file           log               the folder is removed
///     removes the folder                   new file
///
/// Each opening and each restoration looks for the folder first. So at every instant an opening finds the old file with
/// its log, or the new file without one.
///
/// A user who can write to the folder of the database can put something else under the name. A link is not followed, and a
/// folder of another user is not used.
enum InterruptedRestoration {
    private static let newName = "new"
    private static let suffixes = ["-wal", "-journal"]

    /// Puts a complete file, which is on the disk, in the place of a database. The caller holds the lock on the name and
    /// the exclusive lock on the old file.
    static func restore(_ files: DatabaseFiles, from new: DatabaseFiles) throws(DatabaseError) {
        let path = RestorationFolder.path(for: files)
        guard OwnerOnly.createFolder(path) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        guard let folder = try RestorationFolder(of: files) else { throw .moved(path: path) }
        do throws(DatabaseError) {
            try folder.takeIn(new.path, as: newName)
            try synchronize(folder)
            for suffix in suffixes where DatabaseFiles.exists(files.path + suffix) {
                try folder.takeIn(files.path + suffix, as: suffix)
            }
            guard unlink(files.sharedMemory) == 0 || errno == ENOENT else {
                throw DatabaseError(systemError: errno, path: files.namedPath)
            }
            try synchronize(folder)
            try folder.takeOut(newName, to: files.path)
        } catch {
            try? finishUnderLock(files)
            throw error
        }
        // The copy of a lost log has pages of the old database.
        unlink(LogLoss.copyPath(files))
        try synchronize(folder)
        try finishUnderLock(files)
    }

    private static func synchronize(_ folder: RestorationFolder) throws(DatabaseError) {
        try FileCreation.synchronize(folder: folder.path, for: folder.files)
        try FileCreation.synchronize(folder: folder.files.folder, for: folder.files)
    }

    /// Finishes an interrupted restoration of a database. Waits for a restoration that is running.
    ///
    /// If the new file has its name already, an opening for reading leaves the folder.
    ///
    /// - Throws: `busy`; `permissionDenied` if the folder cannot be written; `cannotOpen` if the folder's name belongs
    ///   to a folder of another user or to another program, or a program has changed the file since the interruption.
    static func finish(_ files: DatabaseFiles, _ options: Database.Options) throws(DatabaseError) {
        guard let folder = try RestorationFolder(of: files) else { return }
        if options.readOnly, folder.status(of: newName) == nil { return }
        let lock = try NamingLock.take(files, timeoutMilliseconds: options.busyTimeoutMilliseconds)
        try finishUnderLock(files)
        withExtendedLifetime(lock) {}
    }

    /// Finishes an interrupted restoration. The caller holds the lock on the name.
    static func finishUnderLock(_ files: DatabaseFiles) throws(DatabaseError) {
        guard let folder = try RestorationFolder(of: files) else { return }
        if folder.status(of: newName) != nil {
            try folder.requireUnchangedFile()
            for suffix in suffixes where folder.status(of: suffix) != nil {
                // Another tool can have made a log since the interruption. That log has the last saves.
                if DatabaseFiles.byteCount(of: files.path + suffix) == 0 {
                    try folder.takeOut(suffix, to: files.path + suffix)
                } else if files.path + suffix == files.log {
                    try folder.takeOut(suffix, to: LogLoss.copyPath(files))
                }
            }
            try synchronize(folder)
            try folder.remove(newName)
        }
        for suffix in suffixes { try folder.remove(suffix) }
        guard rmdir(folder.path) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
    }
}
