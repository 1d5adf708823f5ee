import CSQLCipher
import Dispatch
import Synchronization

/// Writes the log back into the file on a connection and a thread of its own, so that no commit waits for it. SQLite itself
/// would do it in the commit that makes the log long, which is half of what a large one costs.
final class Checkpointer: Sendable {
    /// The number of pages in the log from which on they are written back: that of SQLite.
    static let threshold = 1000
    /// The number from which on the commit itself writes them back: commits are faster than the checkpointer.
    private static let urgentThreshold = 16_000

    private let connections: ConnectionPool
    /// Ends what keeps the log from being written back and can be ended.
    private let prepare: @Sendable () -> Void
    private let isScheduled = Atomic<Bool>(false)

    init(connections: ConnectionPool, prepare: @escaping @Sendable () -> Void) {
        self.connections = connections
        self.prepare = prepare
    }

    /// Takes care of the log that a writer's commits fill. The connection must not outlive the checkpointer.
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
        if pages >= Self.urgentThreshold {
            guard !Connection.hasMovedFile(handle) else { return SQLITE_OK }
            prepare()
            // As SQLite does it; where it cannot be done now, a later commit does it.
            sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        } else if pages >= Self.threshold, !isScheduled.exchange(true, ordering: .relaxed) {
            DispatchQueue.global(qos: .utility).async { [weak self] in self?.run() }
        }
        return SQLITE_OK
    }

    private func run() {
        isScheduled.store(false, ordering: .relaxed)
        prepare()
        // Whatever goes wrong leaves the log as it is, for the next time.
        try? connections.withConnection { connection in
            // Under its new name another process may write the same log back, with an index of its own.
            try connection.requireUnmovedFile()
            _ = sqlite3_wal_checkpoint_v2(connection.handle, "main", SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        }
    }

    /// Waits for a checkpoint that is being made, and makes no further one.
    func close() { connections.close() }
}
