import Guarded
import CSQLCipher
import Dispatch

/// Lends connections to threads: at most `limit` at a time, opened when first needed.
///
/// A thread that already has a connection of the pool gets the same one again, so that nested use cannot deadlock.
/// Callers beyond the limit wait and are served in the order of their calls: a returned connection goes directly to the
/// first waiter. A thread that asks at that moment cannot take it, so a waiter is overtaken only by earlier waiters.
///
/// A pool can be paused, in which case callers wait, or stopped, in which case they receive an error. Both close all
/// connections. A thread that already has a connection keeps it and can borrow it again until it returns it.
final class ConnectionPool: Sendable {
    private struct State {
        var members: [PooledConnection] = []
        /// How many connections are being opened or closed outside the lock.
        var transitions = 0
        /// The threads that wait for a connection, in the order of their calls. While any thread waits, no connection
        /// is idle and the pool has no room for a further connection.
        var waiters: [Waiter] = []
        /// The threads that wait for the last connection of a paused or stopped pool.
        var closers: [Waiter] = []
        var phase: Phase
        /// Opens a connection. Nil once the pool is stopped, which releases the key that the closure holds.
        var open: Opening?

        var isServing: Bool { if case .serving = phase { true } else { false } }
        var isEmpty: Bool { members.isEmpty && transitions == 0 }

        mutating func removeIdleMembers() -> [PooledConnection] {
            let idle = members.filter { $0.borrower == nil }
            members.removeAll { $0.borrower == nil }
            return idle
        }

        /// A waiter that the return of the last connection wakes; nil if no connection is lent.
        mutating func waiterForLastReturn() -> Waiter? {
            if isEmpty { return nil }
            let waiter = Waiter(thread: csqlcipher_thread_identity())
            closers.append(waiter)
            return waiter
        }
    }

    private enum Phase {
        case serving, paused
        /// Callers receive the error.
        case stopped(DatabaseError)
    }

    typealias Opening = @Sendable () throws(DatabaseError) -> Connection

    private let state: Guarded<State>
    private let limit: Int

    init(limit: Int, open: @escaping Opening) {
        precondition(limit > 0, "A pool holds at least one connection.")
        self.limit = limit
        state = Guarded(State(phase: .serving, open: open))
    }

    /// Makes a stopped pool.
    init(limit: Int) {
        precondition(limit > 0, "A pool holds at least one connection.")
        self.limit = limit
        state = Guarded(State(phase: .stopped(.closed), open: nil))
    }

