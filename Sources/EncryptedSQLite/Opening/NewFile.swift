package import Foundation

/// A database file that is built before it takes its name.
///
/// It lies in a ``TemporaryFolder``, which only its owner can read, and which is removed with the object. If the process
/// ends first, the next operation in the same place removes the folder. So there is never an incomplete file at the path,
/// and an existing file is never replaced.
package final class NewFile {
    private let files: DatabaseFiles
    private let temporary: DatabaseFiles
    private let folder: TemporaryFolder

    /// The path of the file before it has its name. No file exists there yet.
    package var temporaryPath: String { temporary.path }

    /// Prepares a file.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if there is a file at the path, the path is the name of a log of a database,
    ///   or its folder does not exist.
    package convenience init(at url: URL) throws(DatabaseError) {
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        TemporaryFolder.removeLeftovers(beside: files)
        try files.requireNameOfNoStore()
        if try files.exist() { throw Self.isTaken(files) }
        try self.init(beside: files)
    }

    /// Prepares a file in the folder of a path, whether or not the path has a file. The file never takes the path.
    package convenience init(beside url: URL) throws(DatabaseError) {
        try self.init(beside: DatabaseFiles(at: url.path(percentEncoded: false)))
    }

    private init(beside files: DatabaseFiles) throws(DatabaseError) {
        self.files = files
        folder = try TemporaryFolder(beside: files)
        // A subfolder, since creating a database locks its folder, and the temporary folder is locked already.
        let path = folder.path + "/new"
        guard OwnerOnly.createFolder(path) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        temporary = DatabaseFiles(path: path + "/database", namedPath: files.namedPath)
    }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file of this name exists, and is never replaced")
    }

    /// Waits until the content is on the disk, and gives the file its name.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if another file has taken the name since the object was made, or if a database under the
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
