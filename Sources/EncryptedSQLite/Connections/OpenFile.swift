import Guarded
import Synchronization

/// A file that one or several databases of this process have open.
///
/// Databases of one process with the same file block each other as databases of several processes do, except that a
/// writer can end the idle read transactions of the other databases.
struct OpenFile: Sendable {
    private let shared: SharedFile
    var identity: FileIdentity { shared.identity }

    init(_ files: DatabaseFiles, _ identity: FileIdentity) { shared = SharedFile.at(files, identity) }

    /// Whether the log may be written back into the file. If a file was moved, another process may write the same log
    /// back with another index.
    var mayWriteLogBack: Bool { !shared.isDamaged && shared.movedFile == nil }

    /// See ``SharedFile``.
    var findingCount: Int { shared.findingCount }

    func noteVerifiedPages(after findings: Int) { shared.noteVerifiedPages(after: findings) }

    /// The parts of an open database that other databases with the same file use.
    private struct User {
        let readers: ReaderPool
        let commitWatcher: CommitWatcher
        let writing: WritingThread
    }

    /// The open databases, by their files.
    private static let users = Guarded<[FileIdentity: [User]]>([:])
    /// The number of databases that are open in addition to the first one of their file.
    private static let peerCount = Atomic<Int>(0)

    /// Registers a database, until ``remove(_:)`` is called.
    func add(_ readers: ReaderPool, _ commitWatcher: CommitWatcher, _ writing: WritingThread) {
        Self.users.withLock { users in
            let present = users[identity] ?? []
            let user = User(readers: readers, commitWatcher: commitWatcher, writing: writing)
            users[identity] = present + [user]
            if !present.isEmpty { Self.peerCount.wrappingAdd(1, ordering: .relaxed) }
        }
    }

    /// Removes a database that is being closed, by its readers. It may be called several times.
    func remove(_ readers: ReaderPool) {
        Self.users.withLock { users in
            guard let present = users[identity], present.contains(where: { $0.readers === readers }) else { return }
            let rest = present.filter { $0.readers !== readers }
            users[identity] = rest.isEmpty ? nil : rest
            if !rest.isEmpty { Self.peerCount.wrappingSubtract(1, ordering: .relaxed) }
        }
    }

    /// Ends read transactions that no thread uses, so that the write-ahead log can be written back past them.
    func endIdleTransactions() {
        for user in Self.users.withLock({ $0[identity] }) ?? [] { user.readers.endIdleTransactions() }
    }

    /// Whether the calling thread is inside a write transaction of a database with the file, other than the owner of
    /// `own`.
    func isWrittenByThisThread(exceptThrough own: WritingThread) -> Bool {
        Self.users.withLock { ($0[identity] ?? []).contains { $0.writing !== own && $0.writing.isCurrent } }
    }

    /// Whether a file is open in a database of this process.
    static func isInUse(_ identity: FileIdentity) -> Bool { users.withLock { $0[identity] != nil } }

    /// Whether any file is open in several databases of this process.
    static var hasPeers: Bool { peerCount.load(ordering: .relaxed) > 0 }

    /// Reports a commit to the other databases with the file.
    func reportCommit(of writer: CommitWatcher) {
        for user in Self.users.withLock({ $0[identity] }) ?? [] where user.commitWatcher !== writer {
            user.commitWatcher.noteCommitOfPeer()
        }
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
            try requireUnmovedFile()
            guard outcome == .repaired else { throw error }
            return try openUnmoved(with: opener, connect)
        }
    }

    private func openUnmoved(
        with opener: ConnectionOpener,
        _ connect: (ConnectionOpener) throws(DatabaseError) -> Connection
    ) throws(DatabaseError) -> Connection {
        do throws(DatabaseError) {
            var opener = opener
            opener.sharedFile = shared
            let connection = try OpeningGate.at(opener.files.path).opening { () throws(DatabaseError) in
                try requireUnmovedFile()
                return try connect(opener)
            }
            guard try connection.fileIdentity() == identity else {
                throw DatabaseError.moved(path: opener.files.namedPath)
            }
            try connection.join(shared, mayWrite: !opener.options.readOnly)
            return connection
        } catch {
            // Another file at the path has another key or content, which explains any error.
            try requireUnmovedFile()
            if case .damaged = error { shared.noteDamage() }
            throw error
        }
    }

    /// Throws `moved` if a name no longer leads to the open file. Called before a connection is opened, too: SQLite
    /// would make a new log, and read it by the index of the old log.
    private func requireUnmovedFile() throws(DatabaseError) {
        if let moved = shared.movedFile { throw .moved(path: moved) }
    }
}
