import Guarded
import CSQLCipher
import Dispatch

/// Lends connections to threads: at most `limit` at a time, opened when first needed.
///
/// A thread that already has a connection of the pool gets the same one again, so that nested use cannot deadlock.
/// Callers beyond the limit wait and are served in the order in which they came: a connection that is given back goes
/// directly to the first of them. A thread that comes at that moment cannot take it, so each waiter is overtaken at most by
/// those that came before it.
///
/// A pool of readers lends connections inside a read transaction. It stays open when the connection is given back, for the
/// next borrower to go on with, but not for long, and not if the write-ahead log is long already: the log cannot begin anew
/// behind it.
final class ConnectionPool: Sendable {
    private struct State {
        var members: [PooledConnection] = []
        /// How many connections are being opened or closed outside the lock.
        var transitions = 0
        /// The threads that wait for a connection, in the order in which they came. While there are any, no connection is idle
        /// and there is no room for another one.
        var waiters: [Waiter] = []
        /// The threads that wait for the last connection of a closed pool.
        var closers: [Waiter] = []
        /// Opens a connection; nil once the pool is closed, so that the key in it is forgotten.
        var open: Opening?
        /// Whether transactions that nobody uses will be ended soon.
        var endsIdleTransactions = false

        var isClosed: Bool { open == nil }
        var isEmpty: Bool { members.isEmpty && transitions == 0 }
    }

    typealias Opening = @Sendable () throws(DatabaseError) -> Connection

    private let state: Guarded<State>
    private let limit: Int
    private let keepsTransactions: Bool
    /// How long a transaction that nobody uses stays open, at most twice of it.
    private static let idleMilliseconds = 20

    init(limit: Int, keepsTransactions: Bool = false, open: @escaping Opening) {
        precondition(limit > 0, "A pool holds at least one connection.")
        self.limit = limit
        self.keepsTransactions = keepsTransactions
        state = Guarded(State(open: open))
    }

