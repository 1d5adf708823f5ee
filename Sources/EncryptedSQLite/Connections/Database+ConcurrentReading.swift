import Dispatch
import Guarded

extension Database {
    /// Calls `body` on several threads at once, each with a connection and the number of a part, 0 on the calling thread. All
    /// connections see one and the same state, the one that is committed now, by whatever process.
    ///
    /// SQLite has no means to have two connections read the same state, but to compare what was committed: where nothing
    /// was from before the first transaction began until after the last one did, all of them see the same.
    ///
    /// - Returns: what `body` returned for each part; nil where it was not called, since the thread already reads or writes,
    ///   no connections or threads are free, or somebody commits all the time.
    package func readConcurrently<R: Sendable>(
        parts: Int,
        _ body: @escaping @Sendable (Connection, Int) throws -> R
    ) throws -> [R]? {
        guard parts > 1, canReadConcurrently else { return nil }
        return try readers.withConnection { connection in
            for _ in 0..<Self.mostAttempts {
                // Another one than before, if something was committed since.
                try connection.beginReading()
                try connection.fixState()
                let helpers = (1..<parts).map { ReadingHelper(part: $0, body) }
                for helper in helpers { helper.start(with: readers) }
                let areReady = helpers.reduce(true) { $1.waitUntilReady() && $0 }
                let isShared = areReady && connection.seesLastCommit
                for helper in helpers { helper.goOn(isShared) }
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

    private static let mostAttempts = 3
}

/// A thread that reads a part.
private final class ReadingHelper<R: Sendable>: Sendable {
    private enum Phase {
        case pending, running, cancelled
    }

    private struct State {
        var phase = Phase.pending
        /// Whether the thread has a state to read.
        var isReady = false
        /// Whether that is everybody's.
        var isShared = false
        var outcome: Result<R, any Error>?
    }

    /// How long a thread may take to begin; where all are busy it is faster to do without.
    private static var patience: DispatchTimeInterval { .milliseconds(5) }

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

    func start(with readers: ConnectionPool) {
        DispatchQueue.global(qos: .userInitiated).async { self.run(readers) }
    }

    private func run(_ readers: ConnectionPool) {
        guard change(to: .running) else { return }
        // Without a connection, or with a broken one, the others read alone.
        try? readers.withFreeConnection(read)
        let wasReady = state.withLock { $0.isReady }
        if !wasReady { readiness.signal() }
        completion.signal()
    }

    private func read(_ connection: Connection) throws {
        try connection.fixState()
        state.withLock { $0.isReady = true }
        readiness.signal()
        decision.wait()
        guard state.withLock({ $0.isShared }) else { return }
        let outcome = Result { try body(connection, part) }
        state.withLock { $0.outcome = outcome }
    }

    /// Begins or cancels, whichever comes first.
    private func change(to new: Phase) -> Bool {
        state.withLock { state in
            guard state.phase == .pending else { return false }
            state.phase = new
            return true
        }
    }

    /// Waits until the thread has a state to read. Returns false where it has none, or does not begin.
    func waitUntilReady() -> Bool {
        if readiness.wait(timeout: .now() + Self.patience) == .timedOut {
            if change(to: .cancelled) { return false }
            readiness.wait()
        }
        return state.withLock { $0.isReady }
    }

    /// Tells the thread whether its state is everybody's, so that it is to read.
    func goOn(_ isShared: Bool) {
        state.withLock { $0.isShared = isShared }
        decision.signal()
    }

    /// Waits for the end, and returns what was read; nil where nothing was.
    func result() throws -> R? {
        if state.withLock({ $0.phase }) == .cancelled { return nil }
        completion.wait()
        return try state.withLock { $0.outcome }?.get()
    }
}
