import EncryptedSQLite

/// The history of a store, and the global identifiers of its objects.
enum HistoryFeature: StoreFeature {
    static let tables = [HistoryTable.table, GlobalIdentifierTable.table]

    static func problems(_ schema: StoreSchema, on connection: Connection) throws -> [StoreProblem] {
        try HistoryCheck(connection: connection, model: schema.model).problems()
    }

    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws {
        try HistoryMigration(plan.context).record(on: connection)
    }
}
