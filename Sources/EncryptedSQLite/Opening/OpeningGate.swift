import Dispatch
import Guarded

/// Keeps the first reads of new connections to a path apart from the replacement of its file by this process.
///
/// SQLite opens the database file first, and at the first read the log and the index of the log by their names. A
/// connection that opens the old file before a replacement, and the new index after it, sees no lock on the index,
/// since the system does not show the locks of its own process. It takes itself for the only user of the index, and
/// truncates it. Connections of this process to the new file have that index mapped: their next access to it would end
/// the process.
final class OpeningGate: Sendable {
    private struct State {
        /// The number of first reads that are running.
        var openings = 0
        /// The number of replacements that have closed the gate, or wait to close it.
        var closers = 0
        var isClosed = false
        /// The threads that wait for a change of the state.
        var waiters: [DispatchSemaphore] = []

        /// Removes the waiters, to wake them.
        mutating func takeWaiters() -> [DispatchSemaphore] {
            defer { waiters = [] }
            return waiters
        }
    }

    private static let known = SharedObjects<String, OpeningGate>()

    private let path: String
    private let state = Guarded(State())

    /// The gate of a path, with symbolic links resolved. A caller retains the gate while it uses it.
    static func at(_ path: String) -> OpeningGate { known.object(for: path) { OpeningGate(path) } }

    private init(_ path: String) { self.path = path }

    deinit {
        Self.known.remove(ObjectIdentifier(self), key: path)
    }

    /// Runs the first read of a connection. Waits while a replacement has closed the gate, or waits to close it.
    func opening<R>(_ body: () throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        wait { state in
            guard state.closers == 0 else { return false }
            state.openings += 1
            return true
        }
        defer { change { $0.openings -= 1 } }
        return try body()
    }

    /// Closes the gate, until ``open()`` is called. Waits for the first reads that are running, and for replacements
    /// that have closed the gate.
    func close() {
        state.withLock { $0.closers += 1 }
        wait { state in
            guard state.openings == 0, !state.isClosed else { return false }
            state.isClosed = true
            return true
        }
    }

    /// Reverses ``close()``.
    func open() {
        change { state in
            state.isClosed = false
            state.closers -= 1
        }
    }

    /// Waits until `attempt`, which is called again after each change, returns true.
    private func wait(_ attempt: (inout State) -> Bool) {
        while true {
            let waiter = state.withLock { state -> DispatchSemaphore? in
                if attempt(&state) { return nil }
                let waiter = DispatchSemaphore(value: 0)
                state.waiters.append(waiter)
                return waiter
            }
            guard let waiter else { return }
            ExitGate.waiting { waiter.wait() }
        }
    }

    /// Changes the state, and wakes the threads that wait.
    private func change(_ body: (inout State) -> Void) {
        let waiters = state.withLock { state in
            body(&state)
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.signal() }
    }
}
