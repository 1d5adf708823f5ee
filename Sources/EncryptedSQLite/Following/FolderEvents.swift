#if os(Linux) || os(Android)
    import Dispatch
    import Foundation
    import Guarded

    /// The system's events of folders with database files: one `inotify` instance.
    final class FolderEvents: Sendable {
        private struct Folder {
            var descriptor: Int32
            var users: Int
        }

        private struct State {
            var folders: [String: Folder] = [:]
            var paths: [Int32: String] = [:]
        }

        /// The pause between two reads of events. Without it, a process that commits continuously would wake a thread at
        /// each commit, including its own commits.
        private static let pauseMilliseconds = 10

        private let descriptor: Int32
        private let queue: DispatchQueue
        private let source: Guarded<any DispatchSourceRead>
        private let state = Guarded(State())

        /// Begins to receive events.
        ///
        /// - Parameter body: Called on the queue with the path of a file, or nil if events were lost.
        init?(queue: DispatchQueue, _ body: @escaping @Sendable (String?, FileWatcher.Change) -> Void) {
            let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
            self.queue = queue
            let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
            self.source = Guarded(source)
            source.setEventHandler { [unowned self] in
                readEvents(body)
                pause()
            }
            source.setCancelHandler { [self] in
                close(descriptor)
                _ = self
            }
            source.resume()
        }

        /// Ends the events and closes the descriptor.
        func cancel() { source.withLock { $0.cancel() } }

        /// Suspends the source for a pause. The block that resumes it retains the source, because a suspended source
        /// must not be released.
        private func pause() {
            source.withLock { $0.suspend() }
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.pauseMilliseconds)) { [self] in
                source.withLock { $0.resume() }
            }
        }

        /// Watches the folder of a file.
        ///
        /// - Returns: False if the system cannot watch it.
        func add(_ files: DatabaseFiles) -> Bool {
            state.withLock { state in
                if state.folders[files.folder] != nil {
                    state.folders[files.folder]?.users += 1
                    return true
                }
                // Not IN_CLOSE_WRITE: SQLite keeps its files open.
                let mask = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
                let watch = inotify_add_watch(descriptor, files.folder, mask)
                guard watch >= 0 else { return false }
                state.folders[files.folder] = Folder(descriptor: watch, users: 1)
                state.paths[watch] = files.folder
                return true
            }
        }

        /// Reverses one call of ``add(_:)``.
        func remove(_ files: DatabaseFiles) {
            state.withLock { state in
                guard var folder = state.folders[files.folder] else { return }
                folder.users -= 1
                state.folders[files.folder] = folder.users > 0 ? folder : nil
                guard folder.users == 0 else { return }
                state.paths[folder.descriptor] = nil
                inotify_rm_watch(descriptor, folder.descriptor)
            }
        }

        /// Reads the events that have arrived, and reports each file once.
        private func readEvents(_ body: (String?, FileWatcher.Change) -> Void) {
            var written: Set<String> = []
            var replaced: Set<String> = []
            var hasLostEvents = false
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
                        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { hasLostEvents = true }
                        guard let folder = state.withLock({ $0.paths[event.wd] }) else { continue }
                        let path = (folder == "/" ? "" : folder) + "/" + String(decoding: name, as: UTF8.self)
                        if event.mask & UInt32(IN_MODIFY) != 0 {
                            written.insert(path)
                        } else {
                            replaced.insert(path)
                        }
                    }
                }
            }
            if hasLostEvents { body(nil, .replacement) }
            for path in replaced { body(path, .replacement) }
            for path in written where !replaced.contains(path) { body(path, .content) }
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
