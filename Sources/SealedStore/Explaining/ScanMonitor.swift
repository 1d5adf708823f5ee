import EncryptedSQLite
import Guarded
import ObjectGraph

/// Looks at the plans of new statements, and gives out ``ScanWarnings``.
final class ScanMonitor: PreparationObserver {
    private let warnings: ScanWarnings
    /// The statements that there was a warning for.
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

    /// Reads as many rows as the threshold tells, at most.
    private func isLarge(_ table: String, _ connection: Connection) throws -> Bool {
        let sql = "SELECT 1 FROM \(SQL.quoted(table)) LIMIT 1 OFFSET ?"
        return try connection.withUncachedStatement(sql) { statement in
            try statement.bind(Int64(max(warnings.threshold - 1, 0)), at: 1)
            return try statement.step()
        }
    }
}

extension OpenStore {
    /// Who looks at the statement of a request: a fetch of all objects reads every row with good reason.
    func scanMonitor(for request: FetchRequest) -> ScanMonitor? {
        request.predicate == nil && request.limit == nil ? nil : scanMonitor
    }
}
