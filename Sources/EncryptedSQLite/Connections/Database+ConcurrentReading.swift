import Dispatch
import Guarded

extension Database {
    /// Calls `body` on several threads at once, each with a connection and the number of a part, 0 on the calling
    /// thread. All connections see the same state: the latest commit of any process.
    ///
    /// SQLite cannot make two connections read the same state, so the head of the log's index is compared instead: if
    /// no process commits between the begin of the first transaction and the begin of the last one, all of them see the
    /// same.
    ///
    /// - Returns: the results of `body` by part; nil if `body` was not called, because the thread already reads or
    ///   writes, no connections or threads are free, or other connections commit all the time.
    package func readConcurrently<R: Sendable>(
        parts: Int,
        _ body: @escaping @Sendable (Connection, Int) throws -> R
    ) throws -> [R]? {
        guard parts > 1, canReadConcurrently, let readers else { return nil }
        return try readers.withConnection { connection in
            for _ in 0..<Self.maximumAttempts {
                // Begins a new transaction if another connection has committed since the last attempt.
                try connection.beginReading()
                try connection.fixState()
                let helpers = (1..<parts).map { ReadingHelper(part: $0, body) }
                for helper in helpers { helper.start(with: readers) }
                let areReady = helpers.reduce(true) { $1.waitUntilReady() && $0 }
                let isShared = areReady && connection.seesLastCommit
                for helper in helpers { helper.proceed(isShared) }
                guard isShared else {
                    for helper in helpers { _ = try? helper.result() }
                    if areReady { continue }
                    return nil
                }
                let own = Result { try body(connection, 0) }
                let others = helpers.map { helper in Result { try helper.result() } }
                return try [own.get()] + others.compactMap { try $0.get() }
            }
            return nil
        }
    }

    private static let maximumAttempts = 3
}

/// A thread that reads one part.
private final class ReadingHelper<R: Sendable>: Sendable {
    private enum Phase {
        case pending, running, cancelled
    }

    private struct State {
        var phase = Phase.pending
        /// Whether the thread is inside a read transaction.
        var isReady = false
        /// Whether the transactions of all threads see the same state.
        var isShared = false
        var outcome: Result<R, any Error>?
    }

    /// The time that a thread may take to begin. If all threads are busy, it is faster to read without them.
    private static var startTimeout: DispatchTimeInterval { .milliseconds(5) }

    private let part: Int
    private let body: @Sendable (Connection, Int) throws -> R
    private let state = Guarded(State())
    private let readiness = DispatchSemaphore(value: 0)
    private let decision = DispatchSemaphore(value: 0)
    private let completion = DispatchSemaphore(value: 0)

    init(part: Int, _ body: @escaping @Sendable (Connection, Int) throws -> R) {
        self.part = part
        self.body = body
    }

    func start(with readers: ReaderPool) {
        DispatchQueue.global(qos: .userInitiated).async { self.run(readers) }
    }

    private func run(_ readers: ReaderPool) {
        guard change(to: .running) else { return }
        // Without a connection, or with a broken one, the other threads read alone.
        try? readers.withFreeConnection(read)
        let wasReady = state.withLock { $0.isReady }
        if !wasReady { readiness.signal() }
        completion.signal()
    }

    private func read(_ connection: Connection) throws {
        try connection.fixState()
        state.withLock { $0.isReady = true }
        readiness.signal()
        ExitGate.waiting { decision.wait() }
        guard state.withLock({ $0.isShared }) else { return }
        let outcome = Result { try body(connection, part) }
        state.withLock { $0.outcome = outcome }
    }

    /// Changes the phase if the thread is pending. Returns whether it was.
    private func change(to new: Phase) -> Bool {
        state.withLock { state in
            guard state.phase == .pending else { return false }
            state.phase = new
            return true
        }
    }

    /// Waits until the thread is inside a read transaction. Returns false if it has none, or does not begin in time.
    func waitUntilReady() -> Bool {
        if readiness.wait(timeout: .now() + Self.startTimeout) == .timedOut {
            if change(to: .cancelled) { return false }
            ExitGate.waiting { readiness.wait() }
        }
        return state.withLock { $0.isReady }
    }

    /// Lets the thread read if all transactions see the same state, and end otherwise.
    func proceed(_ isShared: Bool) {
        state.withLock { $0.isShared = isShared }
        decision.signal()
    }

    /// Waits for the end of the thread, and returns the result of `body`; nil if `body` was not called.
    func result() throws -> R? {
        if state.withLock({ $0.phase }) == .cancelled { return nil }
        ExitGate.waiting { completion.wait() }
        return try state.withLock { $0.outcome }?.get()
    }
}
