import EncryptedSQLite
import Foundation
import ObjectGraph

/// The content of the table `_metadata`: the identity of the store, its model, and the names of its tables.
struct StoreMetadataTable {
    let uuid: UUID
    /// The number of the file's format, see ``StoreFormat``.
    private(set) var formatVersion: Int
    /// Whether the file has a ``LargeValueTable``.
    let hasLargeValues: Bool
    /// The model of the program that has opened the store last.
    private(set) var model: ManagedObjectModel
    /// The model of the tables, if they also hold entities or properties that ``model`` does not have; otherwise nil.
    /// See ``ModelUnion``.
    private(set) var union: ManagedObjectModel?
    private(set) var names: SchemaNames
    /// The columns with texts that are not in normalization form C, see ``TextForms``.
    let columnsOfMixedForms: Set<String>
    /// The version of the program's model; nil if the program does not number its models.
    private(set) var modelVersion: ModelVersion?
    /// The number of migrations of the store. A program that has the store open finds a migration by it, also if the
    /// tables still fit its model.
    private(set) var migrationCount: Int
    /// The record of the history; nil if the store has none. ``write(on:)`` does not write it.
    let history: HistorySettings?

    init(
        uuid: UUID,
        formatVersion: Int = StoreFormat.first,
        hasLargeValues: Bool = false,
        model: ManagedObjectModel,
        union: ManagedObjectModel? = nil,
        names: SchemaNames,
        columnsOfMixedForms: Set<String> = [],
        modelVersion: ModelVersion? = nil,
        migrationCount: Int = 0,
        history: HistorySettings? = nil
    ) {
        self.uuid = uuid
        self.formatVersion = max(
            formatVersion,
            hasLargeValues ? StoreFormat.largeValues : StoreFormat.first,
            StoreFormat.number(of: union ?? model)
        )
        self.hasLargeValues = hasLargeValues
        self.model = model
        self.union = union
        self.names = names
        self.columnsOfMixedForms = columnsOfMixedForms
        self.modelVersion = modelVersion
        self.migrationCount = migrationCount
        self.history = history
    }

    /// The model of the tables.
    var fileModel: ManagedObjectModel { union ?? model }

    /// The metadata with other models, and with other names unless they are nil.
    func with(model: ManagedObjectModel, union: ManagedObjectModel?, names: SchemaNames? = nil) -> StoreMetadataTable {
        var copy = self
        copy.model = model
        copy.union = union
        copy.formatVersion = max(formatVersion, StoreFormat.number(of: copy.fileModel))
        if let names { copy.names = names }
        return copy
    }

    /// The metadata with another number of migrations.
    func with(migrationCount: Int) -> StoreMetadataTable {
        var copy = self
        copy.migrationCount = migrationCount
        return copy
    }

    /// The metadata with another version of the model.
    func with(modelVersion: ModelVersion?) -> StoreMetadataTable {
        var copy = self
        copy.modelVersion = modelVersion
        return copy
    }

    /// The key of the row that ``noteOtherOrder(on:)`` writes.
    static let otherOrderKey = "reordered"

    private typealias Key = MetadataValues.Key

    /// The key of the row with the model of the tables.
    static let unionKey = Key.union.rawValue
    /// The key of the row with the number of the format.
    static let formatKey = Key.format.rawValue
    /// The keys of the rows that every store has.
    static let requiredKeys = Set([Key.uuid, .format, .model, .names].map(\.rawValue))

