import Dispatch
import Foundation
import Guarded

/// Notices changes of database files by any process, for all databases of this process: with one descriptor and one
/// queue, which exist while any file is watched.
final class FileWatcher: Sendable {
    /// The kind of a change.
    enum Change {
        /// The log, or the file, was written to. It may have been this process.
        case content
        /// A file was created at the path, or moved to it.
        case replacement
    }

    static let shared = FileWatcher()

    /// The queue on which changes are reported.
    let queue = DispatchQueue(label: "SealedData.FileWatcher", qos: .utility)

    private struct State {
        var events: FolderEvents?
        var watches: [ObjectIdentifier: FileWatch] = [:]
    }

    private let state = Guarded(State())

    /// Watches a database file and its log until ``FileWatch/end()`` is called.
    ///
    /// - Parameter body: Called on ``queue``.
    /// - Returns: The watch; nil if the system cannot watch the folder.
    func watch(_ files: DatabaseFiles, _ body: @escaping @Sendable (Change) -> Void) -> FileWatch? {
        let watch = FileWatch(files, body)
        return state.withLock { state in
            let events = state.events ?? FolderEvents(queue: queue) { [unowned self] in report($0, $1) }
            guard let events, events.add(files) else {
                if state.watches.isEmpty { events?.cancel() }
                return nil
            }
            state.events = events
            state.watches[ObjectIdentifier(watch)] = watch
            return watch
        }
    }

    fileprivate func remove(_ watch: FileWatch) {
        state.withLock { state in
            guard state.watches.removeValue(forKey: ObjectIdentifier(watch)) != nil else { return }
            state.events?.remove(watch.files)
            guard state.watches.isEmpty else { return }
            state.events?.cancel()
            state.events = nil
        }
    }

    /// Reports a change of a file, by its path; nil if any file may have changed.
    private func report(_ path: String?, _ change: Change) {
        let watches = state.withLock { Array($0.watches.values) }
        for watch in watches {
            switch path {
            case nil, watch.files.path: watch.body(change)
            // A checkpoint writes to the file, a commit to the log.
            case watch.files.log: watch.body(.content)
            default: continue
            }
        }
    }

    /// Whether any file is watched.
    var isActive: Bool { state.withLock { $0.events != nil } }
}

/// A database file that is watched.
final class FileWatch: Sendable {
    fileprivate let files: DatabaseFiles
    fileprivate let body: @Sendable (FileWatcher.Change) -> Void

    fileprivate init(_ files: DatabaseFiles, _ body: @escaping @Sendable (FileWatcher.Change) -> Void) {
        self.files = files
        self.body = body
    }

    /// Ends the watch. A call that has begun may still run.
    func end() { FileWatcher.shared.remove(self) }
}
