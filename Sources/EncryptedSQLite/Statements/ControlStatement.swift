/// The statements of this layer, which a connection compiles at their first use and keeps.
enum ControlStatement: Int, CaseIterable {
    case begin, beginImmediate, commit
    /// Begins and ends a savepoint, the transaction inside a transaction.
    case beginNested, endNested
    case dataVersion, schemaVersion, userVersion, applicationID, pageCount
    /// The number of rows that the connection has changed.
    case changeCount
    /// The number of tables, indexes, views and triggers.
    case schemaObjectCount

    var sql: String {
        switch self {
        case .begin: "BEGIN"
        case .beginImmediate: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .beginNested: "SAVEPOINT nested"
        case .endNested: "RELEASE nested"
        case .dataVersion: "PRAGMA data_version"
        case .schemaVersion: "PRAGMA schema_version"
        case .userVersion: "PRAGMA user_version"
        case .applicationID: "PRAGMA application_id"
        case .pageCount: "PRAGMA page_count"
        case .changeCount: "SELECT total_changes()"
        case .schemaObjectCount: "SELECT count(*) FROM sqlite_schema"
        }
    }
}
