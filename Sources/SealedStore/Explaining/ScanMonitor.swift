import EncryptedSQLite
import Guarded
import ObjectGraph

/// Reads the plans of new statements, and reports ``ScanWarnings``.
final class ScanMonitor: PreparationObserver {
    private let warnings: ScanWarnings
    /// The statements that were reported.
    private let reported = Guarded<Set<SQLText>>([])

    init(_ warnings: ScanWarnings) {
        self.warnings = warnings
    }

    func didPrepare(_ sql: SQLText, on connection: Connection) throws {
        guard !reported.withLock({ $0.contains(sql) }) else { return }
        let plan = try QueryPlan(of: sql.text, on: connection)
        for table in plan.scannedTables where try isLarge(table, connection) {
            guard reported.withLock({ $0.insert(sql).inserted }) else { return }
            warnings.handler(ScanWarning(table: table, threshold: warnings.threshold, plan: plan))
        }
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
}
