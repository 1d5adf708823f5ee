import EncryptedSQLite

/// The exchange of changes with other stores.
///
/// ``HistoryMigration`` adapts the exchange together with the history, whose numbers it refers to.
enum ExchangeFeature: StoreFeature {
    static let tables = [ExchangeRecord.table, ExchangeMarks.table]

    static func problems(_ schema: StoreSchema, on connection: Connection) throws -> [StoreProblem] {
        try ExchangeCheck(connection: connection, model: schema.model).problems()
    }
}
