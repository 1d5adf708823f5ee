import CSQLCipher
import Foundation

/// Exclusive locks on the write-ahead log of a database and on its file, against all connections of all processes.
///
/// The locks of the log lie in the shared memory ("WAL-mode file format", section 2.3 of the SQLite documentation): one
/// for writing, one for checkpoints, one for recovery, and five for readers. SQLite takes them for single transactions.
/// Here they are taken through the file of a connection that runs no statement while they are held.
final class LogLocks {
    /// The connection whose file holds the locks. It can run checkpoints while only the lock for writing is held.
    let connection: Connection
    private let file: UnsafeMutablePointer<sqlite3_file>
    private let closesConnection: Bool
    /// The locks of the log that are held.
    private var held: Range<Int32> = 0..<0
    private var isNameLocked = false

    private static let pauseMicroseconds: UInt32 = 500
    private static let writing = Int32(CSQLCIPHER_WRITE_LOCK)
    private static let count = Int32(CSQLCIPHER_LOCK_COUNT)

    /// Takes over a connection, which is closed with the locks.
    init(_ connection: Connection) throws(DatabaseError) {
        self.connection = connection
        file = try Self.file(of: connection)
        closesConnection = true
    }

    /// Uses a connection of the caller.
    init(borrowing connection: Connection) throws(DatabaseError) {
        self.connection = connection
        file = try Self.file(of: connection)
        closesConnection = false
    }

    private static func file(of connection: Connection) throws(DatabaseError) -> UnsafeMutablePointer<sqlite3_file> {
        guard connection.hasLog, !connection.isInTransaction, let file = csqlcipher_main_file(connection.handle) else {
            throw .cannotOpen(path: connection.path, reason: "it has no write-ahead log")
        }
        return file
    }

    deinit {
        release()
        if closesConnection { connection.close() }
    }

    /// Keeps all connections from writing. Throws `busy` if another connection writes for longer than the timeout.
    func lockWriting(timeoutMilliseconds: Int) throws(DatabaseError) {
        try wait(timeoutMilliseconds) { csqlcipher_lock_log(file, Self.writing, 1) }
        held = Self.writing..<Self.writing + 1
    }

    /// Keeps all connections from reading, checkpoints and recovery, too, once all of the log is written back into the
    /// file. The lock for writing must be held.
    ///
    /// - Parameters:
    ///   - gate: The gate of the path, which is closed when the function returns, and open when it throws. It is closed
    ///     before the locks are taken, since a connection that is being opened waits for them.
    ///   - endIdleTransactions: Ends read transactions that no thread of this process uses.
    /// - Throws: `busy` if another connection reads for longer than the timeout.
    func lockReading(
        timeoutMilliseconds: Int,
        _ gate: OpeningGate,
        endIdleTransactions: () -> Void
    ) throws(DatabaseError) {
        precondition(held.lowerBound == Self.writing && held.count == 1, "The lock for writing comes first.")
        try wait(timeoutMilliseconds) { () throws(DatabaseError) in
            endIdleTransactions()
            try connection.requireUnmovedFile()
            guard try writeLogBack() else { return SQLITE_BUSY }
            gate.close()
            let code = csqlcipher_lock_log(file, Self.writing + 1, Self.count - 1)
            if code != SQLITE_OK { gate.open() }
            return code
        }
        held = Self.writing..<Self.count
    }

    /// Keeps connections from being opened: SQLite's RESERVED lock, then its PENDING lock, which lets existing shared
    /// locks remain and refuses new ones.
    func lockOpening(timeoutMilliseconds: Int) throws(DatabaseError) {
        try wait(timeoutMilliseconds) { csqlcipher_lock_file(file, SQLITE_LOCK_RESERVED) }
        isNameLocked = true
        // Other connections have shared locks, so that the exclusive lock is refused; the PENDING lock stays.
        try wait(timeoutMilliseconds) {
            let code = csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE)
            guard code & 0xff == SQLITE_BUSY else { return code }
            // The PENDING lock is refused, too, while another process holds it for a moment to get its shared lock.
            var state: Int32 = 0
            let isKnown = sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_LOCKSTATE, &state) == SQLITE_OK
            return isKnown && state >= SQLITE_LOCK_PENDING ? SQLITE_OK : SQLITE_BUSY
        }
    }

    /// Releases all locks.
    func release() {
        if isNameLocked { _ = csqlcipher_lower_file_lock(file) }
        isNameLocked = false
        if !held.isEmpty { _ = csqlcipher_unlock_log(file, held.lowerBound, Int32(held.count)) }
        held = 0..<0
    }

    /// Writes the log back into the file. Returns false if a reader of an older state prevents that.
    private func writeLogBack() throws(DatabaseError) -> Bool {
        var frameCount: Int32 = 0
        var writtenBack: Int32 = 0
        let code = sqlite3_wal_checkpoint_v2(
            connection.handle,
            "main",
            SQLITE_CHECKPOINT_PASSIVE,
            &frameCount,
            &writtenBack
        )
        guard code & 0xff != SQLITE_BUSY else { return false }
        guard code == SQLITE_OK else { throw failure(code) }
        return frameCount == writtenBack
    }

    private func wait(
        _ timeoutMilliseconds: Int,
        _ attempt: () throws(DatabaseError) -> Int32
    ) throws(DatabaseError) {
        let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
        while true {
            let code = try attempt()
            if code == SQLITE_OK { return }
            guard code & 0xff == SQLITE_BUSY else { throw failure(code) }
            guard ContinuousClock.now < deadline else { throw .busy }
            ExitGate.waiting { _ = usleep(Self.pauseMicroseconds) }
        }
    }

    private func failure(_ code: Int32) -> DatabaseError {
        connection.failure(code, during: .execution)
    }
}

extension Connection {
    /// Whether the file was replaced by another process or database since the connection was opened: the index of its
    /// log is made invalid then, so that no transaction can begin.
    var isOfReplacedFile: Bool {
        guard hasLog, let file = csqlcipher_main_file(handle) else { return false }
        return csqlcipher_log_index_is_invalid(file) != 0
    }
}
