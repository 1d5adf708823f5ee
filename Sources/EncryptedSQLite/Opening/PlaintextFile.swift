import CSQLCipher
package import Foundation

/// A file without encryption, which takes its name when it is complete.
///
/// Until then it has no name, so that nothing is left if the process ends. On a system or file system without files that
/// get a name later (`O_TMPFILE`), it lies in a ``TemporaryFolder``, which the next operation in the same place removes.
/// Only its owner can read it, and an existing file is never replaced.
package final class PlaintextFile {
    private let files: DatabaseFiles
    /// The folder of a file under a temporary name, and that name; nil for a file without a name.
    private let temporary: (folder: TemporaryFolder, path: String)?

    /// The descriptor of the empty file, which the object closes.
    package let descriptor: Int32

    /// Makes an empty file for a path.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if there is a file at the path, the path is the name of a log of a database,
    ///   or its folder does not exist.
    package convenience init(at url: URL) throws(DatabaseError) {
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        TemporaryFolder.removeLeftovers(beside: files)
        try files.requireNameOfNoStore()
        if try files.exist() { throw Self.isTaken(files) }
        try self.init(files, in: nil)
    }

    /// Makes an empty file for a path in a temporary folder; nil for a folder that is not temporary.
    init(_ files: DatabaseFiles, in folder: TemporaryFolder?) throws(DatabaseError) {
        self.files = files
        let nameless = csqlcipher_create_nameless(files.folder)
        guard nameless < 0 else {
            // The mask of the process (umask(2)) can have removed permissions of the owner.
            fchmod(nameless, 0o600)
            temporary = nil
            descriptor = nameless
            return
        }
        let folder = if let folder { folder } else { try TemporaryFolder(beside: files) }
        let path = folder.path + "/" + files.name
        descriptor = OwnerOnly.createFile(path, O_EXCL | O_RDWR)
        temporary = (folder, path)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The path that errors name.
    var namedPath: String { files.namedPath }

    /// Creates an empty database file beside the file. It loses its name with the value.
    func makeTemporaryDatabase() throws(DatabaseError) -> TemporaryDatabaseFile {
        try TemporaryDatabaseFile(beside: files)
    }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file of this name exists, and is never replaced")
    }

    /// Waits until the content is on the disk, and gives the file its name.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if another file has taken the name since the object was made.
    package func complete() throws(DatabaseError) {
        try giveName()
        try FileCreation.synchronize(folder: files.folder, for: files)
    }

    /// Gives the file its name as ``complete()`` does, without waiting until the name is on the disk.
    func giveName() throws(DatabaseError) {
        guard fsync(descriptor) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        // A file in a temporary folder that takes its name with the folder has its name.
        if let temporary, temporary.path == files.path { return }
        let code =
            temporary.map { csqlcipher_rename_exclusively($0.path, files.path) }
            ?? csqlcipher_name_file(descriptor, files.path)
        guard code == 0 else {
            if errno == EEXIST { throw Self.isTaken(files) }
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
    }
}
