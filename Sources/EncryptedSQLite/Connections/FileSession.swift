import Guarded

/// An open file of a database with its key.
final class FileSession: Sendable {
    let file: OpenFile
    let opener: ConnectionOpener
    /// The key as the program gave it. The key of the file is derived from it and the salt.
    let key: RetainedKey

    init(file: OpenFile, opener: ConnectionOpener, key: RetainedKey) {
        self.file = file
        self.opener = opener
        self.key = key
    }

    /// Derives the key of a new file that has the layout of this one: with a fresh salt, unless the program has named the
    /// salt.
    func deriveKeyOfNewFile() throws(DatabaseError) -> DerivedKey {
        guard opener.key.layout == .salt else { return opener.key }
        return try DerivedKey(forNewFile: key.key.withoutPlaintextHeader, counters: opener.counters)
    }

    /// Opens a connection to the file.
    func open(_ role: ConnectionOpener.Role) throws(DatabaseError) -> Connection {
        try file.open(role, with: opener)
    }
}

extension Database {
    /// Whether a database has connections.
    enum Phase {
        case open, suspended, locked, closed

        /// The error that every use throws; nil if the database is open.
        var error: DatabaseError? {
            switch self {
            case .open: nil
            case .suspended: .suspended
            case .locked: .locked
            case .closed: .closed
            }
        }
    }

    /// Makes the pools open connections to a file.
    ///
    /// - Parameter connection: A reader connection that is open already.
    func start(_ session: FileSession, with connection: Connection? = nil) {
        self.session.withLock { $0 = session }
        guard let readers else { return }
        session.file.add(readers, commitWatcher, writing)
        if let connection { readers.add(connection) }
        readers.connections.resume { () throws(DatabaseError) in try session.open(.reader) }
        guard let checkpointer else {
            writers.resume { () throws(DatabaseError) in throw .readOnly }
            versionReaders?.resume { () throws(DatabaseError) in try session.open(.reader) }
            commitWatcher.start(session.opener.files, session.file.identity)
            return
        }
        checkpointer.connections.resume { () throws(DatabaseError) in try session.open(.writer) }
        writers.resume { () throws(DatabaseError) in
            let connection = try session.open(.writer)
            checkpointer.watch(connection)
            return connection
        }
        commitWatcher.start(session.opener.files, session.file.identity)
    }
}
