package import Foundation

/// A folder for one test, removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let url: URL
    private let willRemove: @Sendable (URL) -> Void

    /// Creates the folder. A process that cannot create it cannot run tests, and ends.
    ///
    /// - Parameter willRemove: Called before the folder is removed.
    package init(willRemove: @escaping @Sendable (URL) -> Void = { _ in }) {
        url = FileManager.default.temporaryDirectory.appending(path: "SealedData-\(UUID().uuidString)")
        self.willRemove = willRemove
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            fatalError("cannot create a temporary folder: \(error)")
        }
    }

    deinit {
        willRemove(url)
        try? FileManager.default.removeItem(at: url)
    }

    package var path: String { url.path }

    /// The URL of a file in the folder.
    package func file(_ name: String) -> URL { url.appending(path: name) }

    /// The path of a file in the folder.
    package func filePath(_ name: String) -> String { file(name).path }

    /// The names of the files, sorted.
    package func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// The bytes of each file by name.
    package func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try names() { contents[name] = try Data(contentsOf: file(name)) }
        return contents
    }
}
