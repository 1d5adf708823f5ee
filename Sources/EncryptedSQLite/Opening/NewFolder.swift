import CSQLCipher
package import Foundation

/// A folder of files without encryption, which takes its name when it is complete.
///
/// The files have no names until then, as a ``PlaintextFile``, where the system allows that. An existing file or folder is
/// never replaced.
package final class NewFolder {
    private let files: DatabaseFiles
    private let temporary: TemporaryFolder
    private var content: [PlaintextFile] = []

    /// Makes an empty folder under a temporary name, which only its owner can read.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if there is something at the path, the path is the name of a log of a
    ///   database, or its folder does not exist.
    package init(at url: URL) throws(DatabaseError) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        files = try DatabaseFiles(at: path)
        TemporaryFolder.removeLeftovers(beside: files)
        try files.requireNameOfNoStore()
        guard !FileManager.default.fileExists(atPath: files.path) else { throw Self.isTaken(files) }
        temporary = try TemporaryFolder(beside: files)
    }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file or folder of this name exists, and is never replaced")
    }

    /// Adds an empty file, which only its owner can read, and returns its descriptor. The folder closes it.
    package func addFile(_ name: String) throws(DatabaseError) -> Int32 {
        let path = temporary.path + "/" + name
        let file = try PlaintextFile(DatabaseFiles(path: path, namedPath: files.namedPath), in: temporary)
        content.append(file)
        return file.descriptor
    }

    /// Gives the files and the folder their names, and waits until all is on the disk.
    package func complete() throws(DatabaseError) {
        for file in content { try file.giveName() }
        try FileCreation.synchronize(file: temporary.path, for: files)
        guard csqlcipher_rename_exclusively(temporary.path, files.path) == 0 else {
            if errno == EEXIST { throw Self.isTaken(files) }
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        try FileCreation.synchronize(folder: files.folder, for: files)
    }
}
