import Foundation

/// The location of the demo's store.
struct StoreLocation {
    /// The file.
    let url: URL

    /// Ensures that a new file can be created at a path.
    ///
    /// - Parameters:
    ///   - path: The path; nil means a new temporary folder, which is not removed.
    ///   - replaces: Whether an existing file is removed, with SQLite's files next to it.
    init(path: String?, replaces: Bool) throws {
        guard let path else {
            let folder = FileManager.default.temporaryDirectory
                .appending(path: "sealed-demo-\(UUID().uuidString.prefix(8))", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(
                at: folder,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            url = folder.appending(path: "packages.sealed", directoryHint: .notDirectory)
            return
        }
        url = URL(filePath: path, directoryHint: .notDirectory)
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        if isDirectory.boolValue { throw DemoError.storeIsNoFile(path: path) }
        guard replaces else { throw DemoError.storeExists(path: path) }
        for suffix in ["", "-wal", "-shm", "-journal"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
