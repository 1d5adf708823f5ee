#if os(Linux) || os(Android)
    import CSQLCipher
    import Dispatch
    import Foundation
    import Guarded

    /// The system's events of folders with database files: one `inotify` instance.
    ///
    /// Each event would cost a process that writes continuously, this process included, some microseconds. A folder is
    /// therefore watched for one event, and again after a pause. Events in the pause are not seen: at its end, the
    /// files that had events are reported once more, and so are files whose status has changed.
    final class FolderEvents: Sendable {
        private struct Folder {
            /// The number of the watch in the instance.
            var watch: Int32
            /// The files, one for each user.
            var files: [DatabaseFiles]
            /// The status of the files after the last pause, by their paths.
            var status: [String: [FileStatus?]] = [:]
        }

        /// The attributes of a file that differ after a write to it, or once another file is in its place.
        private struct FileStatus: Equatable {
            let inode: UInt
            let size: Int
            let modified: [Int]

            init?(_ path: String) {
                var status = stat()
                guard stat(path, &status) == 0 else { return nil }
                inode = UInt(status.st_ino)
                size = Int(status.st_size)
                modified = [Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec)]
            }
        }

        private struct State {
            var folders: [String: Folder] = [:]
            var paths: [Int32: String] = [:]
            var isCancelled = false
        }

        /// The milliseconds after an event before a folder is watched again.
        private static let pause = 10
        /// The milliseconds before the next attempt if the system cannot watch a folder again.
        private static let pauseAfterFailure = 500

        private let descriptor: Int32
        private let queue: DispatchQueue
        /// `nonisolated(unsafe)`: the reference is a constant, and libdispatch lets any thread use a source.
        nonisolated(unsafe) private let source: any DispatchSourceRead
        private let state = Guarded(State())
        private let report: @Sendable (String?, FileWatcher.Change) -> Void

        /// Begins to receive events.
        ///
        /// - Parameter report: Called on the queue with the path of a file, or nil if events were lost.
        init?(queue: DispatchQueue, _ report: @escaping @Sendable (String?, FileWatcher.Change) -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
            self.queue = queue
            self.report = report
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            self.source = source
            source.setEventHandler { [unowned self] in readEvents() }
            source.setCancelHandler { [self] in
                close(descriptor)
                _ = self
            }
            source.resume()
        }

        /// Ends the events and closes the descriptor.
        func cancel() {
            state.withLock { $0.isCancelled = true }
            source.cancel()
        }

        /// Watches the folder of a file.
        ///
        /// - Returns: False if the system cannot watch it.
        func add(_ files: DatabaseFiles) -> Bool {
            state.withLock { state in
                if state.folders[files.folder] != nil {
                    state.folders[files.folder]?.files.append(files)
                    return true
                }
                guard let watch = watch(files.folder) else { return false }
                state.folders[files.folder] = Folder(watch: watch, files: [files])
                state.paths[watch] = files.folder
                return true
            }
        }

        /// Watches a folder for one event. Returns the number of the watch; nil if the system cannot watch the folder.
        private func watch(_ folder: String) -> Int32? {
            // Not IN_CLOSE_WRITE: SQLite keeps its files open.
            let mask = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_ONESHOT)
            let watch = inotify_add_watch(descriptor, folder, mask)
            return watch >= 0 ? watch : nil
        }

        /// Reverses one call of ``add(_:)``.
        func remove(_ files: DatabaseFiles) {
            state.withLock { state in
                guard var folder = state.folders[files.folder] else { return }
                if let user = folder.files.firstIndex(where: { $0.path == files.path }) {
                    folder.files.remove(at: user)
                }
                state.folders[files.folder] = folder.files.isEmpty ? nil : folder
                guard folder.files.isEmpty else { return }
                state.paths[folder.watch] = nil
                inotify_rm_watch(descriptor, folder.watch)
            }
        }

        /// Reads the events that have arrived, reports each file once, and watches their folders again after a pause.
        private func readEvents() {
            var written: Set<String> = []
            var replaced: Set<String> = []
            var folders: Set<String> = []
            withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 8) { buffer in
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    guard count > 0 else { break }
                    var position = 0
                    while position + MemoryLayout<inotify_event>.size <= count {
                        let event = buffer.loadUnaligned(fromByteOffset: position, as: inotify_event.self)
                        position += MemoryLayout<inotify_event>.size
                        let name = buffer[position..<min(position + Int(event.len), count)].prefix { $0 != 0 }
                        position += Int(event.len)
                        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
                            // The lost events may concern any folder.
                            folders.formUnion(state.withLock { Set($0.folders.keys) })
                        }
                        guard let folder = state.withLock({ $0.paths[event.wd] }) else { continue }
                        folders.insert(folder)
                        let path = (folder == "/" ? "" : folder) + "/" + String(decoding: name, as: UTF8.self)
                        if event.mask & UInt32(IN_MODIFY) != 0 {
                            written.insert(path)
                        } else if event.mask & (UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)) != 0 {
                            replaced.insert(path)
                        }
                    }
                }
            }
            for path in replaced { report(path, .replacement) }
            for path in written where !replaced.contains(path) { report(path, .content) }
            watchAgain(folders, after: Self.pause, changed: written.union(replaced))
        }

        /// Watches folders again after a pause in milliseconds, and reports their files that have changed, or may have.
        private func watchAgain(_ folders: Set<String>, after pause: Int, changed: Set<String>) {
            guard !folders.isEmpty else { return }
            queue.asyncAfter(deadline: .now() + .milliseconds(pause)) { [self] in
                var files: Set<String> = []
                var unwatched: Set<String> = []
                state.withLock { state in
                    for path in folders where !state.isCancelled {
                        guard var folder = state.folders[path] else { continue }
                        state.paths[folder.watch] = nil
                        if let watch = watch(path) { folder.watch = watch } else { unwatched.insert(path) }
                        state.paths[folder.watch] = unwatched.contains(path) ? nil : path
                        for file in folder.files {
                            let status = [FileStatus(file.path), FileStatus(file.log)]
                            // A clock may be too coarse to show a second write.
                            if changed.contains(file.path) || changed.contains(file.log)
                                || folder.status[file.path] != status
                            {
                                files.insert(file.path)
                            }
                            folder.status[file.path] = status
                        }
                        state.folders[path] = folder
                    }
                }
                for file in files { report(file, .replacement) }
                watchAgain(unwatched, after: Self.pauseAfterFailure, changed: [])
            }
        }
    }
