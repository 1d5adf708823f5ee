import Dispatch
import Foundation
import Guarded

/// Notices commits to a database's file by other databases of this process, which report them, and, between ``begin()``
/// and ``end()``, by other processes.
///
/// Events of the file system show that some process may have committed. SQLite's data version on the writer connection
/// then shows whether another connection has: the commits of the writer connection itself do not change it.
final class CommitWatcher: Sendable {
    private struct State {
        var onCommit: (@Sendable () -> Void)?
        /// The number of calls of ``begin()`` that no call of ``end()`` has reversed.
        var followers = 0
        /// The file while the database is open.
        var file: (files: DatabaseFiles, identity: FileIdentity)?
        var watch: FileWatch?
        /// The number of the scheduled check in ``delays``; nil if no check is scheduled.
        var scheduled: Int?
        /// Increases when a scheduled check becomes invalid.
        var generation = 0
        var lastCheck: UInt64 = 0
        var hasReportedReplacement = false
    }

    /// The milliseconds between the checks after the last event. A commit becomes visible after its event, by
    /// microseconds or, if the commit waits for the disk, by longer, and no further event follows.
    private static let delays = [20, 60, 180, 540, 1620, 4860]
    /// The number of the longest delay while the writer connection is in use.
    private static let longestBusyDelay = 2
    /// The milliseconds between checks if the system cannot watch the folder.
    private static let unwatchedDelay = 500

    /// The pool with the connection whose data version is read; nil for a database in memory.
    private let connections: ConnectionPool?
    private let state = Guarded(State())
    private var queue: DispatchQueue { FileWatcher.shared.queue }

    init(_ connections: ConnectionPool?) {
        self.connections = connections
    }

    /// Called after commits of other connections, on any thread: once for several commits.
    var onCommit: (@Sendable () -> Void)? {
        get { state.withLock { $0.onCommit } }
        set { state.replace(\.onCommit, with: newValue) }
    }

    // MARK: Following

    /// Begins to notice the commits of other processes. Calls are counted.
    func begin() {
        let isFirst = state.withLock { state in
            state.followers += 1
            return state.followers == 1 && state.file != nil
        }
        guard isFirst else { return }
        watch()
        // Reads the data version, so that earlier commits are not reported. A running save delays this first reading.
        try? connections?.withFreeConnection { _ = try $0.seesForeignCommit() }
    }

    /// Reverses one call of ``begin()``.
    func end() {
        let isLast = state.withLock { state in
            state.followers -= 1
            return state.followers == 0
        }
        if isLast { unwatch() }
    }

    /// Begins to watch the file, after the database was opened.
    func start(_ files: DatabaseFiles, _ identity: FileIdentity) {
        let isFollowed = state.withLock { state in
            state.file = (files, identity)
            state.hasReportedReplacement = false
            return state.followers > 0
        }
        guard isFollowed else { return }
        watch()
        // Other processes may have committed while no connection was open.
        queue.async { [weak self] in self?.noteEvent() }
    }

    /// Reports the commits that other connections may have made while the database was locked or suspended.
    func noteReopening() {
        if state.withLock({ $0.followers > 0 }) {
            // Reads the data version, so that the next check finds later commits only.
            try? connections?.withFreeConnection { _ = try $0.seesForeignCommit() }
        }
        onCommit?()
    }

    /// Ends the watch, before the database is closed.
    func stop() {
        state.withLock { $0.file = nil }
        unwatch()
    }

    private func watch() {
        guard let files = state.withLock({ $0.watch == nil ? $0.file?.files : nil }) else { return }
        let watch = FileWatcher.shared.watch(files) { [weak self] change in
            if change == .replacement { self?.noteReplacement() }
            self?.noteEvent()
        }
        let superfluous = state.withLock { state -> FileWatch? in
            guard state.watch == nil, state.file != nil, state.followers > 0 else { return watch }
            state.watch = watch
            return nil
        }
        superfluous?.end()
        if watch == nil { queue.async { [weak self] in self?.schedule(0) } }
    }

