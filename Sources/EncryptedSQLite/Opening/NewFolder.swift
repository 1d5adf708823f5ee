import CSQLCipher
package import Foundation

/// A folder that is filled under a temporary name, and takes its name when it is complete, as a ``NewFile`` does.
package final class NewFolder {
    private let files: DatabaseFiles
    private let temporaryPath: String

    private static let suffix = ".creating"
    /// How old a folder with a temporary name is before it counts as left behind.
    private static let leftoverAge: TimeInterval = 3600

    /// Makes an empty folder under a temporary name, which only its owner can read.
    ///
    /// - Throws: `DatabaseError.cannotOpen` if there is something at the path, or its folder does not exist.
    package init(at url: URL) throws(DatabaseError) {
        var path = url.path(percentEncoded: false)
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        files = try DatabaseFiles(at: path)
        guard !FileManager.default.fileExists(atPath: files.path) else { throw Self.isTaken(files) }
        let prefix = files.folder + "/." + files.name + "."
        temporaryPath = prefix + String(UInt64.random(in: .min ... .max), radix: 16) + Self.suffix
        Self.removeLeftovers(beside: files)
        guard mkdir(temporaryPath, 0o700) == 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
    }

    deinit { try? FileManager.default.removeItem(atPath: temporaryPath) }

    private static func isTaken(_ files: DatabaseFiles) -> DatabaseError {
        .cannotOpen(path: files.namedPath, reason: "a file or folder of this name exists, and is never replaced")
    }

    private static func removeLeftovers(beside files: DatabaseFiles) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: files.folder)) ?? []
        for name in names where name.hasPrefix(".\(files.name).") && name.hasSuffix(suffix) {
            let path = files.folder + "/" + name
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard let date = attributes?[.modificationDate] as? Date, -date.timeIntervalSinceNow > leftoverAge,
                attributes?[.type] as? FileAttributeType == .typeDirectory
            else { continue }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Adds an empty file, which only its owner can read, and returns its path.
    package func addFile(_ name: String) throws(DatabaseError) -> String {
        let path = temporaryPath + "/" + name
        let descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DatabaseError(systemError: errno, path: files.namedPath) }
        close(descriptor)
        return path
    }

    /// Waits until the entries of the folder are on the disk, and gives it its name. The files must be on the disk.
    package func complete() throws(DatabaseError) {
        try FileCreation.synchronize(file: temporaryPath, for: files)
        guard csqlcipher_rename_exclusively(temporaryPath, files.path) == 0 else {
            if errno == EEXIST { throw Self.isTaken(files) }
            throw DatabaseError(systemError: errno, path: files.namedPath)
        }
        try FileCreation.synchronize(folder: files.folder, for: files)
    }
}