#elseif canImport(Darwin)
    import Dispatch
    import Foundation
    import Guarded

    /// The system's events of folders with database files: a descriptor for each folder, and for each log in it.
    final class FolderEvents: Sendable {
        private struct Watched {
            var folder: any DispatchSourceFileSystemObject
            /// Nil while there is no log.
            var log: (any DispatchSourceFileSystemObject)?
            var users: Int

            func cancel() {
                folder.cancel()
                log?.cancel()
            }
        }

        private let queue: DispatchQueue
        private let body: @Sendable (String?, FileWatcher.Change) -> Void
        private let watched = Guarded<[String: Watched]>([:])

        /// Makes an empty list.
        ///
        /// - Parameter body: Called on the queue with the path of a file.
        init?(queue: DispatchQueue, _ body: @escaping @Sendable (String?, FileWatcher.Change) -> Void) {
            self.queue = queue
            self.body = body
        }

        /// Ends the events and closes the descriptors.
        func cancel() {
            watched.withLock { watched in
                for entry in watched.values { entry.cancel() }
                watched = [:]
            }
        }

        /// Watches a file.
        ///
        /// - Returns: False if the system cannot watch it.
        func add(_ files: DatabaseFiles) -> Bool {
            let isKnown = watched.withLock { watched in
                watched[files.path]?.users += 1
                return watched[files.path] != nil
            }
            if isKnown { return true }
            let entriesDidChange: @Sendable () -> Void = { [weak self] in
                self?.watchLog(of: files)
                self?.body(files.path, .replacement)
            }
            guard let folder = source(files.folder, [.write, .rename, .delete], entriesDidChange) else { return false }
            watched.withLock { $0[files.path] = Watched(folder: folder, log: nil, users: 1) }
            watchLog(of: files)
            return true
        }

        /// Reverses one call of ``add(_:)``.
        func remove(_ files: DatabaseFiles) {
            watched.withLock { watched in
                watched[files.path]?.users -= 1
                if watched[files.path]?.users == 0 { watched.removeValue(forKey: files.path)?.cancel() }
            }
        }

        /// Watches the log that the path leads to now.
        private func watchLog(of files: DatabaseFiles) {
            let log = source(files.log, [.write, .extend]) { [weak self] in self?.body(files.log, .content) }
            watched.withLock { watched in
                guard watched[files.path] != nil else {
                    log?.cancel()
                    return
                }
                watched[files.path]?.log?.cancel()
                watched[files.path]?.log = log
            }
        }

        /// A source of the events of a file or folder. SQLite locks neither logs nor folders, so that closing the
        /// descriptor releases no lock.
        private func source(
            _ path: String,
            _ events: DispatchSource.FileSystemEvent,
            _ handler: @escaping @Sendable () -> Void
        ) -> (any DispatchSourceFileSystemObject)? {
            let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            let source = DispatchSource.makeFileSystemObjectSource(
                fileDescriptor: descriptor,
                eventMask: events,
                queue: queue
            )
            source.setEventHandler(handler: handler)
            source.setCancelHandler { close(descriptor) }
            source.resume()
            return source
        }
    }
#endif
