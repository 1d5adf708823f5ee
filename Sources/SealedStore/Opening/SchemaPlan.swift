import EncryptedSQLite
import Guarded
import ObjectGraph

/// A model laid out in tables under the names of a file, with its statements and the schema of such a file.
///
/// Stores with the same entities and names share their plan: creating it costs more than opening a file.
final class SchemaPlan: Sendable {
    let schema: StoreSchema
    /// The schema of the file; another one than ``schema`` if the file is read with another model.
    let fileSchema: StoreSchema
    /// The tables of the file with the columns of the model, if the file is read with another model than its own.
    let sources: TableSources?
    let statements: EntityStatements
    /// The states of files by their conditions, so that all stores with the plan find the statements of a state.
    let fileStates = Guarded(BoundedCache<FileConditions, FileState>(limit: 16))
    /// The model of the file's tables.
    private let file: ManagedObjectModel
    /// The expected schema of the file, created when it is first needed.
    private let expected = Guarded<ExpectedSchema?>(nil)
    /// The schemas that proved equal to the expected one. There are several, since the objects of a schema may have been
    /// added in several orders.
    private let verified = Guarded(BoundedCache<SchemaText, Void>(limit: 16))

    /// The input of a plan. Models with the same entities have the same layout, and entities are never freed.
    private struct Key: Hashable {
        let entities: [ObjectIdentifier]
        let own: [ObjectIdentifier]
        let file: [ObjectIdentifier]
        let names: SchemaNames
    }

    private static let known = Guarded(BoundedCache<Key, SchemaPlan>(limit: 16))

    /// The content of a file that proved to be that of a store for a model.
    private struct CheckedContent: Hashable {
        let entities: [ObjectIdentifier]
        let own: [ObjectIdentifier]
        let schema: SchemaText
        let metadata: ReadBytes
    }

    private static let checked = Guarded(
        BoundedCache<CheckedContent, (metadata: StoreMetadataTable, plan: SchemaPlan)>(limit: 16)
    )

    /// Reads the metadata of a file, and checks that the file is for a model and that its schema is the recorded one.
    ///
    /// - Parameter own: The part of the model that the file holds.
    /// - Throws: ``SealedStoreError``.
    static func read(
        on connection: Connection,
        for model: ManagedObjectModel,
        own: ManagedObjectModel
    ) throws -> (metadata: StoreMetadataTable, plan: SchemaPlan) {
        if let fitting = try fitting(on: connection, for: model, own: own) { return fitting }
        let stored = try metadata(on: connection).metadata.model
        throw SealedStoreError.modelMismatch(ModelComparison(ModelMapping(from: stored, to: own)).differences)
    }

    /// Reads the metadata of a file for a model, and checks that the schema of the file is the recorded one. Returns
    /// nil if the model of the file has another shape.
    ///
    /// If the process has read the same content before, only the bytes are compared.
    static func fitting(
        on connection: Connection,
        for model: ManagedObjectModel,
        own: ManagedObjectModel
    ) throws -> (metadata: StoreMetadataTable, plan: SchemaPlan)? {
        // First: until this check, the table with the metadata might be a view.
        let schemaText = try SchemaText(on: connection)
        let content = CheckedContent(
            entities: model.entities.map(ObjectIdentifier.init),
            own: own === model ? [] : own.entities.map(ObjectIdentifier.init),
            schema: schemaText,
            metadata: try MetadataRows(connection: connection).content()
        )
        if let known = checked.withLock({ $0.value(for: content) }) { return known }
        let metadata = try StoreMetadataTable.read(on: connection)
        guard metadata.change(to: own).keepsTables else { return nil }
        let plan = try verified(schemaText, on: connection, for: model, own: own, metadata)
        checked.withLock { _ = $0.insert((metadata, plan), for: content) }
        return (metadata, plan)
    }