    private func unwatch() {
        let watch = state.withLock { state -> FileWatch? in
            // Another thread may have called ``begin()`` since the caller changed the state.
            guard state.followers == 0 || state.file == nil else { return nil }
            state.generation += 1
            state.scheduled = nil
            defer { state.watch = nil }
            return state.watch
        }
        watch?.end()
    }

    // MARK: Checking

    /// Reports the commit of another database of this process.
    func noteCommitOfPeer() {
        // The check records that the commit is reported.
        if state.withLock({ $0.watch == nil }) || check() == .impossible { onCommit?() }
    }

    /// Checks at once, unless the last check was shortly before, and again later.
    private func noteEvent() {
        let now = DispatchTime.now().uptimeNanoseconds
        let (isScheduled, mayCheck) = state.withLock { state in
            (state.scheduled == 0, now >= state.lastCheck + UInt64(Self.delays[0]) * 1_000_000)
        }
        if isScheduled { return }
        if mayCheck { check() }
        schedule(0)
    }

    private func noteReplacement() {
        let isNew = state.withLock { state in
            guard let file = state.file, !state.hasReportedReplacement,
                FileIdentity(path: file.files.path) != file.identity
            else { return false }
            state.hasReportedReplacement = true
            return true
        }
        // Every use of the database throws now, which shows its users that they have to open the new file.
        if isNew { onCommit?() }
    }

    private func schedule(_ number: Int) {
        let (delay, generation) = state.withLock { state -> (Int?, Int) in
            guard state.followers > 0, state.file != nil else { return (nil, 0) }
            state.generation += 1
            state.scheduled = number
            return (state.watch == nil ? Self.unwatchedDelay : Self.delays[number], state.generation)
        }
        guard let delay else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in self?.runScheduled(generation) }
    }

    private func runScheduled(_ generation: Int) {
        let number = state.withLock { state -> Int? in
            guard generation == state.generation else { return nil }
            defer { state.scheduled = nil }
            return state.scheduled
        }
        guard let number else { return }
        let isWatched = state.withLock { $0.watch != nil }
        let outcome = check()
        if outcome == .impossible {
            schedule(min(number + 1, Self.longestBusyDelay))
        } else if !isWatched {
            schedule(0)
        } else if number + 1 < Self.delays.count {
            schedule(number + 1)
        }
    }

    private enum Outcome { case unchanged, changed, impossible, failed }

    /// Reads the data version, and reports a commit of another connection.
    @discardableResult
    private func check() -> Outcome {
        state.withLock { $0.lastCheck = DispatchTime.now().uptimeNanoseconds }
        var outcome = Outcome.impossible
        do {
            // Does not wait for a running save: its connection reads the data version later.
            try connections?.withFreeConnection { connection in
                outcome = .failed
                outcome = try connection.seesForeignCommit() ? .changed : .unchanged
            }
        } catch {
            outcome = .failed
        }
        if outcome == .changed { onCommit?() }
        return outcome
    }
}

extension Connection {
    /// Whether another connection, of this or another process, has committed since the last call. True for the first
    /// call on a connection.
    fileprivate func seesForeignCommit() throws(DatabaseError) -> Bool {
        let version = try value(of: .dataVersion)
        defer { dataVersion = version }
        return dataVersion != version
    }
}

extension Database {
    /// Sets the function that is called after commits of other connections to the file, on any thread: once for several
    /// commits.
    ///
    /// Commits of other databases of this process are always noticed, commits of other processes after
    /// ``beginFollowing()``. The function is also called whenever a locked or suspended database has been opened again,
    /// since other connections may have committed while it was not open.
    package func onForeignCommit(_ body: (@Sendable () -> Void)?) { commitWatcher.onCommit = body }

    /// Begins to notice the commits of other processes: usually within milliseconds, and within a second if the system
    /// cannot watch the folder of the file. Calls are counted.
    package func beginFollowing() { commitWatcher.begin() }

    /// Reverses one call of ``beginFollowing()``.
    package func endFollowing() { commitWatcher.end() }
}
