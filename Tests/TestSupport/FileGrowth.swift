import Foundation

extension ChildProcess {
    /// Waits until a process has made a number of steps, or has ended. A step is a change of the sizes of the files in a
    /// folder between two looks at them.
    ///
    /// - Returns: The number of steps that were seen: those of a process that is not interrupted are the points at which
    ///   it can be killed.
    @discardableResult
    package func waitForGrowth(of folder: TemporaryFolder, steps: Int = .max) -> Int {
        var (seen, last) = (0, folder.byteCount)
        while seen < steps, isRunning {
            let size = folder.byteCount
            if size != last { (seen, last) = (seen + 1, size) }
        }
        return seen
    }
}

extension TemporaryFolder {
    /// The number of bytes of the files in the folder and its folders. Files that are removed meanwhile count nothing.
    fileprivate var byteCount: Int {
        let files = FileManager.default.enumerator(at: url, includingPropertiesForKeys: [.fileSizeKey])
        var count = 0
        for case let file as URL in files ?? .init() {
            count += (try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0
        }
        return count
    }
}