    /// Reads the metadata of a file.
    static func metadata(
        on connection: Connection
    ) throws -> (metadata: StoreMetadataTable, schemaText: SchemaText) {
        // First: until this check, the table with the metadata might be a view.
        let schemaText = try SchemaText(on: connection)
        return (try StoreMetadataTable.read(on: connection), schemaText)
    }

    /// The plan of a model under the names of a file, after its check against the schema of the file.
    static func verified(
        _ schemaText: SchemaText,
        on connection: Connection,
        for model: ManagedObjectModel,
        own: ManagedObjectModel,
        _ metadata: StoreMetadataTable
    ) throws -> SchemaPlan {
        let plan = try shared(model, own: own, file: metadata.tableModel(for: own), names: metadata.names)
        try plan.verify(schemaText, on: connection)
        return plan
    }

    /// The plan of a model.
    ///
    /// - Parameters:
    ///   - own: The part of the model that the file holds.
    ///   - file: The model of the file's tables; `own` if they hold nothing else.
    ///   - names: The names that the file recorded.
    /// - Throws: ``SealedStoreError/damagedMetadata(_:)`` if the names do not fit the models.
    static func shared(
        _ model: ManagedObjectModel,
        own: ManagedObjectModel,
        file: ManagedObjectModel,
        names: SchemaNames
    ) throws -> SchemaPlan {
        let names = names.preferringIndexes(of: own)
        let key = Key(
            entities: model.entities.map(ObjectIdentifier.init),
            own: own === model ? [] : own.entities.map(ObjectIdentifier.init),
            file: file === own ? [] : file.entities.map(ObjectIdentifier.init),
            names: names
        )
        return try known.value(for: key) {
            guard file === own || file.includes(own) else {
                throw SealedStoreError.damagedMetadata(StoreMetadataTable.unionKey)
            }
            try names.validate(for: file)
            return SchemaPlan(model, own: own, file: file, names: names)
        }
    }

    private init(
        _ model: ManagedObjectModel,
        own: ManagedObjectModel,
        file: ManagedObjectModel,
        names: SchemaNames
    ) {
        self.file = file
        schema = StoreSchema(model: model, names: names, file: file === own ? nil : file)
        fileSchema = schema.ofFile
        sources = nil
        statements = EntityStatements(schema)
    }

    /// A plan by which a file of another model is read.
    ///
    /// - Parameters:
    ///   - migration: The migration to the model, which is not carried out.
    ///   - stored: The metadata of the file, whose schema is verified.
    init(
        reading stored: StoreMetadataTable,
        with model: ManagedObjectModel,
        own: ManagedObjectModel,
        _ migration: MigrationPlan
    ) {
        file = own
        var names = migration.metadata.names
        names.indexes = migration.sources.indexes
        schema = StoreSchema(model: model, names: names, sources: migration.sources)
        fileSchema = StoreSchema(model: stored.fileModel, names: stored.names)
        sources = migration.sources
        statements = EntityStatements(schema)
    }

    /// Whether the rows of the model's tables have the same form as in another plan of the model.
    func hasRows(like other: SchemaPlan) -> Bool {
        self === other
            || zip(schema.tables, other.schema.tables).allSatisfy { $0.hasEntityColumn == $1.hasEntityColumn }
                && zip(schema.joinTables, other.schema.joinTables).allSatisfy {
                    $0?.name == $1?.name && $0?.owner == $1?.owner
                }
    }

    /// Checks that the schema of a file is that of the plan.
    ///
    /// - Throws: ``SealedStoreError/foreignSchema(object:)``.
    func verify(_ schemaText: SchemaText, on connection: Connection) throws {
        try verified.value(for: schemaText) { try compare(on: connection) }
    }

    private func compare(on connection: Connection) throws {
        let expected = expected.withLock { expected in
            if let expected { return expected }
            let made = ExpectedSchema(file === schema.model ? schema : StoreSchema(model: file, names: schema.names))
            expected = made
            return made
        }
        try expected.compare(on: connection)
    }
}
