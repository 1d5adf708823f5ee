import Dispatch
import Guarded
import Synchronization

/// Lends connections inside a read transaction on the latest commit.
///
/// The transaction of a returned connection stays open, so that the next borrower can continue it: beginning and ending
/// a transaction costs more than finding a row. It ends after a short time without use, before this process writes, and
/// at once if the write-ahead log is long: the log cannot be reset past an open read transaction.
final class ReaderPool: Sendable {
    /// The pool that lends the connections.
    let connections: ConnectionPool
    /// Whether the end of unused transactions is scheduled.
    private let isSweepScheduled = Atomic<Bool>(false)

    /// The time after which an unused transaction is due to end. It ends after twice that time at most.
    private static let idleMilliseconds = 20

    /// Makes a pool that is stopped until its connections are opened.
    init(limit: Int) {
        connections = ConnectionPool(limit: limit)
    }

    /// Adds an open connection, which the caller must not use any more. Its read transaction, if one is open, stays
    /// open as if the connection had been returned.
    func add(_ connection: Connection) {
        let isReading = connection.keptTransaction != nil
        connections.add(connection)
        if isReading { scheduleSweep() }
    }

    /// Lends a connection to the calling thread while `body` runs. Nested calls of a thread share a connection and its
    /// transaction.
    func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        defer { scheduleSweep() }
        return try connections.withConnection { try $0.withReadTransaction(body) }
    }

    /// Lends a connection if one is idle or can be opened; does not call `body` otherwise.
    func withFreeConnection(_ body: (Connection) throws -> Void) throws {
        defer { scheduleSweep() }
        try connections.withFreeConnection { try $0.withReadTransaction(body) }
    }

    // MARK: Idle transactions

    /// Ends the transactions of idle connections, so that the write-ahead log can be written back and reset.
    func endIdleTransactions() {
        connections.forEachConnection { $0?.endReading() }
    }

    /// Ends the transactions that no thread has used since the last sweep.
    private func sweep() {
        guard (try? ExitGate.enter()) != nil else { return }
        defer { ExitGate.leave() }
        isSweepScheduled.store(false, ordering: .relaxed)
        var isAnyLeft = false
        connections.forEachConnection { idle in
            guard let idle else {
                isAnyLeft = true
                return
            }
            if idle.endReadingIfUnused() { isAnyLeft = true }
        }
        if isAnyLeft { scheduleSweep() }
    }

    /// The pools to sweep. One timer serves all pools, since a timer costs a thirtieth of opening a file. The array
    /// holds strong references, since an object with weak references takes several times as long to retain and release;
    /// a closed pool has no connections left.
    private static let poolsToSweep = Guarded<[ReaderPool]>([])

    private func scheduleSweep() {
        guard !isSweepScheduled.load(ordering: .relaxed), !isSweepScheduled.exchange(true, ordering: .relaxed) else {
            return
        }
        let isFirst = Self.poolsToSweep.withLock { pools in
            pools.append(self)
            return pools.count == 1
        }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.idleMilliseconds)) {
            let pools = Self.poolsToSweep.withLock { pools in
                defer { pools = [] }
                return pools
            }
            for pool in pools { pool.sweep() }
        }
    }
}