    /// Writes the table, and replaces its content. Writes the number of the format as the `user_version`, too.
    func write(on connection: Connection) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var values: [(key: Key, value: String)] = [
            (.uuid, uuid.uuidString),
            (.model, String(decoding: try encoder.encode(model), as: UTF8.self)),
            (.names, String(decoding: try encoder.encode(names), as: UTF8.self)),
        ]
        try StoreFormat.write(formatVersion, on: connection)
        if let modelVersion { values.append((.version, modelVersion.description)) }
        let rows = MetadataRows(connection: connection)
        if migrationCount > 0 {
            values.append((.migrations, String(migrationCount)))
        } else {
            try rows.remove(Key.migrations.rawValue)
        }
        if let union {
            values.append((.union, String(decoding: try encoder.encode(union), as: UTF8.self)))
        } else {
            try rows.remove(Key.union.rawValue)
        }
        for (key, value) in values { try rows.set(key.rawValue, value) }
    }

    /// Writes the table such that programs that have the store open notice it, although the tables are the same.
    func writeNoticeably(on connection: Connection) throws {
        try write(on: connection)
        try Self.announceChange(on: connection)
    }

    /// Records that the model does not declare entities and properties in the order in which the tables were made. Only
    /// a salvage needs it, if the names are lost.
    static func noteOtherOrder(on connection: Connection) throws {
        try MetadataRows(connection: connection).set(otherOrderKey, "1")
    }

    /// Writes the table with the records of ``columnsOfMixedForms``.
    func writeAll(on connection: Connection) throws {
        try write(on: connection)
        try writeColumnsOfMixedForms(on: connection)
    }

    /// Writes the records of ``columnsOfMixedForms``, and removes all others.
    func writeColumnsOfMixedForms(on connection: Connection) throws {
        let rows = MetadataRows(connection: connection)
        try rows.removeAll(withPrefix: MetadataValues.mixedFormsPrefix)
        for column in columnsOfMixedForms.sorted() { try rows.set(MetadataValues.mixedFormsPrefix + column, "1") }
    }

    /// Reads the table, whose existence ``SchemaText`` has checked.
    ///
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)`` if a row is missing or cannot be read;
    ///   `DatabaseError.newerFormat` if another program has raised the number of the format while the file is open.
    static func read(on connection: Connection) throws -> StoreMetadataTable {
        let values = MetadataValues(try MetadataRows(connection: connection).all())
        func required<T>(_ key: Key, _ value: T?) throws -> T {
            guard let value else { throw SealedStoreError.damagedMetadata(key.rawValue) }
            return value
        }
        func optional<T>(_ key: Key, _ value: T?) throws -> T? {
            try values[key] == nil ? nil : required(key, value)
        }
        let uuid = try required(.uuid, values.uuid)
        let formatVersion = try required(.format, values.formatVersion)
        guard try formatVersion == StoreFormat.first || formatVersion == StoreFormat.userVersion(on: connection) else {
            throw SealedStoreError.damagedMetadata(Key.format.rawValue)
        }
        guard formatVersion <= StoreFormat.newest else {
            throw DatabaseError.newerFormat(
                path: connection.path,
                found: Int32(clamping: formatVersion),
                supported: Int32(StoreFormat.newest)
            )
        }
        let hasLargeValues = try formatVersion >= StoreFormat.largeValues && LargeValueTable.exists(on: connection)
        // A later number does not say that the file has the table.
        guard hasLargeValues || formatVersion != StoreFormat.largeValues else {
            throw SealedStoreError.damagedMetadata(Key.format.rawValue)
        }
        return StoreMetadataTable(
            uuid: uuid,
            formatVersion: formatVersion,
            hasLargeValues: hasLargeValues,
            model: try required(.model, values.model),
            union: try optional(.union, values.union),
            names: try required(.names, values.names),
            columnsOfMixedForms: values.columnsOfMixedForms,
            modelVersion: try optional(.version, values.modelVersion),
            migrationCount: try optional(.migrations, values.migrationCount) ?? 0,
            history: try HistorySettings.parse(HistorySettings.text(in: values.texts), on: connection)
        )
    }

    /// Makes all connections to the file read its state again once the transaction is committed.
    static func announceChange(on connection: Connection) throws {
        // Creating and dropping a view changes nothing but the version of the schema.
        try connection.execute(#"CREATE VIEW "_change" AS SELECT 1; DROP VIEW "_change""#)
        connection.removeAnnotation()
    }
}

extension StoreMetadataTable: StoreFeature {
    static let tables = [
        SystemTable(
            name: "_metadata",
            creation: #"CREATE TABLE "_metadata" ("key" TEXT PRIMARY KEY NOT NULL, "value" ANY) STRICT, WITHOUT ROWID"#,
            isInEveryStore: true,
            ownsName: true
        )
    ]

    static func migrate(_ plan: MigrationPlan, on connection: Connection) throws {
        try plan.metadata.writeAll(on: connection)
    }
}
