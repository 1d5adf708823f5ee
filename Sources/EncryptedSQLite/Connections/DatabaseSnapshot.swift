/// What a database had committed at one moment, to be read for as long as the snapshot lives, whatever is written
/// meanwhile.
///
/// It keeps a connection of its own with an open read transaction, which keeps the write-ahead log from being reset. It
/// does not keep the database open: once that is closed, reading throws `closed`.
package final class DatabaseSnapshot: Sendable {
    private let database: Database
    let connections: ConnectionPool

    init(_ connection: Connection, of database: Database) {
        self.database = database
        connections = ConnectionPool(limit: 1) { () throws(DatabaseError) in throw .closed }
        connections.add(connection)
    }

    deinit {
        connections.close()
    }

    /// Runs `body`; what it reads from the database on this thread it reads from the snapshot.
    ///
    /// Threads take turns.
    package func perform<R>(_ body: () throws -> R) throws -> R {
        try connections.withConnection { _ in try database.reading(from: connections, body) }
    }
}

extension Connection {
    /// Begins a read transaction that lasts as long as the connection, with the state that is committed now.
    func beginSnapshot() throws(DatabaseError) {
        try runControl("BEGIN")
        stateNumber &+= 1
        transactionDepth += 1
        try fixState()
    }
}
