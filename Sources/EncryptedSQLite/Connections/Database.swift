import CSQLCipher
import Guarded
import Synchronization

/// An encrypted database file, or a database in memory: one writer connection and a pool of readers.
///
/// The file is in write-ahead-log mode: any number of readers and one writer run at the same time, and each reader sees
/// the state that was committed when its statement or transaction began. The key is derived once, when the database is
/// opened; every connection is then opened with the derived key. See ``RetainedKey`` for what is kept of a passphrase.
///
/// A database in memory has a single connection, which readers and writers use in turn.
///
/// The connections can be closed while the database stays, and be opened again: see ``lock()`` and ``suspend()``. The
/// file can be replaced by one with another key or layout: see ``replaceFile(key:progress:copy:)``.
///
/// Connections must not be carried over a `fork()`: a child process opens the database again.
package final class Database: Sendable {
    /// The place of the database.
    package let location: Location
    let options: Options
    let counters: StatisticsCounters
    let writers: ConnectionPool
    /// Nil for a database in memory, whose only connection reads and writes.
    let readers: ReaderPool?
    /// The file, independent of the working directory; nil for a database in memory.
    let files: DatabaseFiles?
    /// The open file with its key; nil for a database in memory, and while the database is locked or closed.
    let session: Guarded<FileSession?>
    /// The phase, whose lock is held by the thread that changes it or replaces the file.
    let phase: Guarded<Phase>
    let work = FileWork()
    /// Nil for a database in memory or opened for reading only.
    let checkpointer: Checkpointer?
    /// The connection on which a database that is opened for reading only looks for commits; nil for other databases.
    let versionReaders: ConnectionPool?
    /// Notices the commits of other databases of this process and of other processes.
    let commitWatcher: CommitWatcher
    let writing = WritingThread()
    /// Whether the calling thread is inside ``write(isBulk:_:)``.
    package var isWrittenByThisThread: Bool { writing.isCurrent }
    /// The loss of transactions that the last opening of the file has found, until it is taken.
    let logLoss = Guarded<LogLoss?>(nil)
    private let snapshots = Guarded(Snapshots())
    /// The number of reads from snapshots that are running.
    private let snapshotUses = Atomic<Int>(0)

    private struct Snapshots {
        var open: [WeakSnapshot] = []
        /// The pools of the snapshots that threads are reading, once for each read.
        var inUse: [ConnectionPool] = []
    }

    private struct WeakSnapshot {
        weak var snapshot: DatabaseSnapshot?
    }

    /// The place of a database.
    package enum Location: Sendable, Equatable {
        /// A file, by its path.
        case file(String)
        /// Memory. Each opening makes a separate database.
        case memory
    }

    /// Opens a database, or creates it if no file exists and the options allow that.
    ///
    /// A file needs a key; a database in memory takes none. A file that cannot be opened is left as it was, bit for
    /// bit. Complexity: a passphrase costs a key derivation (about 0.1 s), a raw key does not.
    package convenience init(
        _ location: Location,
        key: EncryptionKey?,
        options: Options = Options()
    ) throws(DatabaseError) {
        do {
            try self.init(location, key: key, options: options) { _ in }
        } catch let error as DatabaseError {
            throw error
        } catch {
            preconditionFailure("Opening a database threw an error of another type: \(type(of: error))")
        }
    }

    /// Opens a database, or creates it with the tables that `create` makes.
    ///
    /// `create` runs in the first transaction of a new database, together with setting `application_id` and, unless
    /// `create` sets it, `user_version`. If it throws, no file remains. If two processes create the same file at once,
    /// one succeeds and the other opens the result.
    ///
    /// `verify` runs in a read transaction before the database is accepted. If it throws, the database is refused: the
    /// file, its log and its journal stay as they were. `verify` can run twice: first on a connection that changes
    /// nothing, if a log or journal of an earlier process lies beside the file, then on the connection that stays open.
    package init(
        _ location: Location,
        key: EncryptionKey?,
        options: Options = Options(),
        create: (Connection) throws -> Void,
        verify: (Connection) throws -> Void = { _ in }
    ) throws {
        let counters = StatisticsCounters()
        self.location = location
        self.options = options
        self.counters = counters
        switch location {
        case .memory:
            let connection = try MemoryOpening.open(
                options: options,
                counters: counters,
                create: create,
                verify: verify
            )
            writers = ConnectionPool(limit: 1) { () throws(DatabaseError) in throw .closed }
            writers.add(connection)
            readers = nil
            checkpointer = nil
            versionReaders = nil
            commitWatcher = CommitWatcher(nil)
            files = nil
            session = Guarded(nil)
            phase = Guarded(.open)
        case .file(let path):
            guard let key else { throw DatabaseError.missingKey(path: path) }
            let opening = try FileOpening(path: path, options: options, counters: counters)
            let opened = try opening.open(key, create: create, verify: verify)
            let files = opening.files
            self.files = files
            let session = Guarded<FileSession?>(nil)
            self.session = session
            phase = Guarded(.open)
            readers = ReaderPool(limit: options.readerCount)
            writers = ConnectionPool(limit: 1)
            checkpointer =
                options.readOnly
                ? nil
                : Checkpointer(connections: ConnectionPool(limit: 1)) {
                    guard let file = session.withLock({ $0 })?.file, file.mayWriteLogBack else { return false }
                    file.endIdleTransactions()
                    return true
                }
            versionReaders = options.readOnly ? ConnectionPool(limit: 1) : nil
            commitWatcher = CommitWatcher(versionReaders ?? writers)
            start(
                FileSession(
                    file: OpenFile(files, opened.identity),
                    opener: opened.opener,
                    key: try RetainedKey(key)
                ),
                with: opened.connection
            )
            logLoss.withLock { $0 = opened.loss }
        }
    }

    /// Returns the loss of transactions that the last opening of the file found in its log, also an opening after
    /// ``lock()`` or ``suspend()``; nil if no loss is known. Each loss is returned once.
    package func takeLogLoss() -> LogLoss? {
        logLoss.withLock { loss in
            defer { loss = nil }
            return loss
        }
    }

    /// The largest number of connections that read at once.
    package var readerCount: Int { options.readerCount }

    /// The number of threads that wait for the writer connection.
    package var waitingWriters: Int { writers.waiterCount }

    /// The statistics since the database was opened.
    package var statistics: DatabaseStatistics { counters.snapshot }

    // MARK: Reading and writing

    /// Lends a reader connection to `body`, whose statements all see the state that was committed when the first one
    /// began.
    ///
    /// Waits while all readers are lent. Nested calls of a thread get the same connection. Inside `write` it is the
    /// writer connection, with its uncommitted changes; inside ``DatabaseSnapshot/perform(_:)``, the snapshot's
    /// connection.
    package func read<R>(_ body: (Connection) throws -> R) throws -> R {
        if writing.isCurrent {
            return try writers.withConnection(body)
        }
        if snapshotUses.load(ordering: .relaxed) > 0,
            let snapshot = snapshots.withLock({ $0.inUse.last(where: \.isBorrowedByThisThread) })
        {
            return try snapshot.withConnection(body)
        }
        guard let readers else { return try writers.withConnection(body) }
        return try readers.withConnection(body)
    }

    /// Lends the writer connection to `body`, in a transaction that is committed when `body` returns and rolled back
    /// when it throws.
    ///
    /// Waits for other writers of this process without limit, and for writers of other processes up to the busy
    /// timeout. A nested call of the same thread is a savepoint of the outer transaction. Inside `write` of another
    /// database with the same file it throws `nestedWrite`.
    ///
    /// - Parameter isBulk: Whether `body` changes or sorts so many rows that SQLite should not keep them in memory: see
    ///   ``Connection/usingTemporaryFiles(_:)``.
    package func write<R>(isBulk: Bool = false, _ body: (Connection) throws -> R) throws -> R {
        var isOutermost = false
        let result = try writers.withConnection { connection in
            isOutermost = !writing.isCurrent
            if isOutermost {
                try requireNoOuterWrite()
                endIdleReading()
            }
            writing.begin()
            defer { if isOutermost { writing.end() } }
            guard isBulk else { return try connection.transaction(body) }
            return try connection.usingTemporaryFiles { try connection.transaction(body) }
        }
        // After the connection was returned, since the observers of the other databases may use it.
        if isOutermost, OpenFile.hasPeers { session.withLock { $0 }?.file.reportCommit(of: commitWatcher) }
        return result
    }

    /// Lends the writer connection to `body` without a transaction, for statements that cannot run in one: VACUUM,
    /// checkpoints.
    ///
    /// Each statement is a separate transaction.
    package func writeWithoutTransaction<R>(_ body: (Connection) throws -> R) throws -> R {
        try writers.withConnection { connection in
            precondition(!connection.isInTransaction, "This cannot be done inside `write`.")
            try requireNoOuterWrite()
            endIdleReading()
            try connection.requireSoundFile()
            try connection.requireUnmovedFile()
            return try body(connection)
        }
    }

    /// Lends a reader connection to `body`, in a read transaction on the latest commit, without waiting.
    ///
    /// Does not call `body` if all connections are in use, or the calling thread is inside a read or write of the
    /// database, whose transaction may be older than the latest commit.
    package func readWithoutWaiting(_ body: (Connection) throws -> Void) throws {
        guard canReadConcurrently, let readers else { return }
        try readers.withFreeConnection(body)
    }

    /// Whether `read` would lend the calling thread a reader connection that it does not hold yet.
    var canReadConcurrently: Bool {
        guard let readers, !writing.isCurrent else { return false }
        return !readers.connections.isBorrowedByThisThread && snapshotUses.load(ordering: .relaxed) == 0
    }

    /// Ends read transactions that no thread of this process uses, so that the write-ahead log can be written back past
    /// them.
    private func endIdleReading() {
        if OpenFile.hasPeers {
            session.withLock { $0 }?.file.endIdleTransactions()
        } else {
            readers?.endIdleTransactions()
        }
    }

    /// Throws `nestedWrite` if the calling thread is inside a write transaction on the file, of another database: it
    /// would wait for itself.
    func requireNoOuterWrite() throws(DatabaseError) {
        guard OpenFile.hasPeers, let files, let file = session.withLock({ $0 })?.file else { return }
        guard !file.isWrittenByThisThread(exceptThrough: writing) else {
            throw .nestedWrite(path: files.namedPath)
        }
    }

    // MARK: Further connections

    /// The open file with its key.
    ///
    /// - Throws: The error of a database that is not open; `noFile` for a database in memory.
    func openSession() throws(DatabaseError) -> FileSession {
        if let error = phase.withLock({ $0.error }) { throw error }
        guard let session = session.withLock({ $0 }) else { throw .noFile }
        return session
    }

    /// Lends the only connection of a database in memory.
    func withMemoryConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        precondition(location == .memory)
        return try writers.withConnection { connection in
            precondition(!connection.isInTransaction, "This cannot be done inside `write`.")
            return try body(connection)
        }
    }

    // MARK: Snapshots

    /// Returns the state that is committed now, for later reading; nil for a database in memory, whose only connection
    /// the writer needs.
    package func snapshot() throws(DatabaseError) -> DatabaseSnapshot? {
        guard let readers else { return nil }
        return try readers.connections.openFurther { (connection) throws(DatabaseError) in
            try connection.beginSnapshot()
            let snapshot = DatabaseSnapshot(connection, of: self)
            snapshots.withLock { snapshots in
                snapshots.open.removeAll { $0.snapshot == nil }
                snapshots.open.append(WeakSnapshot(snapshot: snapshot))
            }
            return snapshot
        }
    }

    /// Runs `body` on a thread that holds the connection of a snapshot, which `read` lends to it.
    func reading<R>(from snapshot: ConnectionPool, _ body: () throws -> R) rethrows -> R {
        snapshots.withLock { $0.inUse.append(snapshot) }
        snapshotUses.wrappingAdd(1, ordering: .relaxed)
        defer {
            snapshotUses.wrappingSubtract(1, ordering: .relaxed)
            snapshots.withLock { snapshots in
                if let last = snapshots.inUse.lastIndex(where: { $0 === snapshot }) { snapshots.inUse.remove(at: last) }
            }
        }
        return try body()
    }

    // MARK: Closing

    /// Closes all connections, waiting for lent ones, and releases the key. Later use throws `closed`. Running copies,
    /// checks and replacements of the file end with that error.
    ///
    /// The last connection to a file writes the write-ahead log into it. Must not be called inside `read` or `write`.
    package func close() throws {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        work.stop(.closed)
        phase.withLock { phase in
            phase = .closed
            stop(.closed)
            session.withLock { $0 = nil }
        }
    }

    /// Writes all of the log into the file, and closes the database. No other connection may use the file.
    ///
    /// - Throws: `diskFull` and other errors of writing. The database is open then.
    package func closeCompletely() throws {
        try writeWithoutTransaction { try $0.writeLogBack() }
        try close()
    }

    deinit {
        stop(.closed)
    }

    /// Closes the connections of all snapshots. Reading from one throws `error` then.
    func stopSnapshots(_ error: DatabaseError) {
        for entry in snapshots.withLock({ $0.open }) { entry.snapshot?.connections.stop(error) }
    }

    /// Closes all connections, waiting for lent ones. Later use throws `error`.
    func stop(_ error: DatabaseError) {
        commitWatcher.stop()
        versionReaders?.stop(error)
        // The writer last: the last connection that is closed writes the log back.
        if let readers {
            readers.connections.stop(error)
            session.withLock { $0 }?.file.remove(readers)
        }
        // The snapshots close after the pool, which has waited for snapshots that were being opened and opens no
        // further ones.
        stopSnapshots(error)
        checkpointer?.connections.stop(error)
        writers.stop(error)
    }
}
