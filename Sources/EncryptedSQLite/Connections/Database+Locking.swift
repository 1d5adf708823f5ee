import CSQLCipher
import Guarded

extension Database {
    /// Closes all connections and overwrites the key. Later use throws `locked`, until ``unlock(with:verify:)``.
    ///
    /// Waits for running reads and writes, which are not interrupted. Running copies, checks and replacements of the
    /// file end, and throw `locked`. The page caches are freed; with ``Options/memorySecurity`` they are overwritten
    /// before. Snapshots end for good. A database in memory, whose content would be lost, stays as it is. Must not be
    /// called inside `read` or `write`, nor by an observer of the progress of a copy.
    package func lock() {
        guard (try? ExitGate.enter()) != nil else { return }
        defer { ExitGate.leave() }
        if readers != nil, !isLocked { work.stop(.locked) }
        phase.withLock { phase in
            guard readers != nil, phase == .open || phase == .suspended else { return }
            phase = .locked
            work.refuse(.locked)
            stop(.locked)
            session.withLock { $0 = nil }
        }
        waitForLateWork()
    }

    /// Waits for operations that began during the call, while another thread opened the database again. They may wait
    /// for the lock of the phase, which the caller must not hold.
    private func waitForLateWork() {
        if readers != nil { work.waitUntilIdle() }
    }

    /// Opens a locked database again. Does nothing if the database is not locked.
    ///
    /// - Parameters:
    ///   - key: The key of the file, which may differ from the earlier key.
    ///   - verify: Runs in a read transaction before the database is accepted, as in the initializer.
    /// - Throws: As the initializer does; `closed`. The database stays locked then.
    package func unlock(with key: EncryptionKey, verify: (Connection) throws -> Void = { _ in }) throws {
        try reopen(verify: verify) { phase throws(DatabaseError) in
            guard phase != .closed else { throw .closed }
            return phase == .locked ? (key, nil) : nil
        }
    }

    /// Opens the file again with the key that a function returns for the phase, unless it returns nil. The function can
    /// also return the key that was derived for the earlier file.
    private func reopen(
        verify: (Connection) throws -> Void,
        _ key: (Phase) throws(DatabaseError) -> (given: EncryptionKey, derived: DerivedKey?)?
    ) throws {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let isReopened = try phase.withLock { phase in
            guard let key = try key(phase), let files else { return false }
            var options = options
            options.createsIfMissing = false
            let opening = FileOpening(files: files, options: options, counters: counters)
            let opened = try opening.open(key.given, known: key.derived, create: { _ in }, verify: verify)
            let retained = try RetainedKey(key.given)
            work.resume()
            let file = OpenFile(opened.opener.files, opened.identity)
            start(FileSession(file: file, opener: opened.opener, key: retained), with: opened.connection)
            logLoss.withLock { $0 = opened.loss }
            // Their states are gone.
            stopSnapshots(.closed)
            phase = .open
            return true
        }
        // Outside the lock, since the observers read from the database.
        if isReopened { commitWatcher.noteReopening() }
    }

    /// Closes all connections and keeps the key, so that no lock on the file is held. Later use throws `suspended`,
    /// until ``resume(verify:)``.
    ///
    /// Waits for running reads and writes; running copies, checks and replacements of the file end, as by ``lock()``.
    /// The last connection of all processes writes the log into the file. Does nothing if the database is locked,
    /// closed, or in memory: ``unlock(with:verify:)`` opens a database that was suspended while it was locked. Must not
    /// be called inside `read` or `write`.
    package func suspend() {
        guard (try? ExitGate.enter()) != nil else { return }
        defer { ExitGate.leave() }
        if readers != nil, !isLocked { work.stop(.suspended) }
        phase.withLock { phase in
            guard readers != nil, phase == .open else { return }
            phase = .suspended
            work.refuse(.suspended)
            stop(.suspended)
        }
        waitForLateWork()
    }

    /// Opens a suspended database again. Does nothing if the database is not suspended.
    ///
    /// A file with the same key can have taken the place of the file: a backup, or the result of a compaction by another
    /// process. If it has another salt, its key is derived from the passphrase again.
    ///
    /// - Parameter verify: Runs in a read transaction before the database is accepted.
    /// - Throws: `locked`; `closed`; `wrongKey` if another process has changed the key; the errors of opening. The
    ///   database stays suspended then.
    package func resume(verify: (Connection) throws -> Void = { _ in }) throws {
        try reopen(verify: verify) { phase throws(DatabaseError) in
            guard phase == .suspended || phase == .open else { throw phase.error ?? .closed }
            guard phase == .suspended, let session = session.withLock({ $0 }) else { return nil }
            return (session.key.key, session.opener.key)
        }
    }

    /// Whether the database is locked or closed. Does not wait for a change of the key.
    package var isLocked: Bool { readers != nil && session.withLock { $0 } == nil }
}
