import EncryptedSQLite
import Guarded

/// The numbers of rows that the checks of an opening have counted in the current state of the file.
///
/// Opening checks a store before it writes, and again in the transaction that migrates the store, since another program
/// may have written in between. A check that reads all rows runs a second time only if another program has written.
final class MigrationCheckResults: Sendable {
    private struct Known {
        let state: Connection.ContentState
        /// The numbers of rows by the statements that count them.
        var rows: [String: Int] = [:]
    }

    private let known = Guarded<Known?>(nil)

    /// Lets a connection in a write transaction that has written nothing use the results of a reader connection, unless
    /// another connection has committed since.
    func adopt(for connection: Connection, of database: Database) throws {
        guard let known = known.withLock(\.self), try database.committedState() == known.state else { return }
        let state = try connection.contentState()
        self.known.withLock { $0 = Known(state: state, rows: known.rows) }
    }

    /// Forgets all results.
    func removeAll() { known.withLock { $0 = nil } }

    /// The problems that the checks find in the file.
    ///
    /// - Parameter progress: Reports the progress. The checks end when it is cancelled.
    /// - Throws: `CancellationError`.
    /// - Complexity: O(*n*) in the number of rows for each check that has no result yet.
    func problems(
        _ checks: [MigrationCheck],
        on connection: Connection,
        progress: MigrationProgress?
    ) throws -> [MigrationProblem] {
        let state = try connection.contentState()
        var rows = known.withLock { $0?.state == state ? $0?.rows : nil } ?? [:]
        defer { known.withLock { [rows] in $0 = Known(state: state, rows: rows) } }
        return try connection.interruptible(by: progress) {
            try connection.usingTemporaryFiles {
                try MigrationCheck.problems(checks) { number, check in
                    if let known = rows[check.sql] { return known }
                    try progress?.checkCancellation()
                    progress?.begin(check)
                    let count = try check.count(on: connection)
                    rows[check.sql] = count
                    progress?.report(Double(number + 1) / Double(checks.count))
                    return count
                }
            }
        }
    }
}
