import EncryptedSQLite
import Guarded
import ObjectGraph

/// A model laid out in tables under the names of a file, with its statements and the schema of such a file.
///
/// Stores with the same entities and names share their plan: creating it costs more than opening a file.
final class SchemaPlan: Sendable {
    let schema: StoreSchema
    /// The schema of the file. It differs from ``schema`` if the file is read with another model.
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
    ///   - content: The content of the file, whose schema is verified.
    ///   - names: The names of the model's tables and columns after a migration to it.
    ///   - sources: The tables of the file with the columns of the model.
    init(
        reading content: StoreContent,
        with model: ManagedObjectModel,
        own: ManagedObjectModel,
        _ names: SchemaNames,
        _ sources: TableSources
    ) {
        file = own
        var names = names
        names.indexes = sources.indexes
        schema = StoreSchema(model: model, names: names, sources: sources)
        fileSchema = content.schema
        self.sources = sources
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

    /// Checks that a file has the schema that the plan expects.
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
