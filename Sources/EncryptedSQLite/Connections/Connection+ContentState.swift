extension Connection {
    /// A state of the content, as one connection sees it. While the state stays the same, the content stays the same.
    package struct ContentState: Hashable, Sendable {
        fileprivate let connection: ObjectIdentifier
        /// SQLite's number for the commits of other connections.
        fileprivate let otherCommits: Int64
        fileprivate let ownChanges: Int64
        fileprivate let schemaVersion: Int64
    }

    /// The state that the current transaction sees. It differs after each commit of another connection, and after each
    /// change that this connection has made itself.
    package func contentState() throws(DatabaseError) -> ContentState {
        ContentState(
            connection: ObjectIdentifier(self),
            otherCommits: try value(of: .dataVersion),
            ownChanges: try value(of: .changeCount),
            schemaVersion: try schemaVersion()
        )
    }
}

extension Database {
    /// Returns the last committed state, as a reader connection sees it, also inside `write`; nil for a database in
    /// memory.
    package func committedState() throws -> Connection.ContentState? {
        try readers?.withConnection { try $0.contentState() }
    }
}