    /// Lends a connection to the calling thread while `body` runs.
    func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        return try lend(try borrow(), to: body)
    }

    /// Lends a connection if one is idle or can be opened; does not call `body` otherwise.
    func withFreeConnection(_ body: (Connection) throws -> Void) throws {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        if let member = try borrowFree() { try lend(member, to: body) }
    }

    private func lend<R>(_ member: PooledConnection, to body: (Connection) throws -> R) throws -> R {
        defer { release(member) }
        return try body(member.connection)
    }

    /// Calls `body` with each open connection, or nil for a connection that is lent, under the lock of the pool.
    ///
    /// `body` must not use the pool.
    func forEachConnection(_ body: (_ idle: Connection?) -> Void) {
        state.withLock { state in
            for member in state.members { body(member.borrower == nil ? member.connection : nil) }
        }
    }

    /// Whether the calling thread holds a connection of this pool.
    var isBorrowedByThisThread: Bool {
        let thread = csqlcipher_thread_identity()
        return state.withLock { $0.members.contains { $0.borrower == thread } }
    }

    /// The number of threads that wait for a connection.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Adds an open connection, which the caller must not use any more.
    func add(_ connection: Connection) {
        let member = PooledConnection(connection)
        state.withLock { state in
            precondition(state.members.count + state.transitions < limit)
            state.members.append(member)
        }
    }

    /// Opens a connection that does not belong to the pool and does not count towards its limit, and calls `body` with
    /// it.
    ///
    /// ``stop(_:)`` waits until `body` has returned. A paused pool opens the connection when it is resumed.
    func openFurther<R>(_ body: (Connection) throws(DatabaseError) -> R) throws(DatabaseError) -> R {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let thread = csqlcipher_thread_identity()
        while true {
            let open = try state.withLock { state throws(DatabaseError) -> Opening? in
                if case .stopped(let error) = state.phase { throw error }
                guard let open = state.open else { throw .closed }
                // The pause has not begun while the thread holds a connection of the pool.
                guard state.isServing || state.members.contains(where: { $0.borrower == thread }) else { return nil }
                state.transitions += 1
                return open
            }
            guard let open else {
                // A borrower waits until the pool is resumed.
                release(try borrow())
                continue
            }
            defer { endTransition() }
            return try body(try open())
        }
    }

    // MARK: Pausing and stopping

    /// Closes every connection, waiting for lent ones. Later calls of `withConnection` throw an error.
    ///
    /// The calling thread must not hold a connection of the pool.
    func stop(_ error: DatabaseError = .closed) {
        // The lent connections may never be returned.
        guard !ExitGate.isClosed else { return }
        precondition(!isBorrowedByThisThread, "A database cannot be closed from inside its own read or write.")
        let (idle, refused, lastReturn) = state.withLock { state in
            let refused = state.waiters
            state.waiters = []
            state.phase = .stopped(error)
            state.open = nil
            let idle = state.removeIdleMembers()
            return (idle, refused, state.waiterForLastReturn())
        }
        for waiter in refused { waiter.wake(.refuse(error)) }
        for member in idle { member.connection.close() }
        _ = lastReturn?.wait()
    }

    /// Closes every connection, waiting for lent ones. Later calls of `withConnection` wait for ``resume(with:)``.
    ///
    /// The calling thread must not hold a connection of the pool. Throws `busy`, and resumes the pool, if a connection
    /// is not returned in time.
    func pause(timeoutMilliseconds: Int) throws(DatabaseError) {
        precondition(!isBorrowedByThisThread, "The file of a database cannot be replaced inside its own read or write.")
        let (idle, lastReturn) = state.withLock { state in
            if case .serving = state.phase { state.phase = .paused }
            return (state.removeIdleMembers(), state.waiterForLastReturn())
        }
        for member in idle { member.connection.close() }
        guard let lastReturn, !lastReturn.wait(milliseconds: timeoutMilliseconds) else { return }
        let hasEnded = state.withLock { state in
            state.closers.removeAll { $0 === lastReturn }
            return state.isEmpty
        }
        guard !hasEnded else { return }
        resume()
        throw .busy
    }

    /// Lends connections again.
    ///
    /// - Parameter open: Opens the connections; nil, for a paused pool, if it is the same closure as before.
    func resume(with open: Opening? = nil) {
        let woken = state.withLock { state -> [(Waiter, Opening)] in
            if let open { state.open = open }
            guard let open = state.open else { return [] }
            state.phase = .serving
            var woken: [(Waiter, Opening)] = []
            while !state.waiters.isEmpty, state.members.count + state.transitions < limit {
                state.transitions += 1
                woken.append((state.waiters.removeFirst(), open))
            }
            return woken
        }
        for (waiter, open) in woken { waiter.wake(.open(open)) }
    }

    // MARK: Lending

    fileprivate enum Decision {
        case use(PooledConnection)
        case open(Opening)
        case wait(Waiter)
        case refuse(DatabaseError)
    }

    private func borrow() throws(DatabaseError) -> PooledConnection {
        let thread = csqlcipher_thread_identity()
        var decision = state.withLock { decide(for: thread, in: &$0) }
        if case .wait(let waiter) = decision { decision = waiter.wait() }
        switch decision {
        case .use(let member): return member
        case .open(let open): return try openMember(for: thread, open)
        case .refuse(let error): throw error
        case .wait: throw .closed
        }
    }

    private func borrowFree() throws(DatabaseError) -> PooledConnection? {
        let thread = csqlcipher_thread_identity()
        switch state.withLock({ decide(for: thread, in: &$0, mayWait: false) }) {
        case .use(let member): return member
        case .open(let open): return try openMember(for: thread, open)
        case .wait, .refuse: return nil
        }
    }

    private func decide(for thread: UInt, in state: inout State, mayWait: Bool = true) -> Decision {
        var idle: PooledConnection?
        for member in state.members {
            if member.borrower == thread {
                member.depth += 1
                return .use(member)
            }
            if member.borrower == nil { idle = member }
        }
        if case .stopped(let error) = state.phase { return .refuse(error) }
        if let idle {
            idle.borrower = thread
            idle.depth = 1
            return .use(idle)
        }
        if state.isServing, state.members.count + state.transitions < limit, let open = state.open {
            state.transitions += 1
            return .open(open)
        }
        guard mayWait else { return .refuse(.busy) }
        let waiter = Waiter(thread: thread)
        state.waiters.append(waiter)
        return .wait(waiter)
    }

    private func openMember(for thread: UInt, _ open: Opening) throws(DatabaseError) -> PooledConnection {
        let member: PooledConnection
        do {
            member = PooledConnection(try open())
        } catch {
            endTransition()
            throw error
        }
        member.borrower = thread
        member.depth = 1
        state.withLock { state in
            state.transitions -= 1
            state.members.append(member)
        }
        return member
    }

    private func release(_ member: PooledConnection) {
        let (isEnded, next) = state.withLock { state -> (Bool, Waiter?) in
            member.depth -= 1
            guard member.depth == 0 else { return (false, nil) }
            if member.connection.defect != nil || !state.isServing {
                state.members.removeAll { $0 === member }
                state.transitions += 1
                return (true, nil)
            }
            guard !state.waiters.isEmpty else {
                member.borrower = nil
                return (false, nil)
            }
            let next = state.waiters.removeFirst()
            member.borrower = next.thread
            member.depth = 1
            return (false, next)
        }
        if isEnded {
            member.connection.close()
            endTransition()
        }
        next?.wake(.use(member))
    }

    /// Records that a connection was closed or could not be opened. The first waiter opens a connection in its place.
    private func endTransition() {
        let (next, open, closers) = state.withLock { state -> (Waiter?, Opening?, [Waiter]) in
            state.transitions -= 1
            guard state.isServing, let open = state.open else {
                guard state.isEmpty else { return (nil, nil, []) }
                defer { state.closers = [] }
                return (nil, nil, state.closers)
            }
            guard !state.waiters.isEmpty, state.members.count + state.transitions < limit else { return (nil, nil, []) }
            state.transitions += 1
            return (state.waiters.removeFirst(), open, [])
        }
        if let next, let open { next.wake(.open(open)) }
        for closer in closers { closer.wake(.refuse(.closed)) }
    }
}

