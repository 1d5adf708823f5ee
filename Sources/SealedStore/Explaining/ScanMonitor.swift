import EncryptedSQLite
import Guarded
import ObjectGraph

/// Reads the plans of new statements, and reports ``ScanWarnings``.
final class ScanMonitor: PreparationObserver {
    private let warnings: ScanWarnings
    private struct State {
        /// The statements with a warning.
        var statements: Set<SQLText> = []
        /// The warnings that were not reported yet.
        var pending: [ScanWarning] = []
    }

    private let state = Guarded(State())

    init(_ warnings: ScanWarnings) {
        self.warnings = warnings
    }

    func didPrepare(_ sql: SQLText, on connection: Connection) throws {
        guard !state.withLock({ $0.statements.contains(sql) }) else { return }
        let plan = try QueryPlan(of: sql.text, on: connection)
        for table in plan.scannedTables where try isLarge(table, connection) {
            let warning = ScanWarning(table: table, threshold: warnings.threshold, plan: plan)
            state.withLock { if $0.statements.insert(sql).inserted { $0.pending.append(warning) } }
        }
    }

    /// Calls the handler with the new warnings. No connection may be in use by the thread: the handler may use the store.
    func report() {
        let warnings = state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        for warning in warnings { self.warnings.handler(warning) }
    }

    /// Whether a table has at least as many rows as the threshold; reads no more rows.
    private func isLarge(_ table: String, _ connection: Connection) throws -> Bool {
        let sql = "SELECT 1 FROM \(SQL.quoted(table)) LIMIT 1 OFFSET ?"
        return try connection.withUncachedStatement(sql) { statement in
            try statement.bind(Int64(max(warnings.threshold - 1, 0)), at: 1)
            return try statement.step()
        }
    }
}

extension OpenStore {
    /// The observer of the statement of a request; nil for a fetch of all objects, which must read every row.
    func scanMonitor(for request: FetchRequest) -> ScanMonitor? {
        request.predicate == nil && request.limit == nil ? nil : scanMonitor
    }

    /// Reads for a request, and reports the warnings about its statements after the connection was returned.
    func readWithWarnings<R>(_ body: (Connection) throws -> R) throws -> R {
        // In a write transaction of the thread, the next read reports the warnings after the end of the transaction.
        defer { if let scanMonitor, !database.isWrittenByThisThread { scanMonitor.report() } }
        return try database.read(body)
    }
}
