import CSQLCipher
import Dispatch
import Synchronization

/// Writes the log back into the file on a separate connection and thread, so that no commit waits for it. SQLite itself
/// would checkpoint in the commit that makes the log long, which takes half of the time of a large commit.
///
/// SQLite starts the log again from its beginning once a writer finds that all of it is written back. While commits
/// follow each other without a pause, no checkpoint reaches that state: writers commit further pages while it runs. So
/// the next commit writes back the few pages that are left. Otherwise one checkpoint would follow the other, and take
/// half of the speed of small commits.
///
///     writer                  checkpointer             log: pages, of which are written back
///     commits                                          1,000    0
///     commits, commits, …     writes 1,000 pages back  1,040    1,000
///     commits, writes back                             1,041    1,041
///     commits                                          1        0
final class Checkpointer: Sendable {
    /// The number of pages in the log that starts a checkpoint: SQLite's default.
    static let threshold = 1000
    /// The number of pages from which the commit itself runs the checkpoint, because commits are faster than the
    /// checkpointer.
    private static let urgentThreshold = 16_000
    /// The largest number of pages that a commit writes back after a checkpoint.
    private static let restLimit = 250
    /// The number of pages from which a checkpoint blocks writers. While there is always a reader, a checkpoint that
    /// blocks no writer never writes all pages back, and the log would grow without bound.
    private static let waitingThreshold = 64_000
    /// The longest time for which such a checkpoint waits for readers.
    private static let maximumWaitMilliseconds: Int32 = 1000

    /// The pool of the connection that runs the checkpoints. Stopping the pool waits for a running checkpoint.
    let connections: ConnectionPool
    /// Ends the idle read transactions that keep the log from being written back. Returns false if the log must not be
    /// written back.
    private let prepare: @Sendable () -> Bool
    private let isScheduled = Atomic<Bool>(false)
    /// The pages at the beginning of the log that the last checkpoint found and wrote back, for the next commit; 0 if a
    /// reader needed some of them.
    private let writtenPages = Atomic<Int>(0)
    /// The number of pages from which the next checkpoint blocks writers. It doubles after a checkpoint that readers
    /// have blocked for longer than ``maximumWaitMilliseconds``, until the log starts again.
    let waitingLength = Atomic<Int>(Checkpointer.waitingThreshold)

    init(connections: ConnectionPool, prepare: @escaping @Sendable () -> Bool) {
        self.connections = connections
        self.prepare = prepare
    }

    /// Observes the commits of a writer connection, which must not outlive the checkpointer.
    func watch(_ connection: Connection) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_wal_hook(
            connection.handle,
            { context, handle, name, pages in
                guard let context else { return SQLITE_OK }
                let checkpointer = Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue()
                return checkpointer.didCommit(pages: Int(pages), to: name, handle)
            },
            context
        )
    }

    private func didCommit(pages: Int, to name: UnsafePointer<CChar>?, _ handle: OpaquePointer?) -> Int32 {
        guard pages >= Self.threshold else {
            // The log may have started again.
            if writtenPages.load(ordering: .relaxed) != 0 { writtenPages.store(0, ordering: .relaxed) }
            waitingLength.store(Self.waitingThreshold, ordering: .relaxed)
            return SQLITE_OK
        }
        let written = writtenPages.exchange(0, ordering: .relaxed)
        let rest = pages - written
        // From this length on, a commit runs a checkpoint only if no reader has blocked the last one.
        let mayFinish = pages < waitingLength.load(ordering: .relaxed) || written > 0
        let isUrgent = pages >= Self.urgentThreshold && mayFinish
        if isUrgent || 0 < rest && rest <= Self.restLimit {
            guard prepare() else { return SQLITE_OK }
            // As SQLite's own hook does. If the checkpoint fails, a later commit repeats it.
            sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        } else if !isScheduled.exchange(true, ordering: .relaxed) {
            DispatchQueue.global(qos: .utility).async { [weak self] in self?.run() }
        }
        return SQLITE_OK
    }

    /// Runs a checkpoint.
    func run() {
        defer { isScheduled.store(false, ordering: .relaxed) }
        guard (try? ExitGate.enter()) != nil else { return }
        defer { ExitGate.leave() }
        guard prepare() else { return }
        // An error leaves the log as it is; the next checkpoint repeats the work.
        try? connections.withConnection { connection in
            // If a file was moved, another process may checkpoint the same log with another index.
            try connection.requireSoundFile()
            try connection.requireUnmovedFile()
            var (length, writtenBack): (Int32, Int32) = (0, 0)
            let code = sqlite3_wal_checkpoint_v2(
                connection.handle,
                "main",
                SQLITE_CHECKPOINT_PASSIVE,
                &length,
                &writtenBack
            )
            guard code == SQLITE_OK else { return }
            if writtenBack == length {
                writtenPages.store(Int(length), ordering: .relaxed)
            } else if length >= waitingLength.load(ordering: .relaxed) {
                restartLog(ofLength: Int(length), through: connection)
            }
        }
    }

    /// Writes the log back while writers are blocked. Readers that begin afterwards do not need the log.
    private func restartLog(ofLength length: Int, through connection: Connection) {
        sqlite3_busy_timeout(connection.handle, Self.maximumWaitMilliseconds)
        let code = sqlite3_wal_checkpoint_v2(connection.handle, "main", SQLITE_CHECKPOINT_RESTART, nil, nil)
        if code == SQLITE_BUSY { waitingLength.store(2 * length, ordering: .relaxed) }
    }
}
