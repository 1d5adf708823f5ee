import EncryptedSQLite
import Guarded
import ObjectGraph

/// The content of a store's file apart from its rows: the metadata and the schema, read together in one transaction.
///
/// A process decodes the same content once: later readings only compare the bytes.
final class StoreContent: Sendable {
    let metadata: StoreMetadataTable
    private let schemaText: SchemaText
    /// The plans of models for the file. A plan is in the cache once the schema of the file is verified with it.
    private let plans = Guarded(BoundedCache<PlanKey, SchemaPlan>(limit: 8))

    /// The models of a program. Models with the same entities have the same layout, and entities are never freed.
    private struct PlanKey: Hashable {
        let entities: [ObjectIdentifier]
        let own: [ObjectIdentifier]
    }

    private struct ReadContent: Hashable {
        let schema: SchemaText
        let metadata: ReadBytes
    }

    private static let known = Guarded(BoundedCache<ReadContent, StoreContent>(limit: 16))

    private init(_ metadata: StoreMetadataTable, _ schemaText: SchemaText) {
        self.metadata = metadata
        self.schemaText = schemaText
    }

    /// Reads the content of a connection's file.
    ///
    /// - Throws: ``SealedStoreError/notAStore``; ``SealedStoreError/foreignSchema(object:)`` if a table that every store
    ///   has is missing or altered; ``SealedStoreError/damagedMetadata(_:)``.
    static func read(on connection: Connection) throws -> StoreContent {
        // The check of the schema comes first: until it, the table with the metadata might be a view.
        let schemaText = try SchemaText(on: connection)
        let read = ReadContent(schema: schemaText, metadata: try MetadataRows(connection: connection).content())
        return try known.value(for: read) {
            StoreContent(try StoreMetadataTable.read(on: connection), schemaText)
        }
    }

    /// The plan of a program's model under the names of the file, after the check that the file has no other schema.
    ///
    /// - Parameters:
    ///   - own: The part of the model that the file holds.
    ///   - connection: The connection that has read the content, in the same state.
    /// - Throws: ``SealedStoreError/foreignSchema(object:)``; ``SealedStoreError/damagedMetadata(_:)`` if the names do not
    ///   fit the model.
    func plan(
        for model: ManagedObjectModel,
        own: ManagedObjectModel,
        on connection: Connection
    ) throws -> SchemaPlan {
        let key = PlanKey(
            entities: model.entities.map(ObjectIdentifier.init),
            own: own === model ? [] : own.entities.map(ObjectIdentifier.init)
        )
        return try plans.value(for: key) {
            let plan = try SchemaPlan.shared(
                model,
                own: own,
                file: metadata.tableModel(for: own),
                names: metadata.names
            )
            try plan.verify(schemaText, on: connection)
            return plan
        }
    }

    /// Checks that the file has the schema that its metadata describe.
    ///
    /// - Throws: As ``plan(for:own:on:)``.
    func verify(on connection: Connection) throws {
        _ = try plan(for: metadata.fileModel, own: metadata.fileModel, on: connection)
    }

    /// The schema of all tables of the file, also of those that are set aside.
    var schema: StoreSchema { StoreSchema(model: metadata.fileModel, names: metadata.names) }
}
