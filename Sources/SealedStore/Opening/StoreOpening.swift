import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Opens the database of a store, or creates it, and makes sure that it fits a model.
struct StoreOpening {
    /// "SEAL": what SQLite's `application_id` is in a store.
    static let applicationID: Int32 = 0x5345_414C

    let model: ManagedObjectModel
    let description: PersistentStoreDescription

    /// What an existing store is opened with.
    private struct Content {
        let metadata: StoreMetadataTable
        let plan: SchemaPlan
        let version: Int64

        /// Reads it, and throws if it is not that of a store for a model.
        init(on connection: Connection, for model: ManagedObjectModel, own: ManagedObjectModel) throws {
            (metadata, plan) = try SchemaPlan.read(on: connection, for: model, own: own)
            try OptionalityUpdate(from: metadata, to: own).requireValues(on: connection)
            version = try connection.schemaVersion()
        }
    }

    /// - Throws: `ModelError` where a relationship or an inheritance leads from the store's entities to those of another
    ///   store; `DatabaseError` where the file cannot be opened; ``SealedStoreError`` where it is not for the model.
    func open() throws -> OpenStore {
        let own = try ownModel()
        var content: Content?
        let database = try Self.openDatabase(description, createsIfMissing: !description.isReadOnly) { connection in
            try create(StoreSchema(model: own), on: connection)
        } verify: { connection in
            content = try Content(on: connection, for: model, own: own)
        }
        guard let content else { preconditionFailure("A database is open that was not verified.") }
        do {
            var (metadata, plan, version) = (content.metadata, content.plan, Optional(content.version))
            if !description.isReadOnly, OptionalityUpdate(from: metadata, to: own).isNeeded {
                metadata = try database.write { connection in
                    // Another process may have done it meanwhile.
                    let stored = try SchemaPlan.read(on: connection, for: model, own: own).metadata
                    return try OptionalityUpdate(from: stored, to: own).run(on: connection)
                }
                version = nil
            }
            if !description.isReadOnly, !metadata.names.missingIndexes(of: own).isEmpty {
                metadata = try database.write { connection in
                    try IndexUpdate(on: connection, for: model, own: own).addMissing()
                }
                plan = try SchemaPlan.shared(model, own: own, names: metadata.names)
                version = nil
            }
            return OpenStore(
                description,
                database,
                plan,
                FileStates(plan, own: own, metadata, version: version),
                metadata
            )
        } catch {
            try? database.close()
            throw error
        }
    }

    /// The part of the model that the store holds; all of it, where the description names no entities.
    func ownModel() throws -> ManagedObjectModel {
        guard let names = description.entityNames, names.count < model.entities.count else { return model }
        return try ManagedObjectModel(
            entities: model.entities.filter { names.contains($0.name) }.map(\.description)
        )
    }

    /// Opens the database that a description names. What `verify` refuses stays as it is.
    static func openDatabase(
        _ description: PersistentStoreDescription,
        createsIfMissing: Bool,
        create: (Connection) throws -> Void = { _ in },
        verify: (Connection) throws -> Void
    ) throws -> Database {
        let options = Database.Options(
            readOnly: description.isReadOnly,
            createsIfMissing: createsIfMissing,
            applicationID: applicationID,
            newestUserVersion: StoreMetadataTable.newestFormatVersion,
            durability: try durability(of: description),
            functions: QueryFunctions.library
        )
        let location: Database.Location = description.url.map { .file($0.path) } ?? .memory
        return try Database(location, key: key(of: description), options: options, create: create, verify: verify)
    }

    private static func durability(of description: PersistentStoreDescription) throws -> Durability {
        guard let option = description.options[SealedStore.durabilityOption] else { return .applicationCrash }
        guard let durability = option as? Durability else {
            throw SealedStoreError.malformedOption(SealedStore.durabilityOption)
        }
        return durability
    }

    private static func key(of description: PersistentStoreDescription) throws -> EncryptionKey? {
        switch description.options[SealedStore.keyOption] {
        case nil: nil
        case let key as EncryptionKey: key
        case let passphrase as String: .passphrase(passphrase)
        default: throw SealedStoreError.malformedKey
        }
    }

    private func create(_ schema: StoreSchema, on connection: Connection) throws {
        for statement in SchemaStatements(schema).all { try connection.execute(statement) }
        try StoreMetadataTable(
            uuid: UUID(),
            formatVersion: Int(StoreMetadataTable.newestFormatVersion),
            model: schema.model,
            names: schema.names
        ).write(on: connection)
        for entity in schema.model.entities where entity.isRoot {
            try connection.withStatement(#"INSERT INTO "_sequence" ("entity", "next") VALUES (?, 1)"#) { statement in
                try statement.bind(text: entity.name, at: 1)
                try statement.run()
            }
        }
    }
}

extension SealedStore {
    /// The model of a store, read without the program that made it.
    ///
    /// - Throws: `DatabaseError` where the file cannot be opened, ``SealedStoreError/notAStore`` if it holds no store,
    ///   ``SealedStoreError/damagedMetadata(_:)`` where its model cannot be read.
    public static func model(of description: PersistentStoreDescription) throws -> ManagedObjectModel {
        var model: ManagedObjectModel?
        let database = try StoreOpening.openDatabase(description, createsIfMissing: false) { connection in
            // Until then a view might stand in the place of the table.
            _ = try SchemaFingerprint(on: connection)
            model = try StoreMetadataTable.read(on: connection).model
        }
        try? database.close()
        guard let model else { preconditionFailure("A database is open that was not verified.") }
        return model
    }
}
