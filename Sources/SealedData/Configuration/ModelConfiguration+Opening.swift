public import Foundation

extension ModelConfiguration {
    /// The folder of files that are named after their configuration.
    ///
    /// It is the user's folder for application support: on iOS and its relatives the app's own; elsewhere, where all
    /// programs of a user share one, a folder in it with the identifier or the name of the program. On Linux that is
    /// `$XDG_DATA_HOME/<program>`, usually `~/.local/share/<program>`. Programs that have the same name share it.
    public static var defaultDirectory: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        // A process without a home, such as a service, has its working directory to offer.
        let folder = folders.first ?? URL(filePath: FileManager.default.currentDirectoryPath)
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            return folder
        #else
            return folder.appending(path: programName, directoryHint: .isDirectory)
        #endif
    }

    private static var programName: String {
        let name = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return name.isEmpty ? "SealedData" : name.replacing("/", with: "-")
    }

    /// Checks what can be checked before the store is opened.
    ///
    /// - Throws: ``SwiftDataError/configurationFileNameTooLong`` where no file system takes the name, or that of the
    ///   log that stands beside the file; ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` where the
    ///   name would lead to another folder; ``SwiftDataError/loadIssueModelContainer`` where the URL is not a file's.
    public func validate() throws {
        guard !isStoredInMemoryOnly else { return }
        guard url.isFileURL else {
            throw SwiftDataError(
                .loadIssueModelContainer,
                "a store needs a file URL, not one of scheme "
                    + "'\(url.scheme ?? "")'"
            )
        }
        if hasDefaultURL, name.isEmpty || name.contains(where: { $0 == "/" || $0 == "\0" }) {
            throw SwiftDataError(
                .configurationFileNameContainsInvalidCharacters,
                "a name cannot be empty or contain '/'; give the configuration a URL to choose the folder"
            )
        }
        let fileName = hasDefaultURL ? "\(name).store" : url.lastPathComponent
        if fileName.utf8.count + Self.longestSuffix.utf8.count > Self.longestFileName {
            throw SwiftDataError(
                .configurationFileNameTooLong,
                "the file's name has \(fileName.utf8.count) bytes, at most "
                    + "\(Self.longestFileName - Self.longestSuffix.utf8.count) are possible"
            )
        }
    }

    /// The limit of the file systems in use, in bytes (NAME_MAX of POSIX).
    private static let longestFileName = 255
    /// What SQLite appends to the names of the files that it keeps beside a database.
    private static let longestSuffix = "-journal"
}
