import CSQLCipher
package import Foundation

/// A folder that is filled under a temporary name, and takes its name when it is complete, as a ``NewFile`` does.
package final class NewFolder {
    private let files: DatabaseFiles
    private let temporary: TemporaryFolder

    /// Makes an empty folder under a temporary name, which only its owner can read.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if there is something at the path, or its folder does not exist.
    package init(at url: URL) throws(DatabaseError) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        files = try DatabaseFiles(at: path)
        TemporaryFolder.removeLeftovers(beside: files)
        guard !FileManager.default.fileExists(atPath: files.path) else { throw Self.isTaken(files) }
        temporary = try TemporaryFolder(beside: files)
    }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file or folder of this name exists, and is never replaced")
    }

    /// Adds an empty file, which only its owner can read, and returns its path.
    package func addFile(_ name: String) throws(DatabaseError) -> String {
        let path = temporary.path + "/" + name
        let descriptor = OwnerOnly.createFile(path, O_EXCL | O_RDWR)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        close(descriptor)
        return path
    }

    /// Waits until the entries of the folder are on the disk, and gives it its name. The files must be on the disk.
    package func complete() throws(DatabaseError) {
        try FileCreation.synchronize(file: temporary.path, for: files)
        guard csqlcipher_rename_exclusively(temporary.path, files.path) == 0 else {
            if errno == EEXIST { throw Self.isTaken(files) }
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        try FileCreation.synchronize(folder: files.folder, for: files)
    }
}