/// A connection and the thread that holds it.
///
/// `@unchecked Sendable`: the variables of a member of the pool are read and written under the lock of the pool only;
/// before the member joins the pool, only the thread that opened the connection has a reference to it. `connection` is
/// a constant. One thread at a time uses the connection: the borrower; without a borrower, a thread that holds the lock
/// of the pool; after the member has left the pool, the thread that removed it, which closes the connection.
private final class PooledConnection: @unchecked Sendable {
    let connection: Connection
    var borrower: UInt?
    var depth = 0

    init(_ connection: Connection) {
        self.connection = connection
    }
}

/// A thread that waits for a connection or for the end of a pool.
private final class Waiter: Sendable {
    let thread: UInt
    private let decision = Guarded<ConnectionPool.Decision?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(thread: UInt) {
        self.thread = thread
    }

    /// Waits until another thread calls ``wake(_:)``, and returns its decision.
    func wait() -> ConnectionPool.Decision {
        ExitGate.waiting { semaphore.wait() }
        return decision.withLock { $0 } ?? .refuse(.closed)
    }

    /// Waits until another thread calls ``wake(_:)``, and returns false if none does in time.
    func wait(milliseconds: Int) -> Bool {
        ExitGate.waiting { semaphore.wait(timeout: .now() + .milliseconds(milliseconds)) == .success }
    }

    func wake(_ decision: ConnectionPool.Decision) {
        self.decision.withLock { $0 = decision }
        semaphore.signal()
    }
}
