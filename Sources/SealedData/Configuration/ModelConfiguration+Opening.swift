public import Foundation

extension ModelConfiguration {
    /// The folder of the files that are named after their configuration.
    ///
    /// On iOS, tvOS, watchOS and visionOS it is the app's application support folder. On other systems, where all
    /// programs of a user share that folder, it is a subfolder named after the bundle identifier or the process name of
    /// the program. On Linux that is `$XDG_DATA_HOME/<program>`, usually `~/.local/share/<program>`. Programs with the
    /// same name share the folder.
    public static var defaultDirectory: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        // A process without a home directory, such as a service, uses its working directory.
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

    /// Checks the name and the URL before the store is opened.
    ///
    /// - Throws: ``SwiftDataError/configurationFileNameTooLong`` if file systems do not allow a name of that length for
    ///   the file or for the log next to it; ``SwiftDataError/configurationFileNameContainsInvalidCharacters`` if the
    ///   name would lead to another folder; ``SwiftDataError/loadIssueModelContainer`` if the URL is not a file URL.
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
        // The text of the URL is at least as long as the name, and taking the name from it costs a hundredth of opening
        // a file.
        guard hasDefaultURL || url.relativeString.utf8.count + Self.longestSuffix.utf8.count > Self.longestFileName
        else { return }
        let fileName = hasDefaultURL ? "\(name).store" : url.lastPathComponent
        if fileName.utf8.count + Self.longestSuffix.utf8.count > Self.longestFileName {
            throw SwiftDataError(
                .configurationFileNameTooLong,
                "the file's name has \(fileName.utf8.count) bytes, at most "
                    + "\(Self.longestFileName - Self.longestSuffix.utf8.count) are possible"
            )
        }
    }

    /// The longest file name that common file systems allow, in bytes (NAME_MAX of POSIX).
    private static let longestFileName = 255
    /// The longest suffix that SQLite appends to the database's name for the files that it keeps next to it.
    private static let longestSuffix = "-journal"
}
