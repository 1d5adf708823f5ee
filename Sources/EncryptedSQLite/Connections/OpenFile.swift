import Guarded

/// A file that one or several databases of this process have open.
///
/// The databases of one process with the same file block each other as those of several processes do, except that a
/// writer can end the idle read transactions of the others.
struct OpenFile: Sendable {
    let identity: FileIdentity

    /// The pools of readers of all open databases, by their files.
    private static let readers = Guarded<[FileIdentity: [ReaderPool]]>([:])

    /// Registers the readers of a database, until ``remove(_:)`` is called.
    func add(_ pool: ReaderPool) {
        Self.readers.withLock { $0[identity, default: []].append(pool) }
    }

    /// Removes the readers of a database that is being closed. It may be called several times.
    func remove(_ pool: ReaderPool) {
        Self.readers.withLock { readers in
            readers[identity]?.removeAll { $0 === pool }
            if readers[identity]?.isEmpty == true { readers[identity] = nil }
        }
    }

    /// Ends read transactions that no thread uses, so that the write-ahead log can be written back past them.
    func endIdleTransactions() {
        for pool in Self.readers.withLock({ $0[identity] }) ?? [] { pool.endIdleTransactions() }
    }

    /// Opens a connection to the file for a database that has it open already.
    ///
    /// Throws `moved` if the path does not lead to the file any more: two files must not be mixed in one database.
    func open(_ role: ConnectionOpener.Role, with opener: ConnectionOpener) throws(DatabaseError) -> Connection {
        try open(with: opener) { (opener) throws(DatabaseError) in try opener.open(role) }
    }

    /// Opens a connection to the file by a function, under the same conditions.
    func open(
        with opener: ConnectionOpener,
        _ connect: (ConnectionOpener) throws(DatabaseError) -> Connection
    ) throws(DatabaseError) -> Connection {
        do throws(DatabaseError) {
            return try openUnmoved(with: opener, connect)
        } catch {
            guard case .cannotOpen = error else { throw error }
            // A replacement makes the index of the log invalid before it renames the new file.
            let outcome = InterruptedSwap.repair(opener.files, opener.options)
            try require(opener.files)
            guard outcome == .repaired else { throw error }
            return try openUnmoved(with: opener, connect)
        }
    }

    private func openUnmoved(
        with opener: ConnectionOpener,
        _ connect: (ConnectionOpener) throws(DatabaseError) -> Connection
    ) throws(DatabaseError) -> Connection {
        try require(opener.files)
        do throws(DatabaseError) {
            let connection = try connect(opener)
            guard try connection.fileIdentity() == identity else {
                throw DatabaseError.moved(path: opener.files.namedPath)
            }
            return connection
        } catch {
            // Another file has another key or content, which explains any error.
            try require(opener.files)
            throw error
        }
    }

    private func require(_ files: DatabaseFiles) throws(DatabaseError) {
        guard FileIdentity(path: files.path) == identity else { throw .moved(path: files.namedPath) }
    }
}