    /// Lends a connection to the calling thread for the time of `body`.
    func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        try lend(try borrow(), to: body)
    }

    /// The same where there is a connection, or room for one; else `body` is not called.
    func withFreeConnection(_ body: (Connection) throws -> Void) throws {
        if let member = try borrowFree() { try lend(member, to: body) }
    }

    private func lend<R>(_ member: PooledConnection, to body: (Connection) throws -> R) throws -> R {
        defer { giveBack(member) }
        guard keepsTransactions, member.depth == 1 else { return try body(member.connection) }
        do {
            try member.connection.beginReading()
            let result = try body(member.connection)
            if !member.connection.mayKeepTransaction { member.connection.endReading() }
            return result
        } catch {
            member.connection.endReading()
            throw error
        }
    }

    /// Ends the transactions of connections that are not lent, so that they are in no writer's way.
    func endIdleTransactions() {
        state.withLock { state in
            for member in state.members where member.borrower == nil { member.connection.endReading() }
        }
    }

    /// Ends those that nobody has used since the last time.
    private func endUnusedTransactions() {
        let goesOn = state.withLock { state in
            var goesOn = false
            for member in state.members {
                if member.borrower == nil, !member.wasUsed { member.connection.endReading() }
                if member.borrower != nil || member.wasUsed { goesOn = true }
                member.wasUsed = false
            }
            state.endsIdleTransactions = goesOn
            return goesOn
        }
        if goesOn { endUnusedTransactionsSoon() }
    }

    /// Pools whose unused transactions are to be ended, all at once: a timer costs a thirtieth of opening a file. They are
    /// held until then, since references to an object that somebody refers to weakly cost several times as much; one that
    /// was closed meanwhile has nothing left.
    private static let poolsWithTransactions = Guarded<[ConnectionPool]>([])

    private func endUnusedTransactionsSoon() {
        let isFirst = Self.poolsWithTransactions.withLock { pools in
            pools.append(self)
            return pools.count == 1
        }
        guard isFirst else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Self.idleMilliseconds)) {
            let pools = Self.poolsWithTransactions.withLock { pools in
                defer { pools = [] }
                return pools
            }
            for pool in pools { pool.endUnusedTransactions() }
        }
    }

    /// Whether the calling thread has a connection of this pool.
    var isBorrowedByThisThread: Bool {
        let thread = csqlcipher_thread_identity()
        return state.withLock { $0.members.contains { $0.borrower == thread } }
    }

    /// How many threads wait for a connection.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Puts an open connection, which the caller has no further use for, into the pool.
    func add(_ connection: Connection) {
        let member = PooledConnection(connection)
        state.withLock { state in
            precondition(state.members.count + state.transitions < limit)
            state.members.append(member)
        }
    }

    /// Opens a connection beyond the limit, which the pool does not lend.
    func openFurther() throws(DatabaseError) -> Connection {
        guard let open = state.withLock({ $0.open }) else { throw .closed }
        return try open()
    }

    /// Closes every connection after waiting for those that are lent. Later calls of `withConnection` throw `closed`.
    ///
    /// The calling thread must not have a connection of the pool itself.
    func close() {
        precondition(!isBorrowedByThisThread, "A database cannot be closed from inside its own read or write.")
        let lastReturn = Waiter(thread: csqlcipher_thread_identity())
        let (idle, refused, isEmpty) = state.withLock { state in
            let idle = state.members.filter { $0.borrower == nil }
            state.members.removeAll { $0.borrower == nil }
            let refused = state.waiters
            state.waiters = []
            state.open = nil
            if !state.isEmpty { state.closers.append(lastReturn) }
            return (idle, refused, state.isEmpty)
        }
        for waiter in refused { waiter.wake(.refuse) }
        for member in idle { member.connection.close() }
        if !isEmpty { _ = lastReturn.wait() }
    }

    // MARK: Lending

    fileprivate enum Decision {
        case use(PooledConnection)
        case open(Opening)
        case wait(Waiter)
        case refuse
    }

    private func borrow() throws(DatabaseError) -> PooledConnection {
        let thread = csqlcipher_thread_identity()
        var decision = state.withLock { decide(for: thread, in: &$0) }
        if case .wait(let waiter) = decision { decision = waiter.wait() }
        switch decision {
        case .use(let member): return member
        case .open(let open): return try openMember(for: thread, open)
        case .wait, .refuse: throw .closed
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
        guard let open = state.open else { return .refuse }
        if let idle {
            idle.borrower = thread
            idle.depth = 1
            return .use(idle)
        }
        if state.members.count + state.transitions < limit {
            state.transitions += 1
            return .open(open)
        }
        guard mayWait else { return .refuse }
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

    private func giveBack(_ member: PooledConnection) {
        let (isEnded, isFirstIdle, next) = state.withLock { state -> (Bool, Bool, Waiter?) in
            member.depth -= 1
            guard member.depth == 0 else { return (false, false, nil) }
            if member.connection.isDamaged || state.isClosed {
                state.members.removeAll { $0 === member }
                state.transitions += 1
                return (true, false, nil)
            }
            var isFirstIdle = false
            if keepsTransactions {
                member.wasUsed = true
                isFirstIdle = !state.endsIdleTransactions
                state.endsIdleTransactions = true
            }
            guard !state.waiters.isEmpty else {
                member.borrower = nil
                return (false, isFirstIdle, nil)
            }
            let next = state.waiters.removeFirst()
            member.borrower = next.thread
            member.depth = 1
            return (false, isFirstIdle, next)
        }
        if isEnded {
            member.connection.close()
            endTransition()
        }
        next?.wake(.use(member))
        if isFirstIdle { endUnusedTransactionsSoon() }
    }

    /// Records that a connection has been closed, or could not be opened. The first waiter opens one in its place.
    private func endTransition() {
        let (next, open, closers) = state.withLock { state -> (Waiter?, Opening?, [Waiter]) in
            state.transitions -= 1
            guard let open = state.open else {
                guard state.isEmpty else { return (nil, nil, []) }
                defer { state.closers = [] }
                return (nil, nil, state.closers)
            }
            guard !state.waiters.isEmpty else { return (nil, nil, []) }
            state.transitions += 1
            return (state.waiters.removeFirst(), open, [])
        }
        if let next, let open { next.wake(.open(open)) }
        for closer in closers { closer.wake(.refuse) }
    }
}

/// A connection with the thread that has it.
///
/// `@unchecked Sendable`: a member that is in the pool has its variables written under the lock of the pool only; one that is
/// not in it yet is known to the thread alone that has opened it. `depth` rises above 1 and falls by calls of the borrower,
/// and another thread sets it only when it hands the connection to the borrower, before it wakes it: so the borrower may read
/// it without the lock. `connection` is used by the borrower, by the pool under its lock while there is no borrower, and by the
/// thread that has taken the member out of the pool to close it.
private final class PooledConnection: @unchecked Sendable {
    let connection: Connection
    var borrower: UInt?
    var depth = 0
    /// Whether it was lent since transactions that nobody uses were last ended.
    var wasUsed = false

    init(_ connection: Connection) {
        self.connection = connection
    }
}

/// A thread that waits for its turn.
private final class Waiter: Sendable {
    let thread: UInt
    private let decision = Guarded<ConnectionPool.Decision?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    init(thread: UInt) {
        self.thread = thread
    }

    /// Waits for the decision that another thread takes for this one.
    func wait() -> ConnectionPool.Decision {
        semaphore.wait()
        return decision.withLock { $0 } ?? .refuse
    }

    func wake(_ decision: ConnectionPool.Decision) {
        self.decision.withLock { $0 = decision }
        semaphore.signal()
    }
}
