/// The state that a database had committed at one moment. It can be read for the lifetime of the snapshot, regardless
/// of later writes by other connections.
///
/// The snapshot has a separate connection with an open read transaction, which keeps the write-ahead log from being
/// reset. It does not keep the database open: after the database is closed, reading throws `closed`.
package final class DatabaseSnapshot: Sendable {
    private let database: Database
    let connections: ConnectionPool

    init(_ connection: Connection, of database: Database) {
        self.database = database
        connections = ConnectionPool(limit: 1) { () throws(DatabaseError) in throw .closed }
        connections.add(connection)
    }

    deinit {
        connections.stop()
    }

    /// Runs `body`, whose reads from the database on this thread return the state of the snapshot.
    ///
    /// Threads run one after the other.
    package func perform<R>(_ body: () throws -> R) throws -> R {
        try connections.withConnection { _ in try database.reading(from: connections, body) }
    }

    /// Lends the connection of the snapshot, also to a thread that is in a write transaction of the database.
    package func withConnection<R>(_ body: (Connection) throws -> R) throws -> R {
        try connections.withConnection(body)
    }
}

extension Connection {
    /// Begins a read transaction on the latest commit, which lasts until the connection is closed.
    func beginSnapshot() throws(DatabaseError) {
        try runControl(.begin)
        stateNumber &+= 1
        transactionDepth += 1
        try fixState()
    }
}
