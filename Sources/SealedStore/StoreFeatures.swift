import EncryptedSQLite

/// A feature of the store that keeps data of its own in the file, beside the tables of the entities.
///
/// The schema, the check and the migration of a store know its features only by this protocol.
protocol StoreFeature: SendableMetatype {
    /// The tables of the feature, in the order in which they are created.
    static var tables: [SystemTable] { get }

    /// The problems of the feature's data that a check of the store finds.
    ///
    /// - Parameter schema: The schema of all tables of the file.
    static func problems(_ schema: StoreSchema, on connection: Connection) throws -> [StoreProblem]

    /// Adapts the feature's data to a migration of the tables, in its transaction, after the tables are migrated.
    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws
}

extension StoreFeature {
    static func problems(_ schema: StoreSchema, on connection: Connection) throws -> [StoreProblem] { [] }
    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws {}
}

/// All features, in the order in which they create their tables and take part in a migration.
enum StoreFeatures {
    static let all: [any StoreFeature.Type] = [
        StoreMetadataTable.self, PrimaryKeySequences.self, HistoryFeature.self, ExchangeFeature.self,
        LargeValueTable.self,
    ]

    /// The tables of all features.
    static let tables = all.flatMap { $0.tables }
}
