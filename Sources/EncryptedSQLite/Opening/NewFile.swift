package import Foundation

/// A file that is written under a temporary name, and takes its name when it is complete.
///
/// The temporary file is readable by its owner only, and is removed with the object. If the process ends first, a later
/// file of the same name removes it: content without encryption at once, see ``TemporaryFolder``, and an encrypted file
/// one hour after its last write. So there is never an incomplete file at the path, and an existing file is never
/// replaced.
package final class NewFile {
    private let files: DatabaseFiles
    private let temporary: DatabaseFiles
    /// The folder of a file without encryption.
    private let folder: TemporaryFolder?

    /// The path of the file under its temporary name. The file exists and is empty.
    package var temporaryPath: String { temporary.path }

    /// Makes an empty file under a temporary name.
    ///
    /// - Parameter isPlaintext: Whether the file will have content without encryption.
    /// - Throws: `DatabaseError.cannotOpen` if there is a file at the path, or its folder does not exist.
    package init(at url: URL, isPlaintext: Bool = false) throws(DatabaseError) {
        files = try DatabaseFiles(at: url.path(percentEncoded: false))
        TemporaryDatabaseFile.removeLeftovers(beside: files)
        TemporaryFolder.removeLeftovers(beside: files)
        if try files.exist() { throw Self.isTaken(files) }
        if isPlaintext {
            let folder = try TemporaryFolder(beside: files)
            temporary = DatabaseFiles(path: folder.path + "/" + files.name, namedPath: files.namedPath)
            self.folder = folder
            try TemporaryDatabaseFile.create(temporary)
        } else {
            folder = nil
            temporary = try TemporaryDatabaseFile.create(beside: files)
        }
    }

    /// Makes an empty file under a temporary name beside a file, whether or not that exists. It never takes the name.
    package init(beside url: URL) throws(DatabaseError) {
        files = try DatabaseFiles(at: url.path(percentEncoded: false))
        TemporaryDatabaseFile.removeLeftovers(beside: files)
        folder = nil
        temporary = try TemporaryDatabaseFile.create(beside: files)
    }

    deinit { TemporaryDatabaseFile.remove(temporary) }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file of this name exists, and is never replaced")
    }

    /// Removes the empty file, so that a database can be created at ``temporaryPath``.
    package func removeEmptyFile() { unlink(temporaryPath) }

    /// Waits until the content is on the disk, and gives the file its name.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if another file has taken the name meanwhile, or if a database under the
    ///   temporary name is still open.
    package func complete() throws {
        guard !temporary.haveCompanions else {
            throw DatabaseError.cannotOpen(path: files.namedPath, reason: "the new file could not be completed")
        }
        try FileCreation.synchronize(file: temporaryPath, for: files)
        let creation = FileCreation(files: files, options: Database.Options(), counters: StatisticsCounters())
        guard try creation.giveName(to: temporary) else { throw Self.isTaken(files) }
    }
}
