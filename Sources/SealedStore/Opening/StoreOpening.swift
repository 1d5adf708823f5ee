import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Opens or creates the database of a store, and checks that it fits a model.
struct StoreOpening {
    /// "SEAL": the `application_id` of a store's file.
    static let applicationID: Int32 = 0x5345_414C

    let model: ManagedObjectModel
    let description: PersistentStoreDescription

    /// - Throws: `ModelError` if a relationship or an inheritance leads from the store's entities to those of another
    ///   store; `DatabaseError` if the file cannot be opened; ``SealedStoreError`` if it does not fit the model.
    func open() throws -> OpenStore {
        let own = try ownModel()
        let reading = try reading(own)
        if let database = description.options[SealedStore.databaseOption] as? Database {
            return try attach(to: database, reading)
        }
        let stages = try option(SealedStore.migrationStagesOption, as: [StoreMigrationStage].self) ?? []
        let staged = try StagedMigration(stages: stages, opening: self)
        var content: StoreContent?
        let database = try Self.openDatabase(description, createsIfMissing: !description.isReadOnly) { connection in
            try create(StoreSchema(model: own), reading.modelVersion, on: connection)
        } verify: { connection in
            content = try reading.examine(on: connection, staged)
        }
        do {
            let content = try content ?? update(database, reading, staged)
            return OpenStore(
                description,
                database,
                content.plan,
                FileStates(content.plan, reading, content.metadata, version: content.version),
                content.metadata
            )
        } catch {
            try? database.close()
            throw error
        }
    }

    /// Opens a store on an open database, in the transaction of the calling thread.
    private func attach(to database: Database, _ reading: StoreReading) throws -> OpenStore {
        let content = try database.read { connection in
            let (metadata, plan) = try reading.fittingContent(on: connection)
            return try StoreContent(metadata, plan, on: connection, isCommitted: false)
        }
        return OpenStore(
            description,
            database,
            content.plan,
            FileStates(content.plan, reading, content.metadata, version: nil),
            content.metadata,
            ownsDatabase: false
        )
    }

    /// Updates or migrates a store.
    private func update(
        _ database: Database,
        _ reading: StoreReading,
        _ staged: StagedMigration
    ) throws -> StoreContent {
        let progress = try option(SealedStore.migrationProgressOption, as: Progress.self)
        if reading.allowsMigration { try staged.run(on: database, progress: progress) }
        let (content, hasMigrated) = try waitingForOtherPrograms(on: database, progress) {
            try database.write { try reading.update(on: $0, progress: progress) }
        }
        if hasMigrated { Self.shortenLog(of: database) }
        return content
    }

    /// The number of busy timeouts for which opening waits for another program's migration: ten minutes. A program that is
    /// suspended while it writes would otherwise block the opening forever.
    private static let maximumWaits = 60

    /// Repeats a transaction while the store is not migrated and another program writes: a migration takes longer than
    /// any other transaction.
    func waitingForOtherPrograms<R>(
        on database: Database,
        _ progress: Progress?,
        _ body: () throws -> R
    ) throws -> R {
        for _ in 0..<Self.maximumWaits {
            do {
                return try body()
            } catch DatabaseError.busy {
                if progress?.isCancelled ?? false { throw CancellationError() }
                let stored = try database.read { try SchemaPlan.metadata(on: $0).metadata.model }
                guard case .shape = ModelChange.from(stored, to: try ownModel()) else { break }
            }
        }
        return try body()
    }

    /// Writes back and shortens the log, which is as long as the tables that a migration has rebuilt.
    static func shortenLog(of database: Database) {
        // A log that other processes read stays as it is until a later checkpoint.
        try? database.writeWithoutTransaction { connection in
            let isWrittenBack = try connection.withUncachedStatement("PRAGMA wal_checkpoint(PASSIVE)") { row in
                try row.step() && row.integer(at: 0) == 0 && row.integer(at: 1) == row.integer(at: 2)
            }
            if isWrittenBack { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
    }

    func reading(_ own: ManagedObjectModel) throws -> StoreReading {
        var version = try option(SealedStore.modelVersionOption, as: String.self).map { text in
            guard let version = ModelVersion(text) else {
                throw SealedStoreError.malformedOption(SealedStore.modelVersionOption)
            }
            return version
        }
        // A new store has the last version, and an existing one reaches it.
        if let stages = try option(SealedStore.migrationStagesOption, as: [StoreMigrationStage].self),
            let last = try StagedMigration.versions(of: stages).last
        {
            version = version.map { max($0, last) } ?? last
        }
        return StoreReading(
            model: model,
            own: own,
            isReadOnly: description.isReadOnly,
            allowsMigration: description.shouldMigrateStoreAutomatically,
            modelVersion: version,
            defaultValues: try option(SealedStore.defaultValuesOption, as: SealedStore.DefaultValues.self)
        )
    }

    private func option<Value>(_ name: String, as type: Value.Type) throws -> Value? {
        guard let option = description.options[name] else { return nil }
        guard let value = option as? Value else { throw SealedStoreError.malformedOption(name) }
        return value
    }

    /// Whether the store holds all entities of the model.
    var holdsWholeModel: Bool { description.entityNames.map { $0.count >= model.entities.count } ?? true }

    /// The part of the model that the store holds; all of it if the description names no entities.
    func ownModel() throws -> ManagedObjectModel {
        guard let names = description.entityNames, !holdsWholeModel else { return model }
        return try ManagedObjectModel(
            entities: model.entities.filter { names.contains($0.name) }.map(\.description)
        )
    }

    /// Opens the database of a description. If `verify` throws, the file stays as it is.
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

    private func create(_ schema: StoreSchema, _ version: ModelVersion?, on connection: Connection) throws {
        for statement in SchemaStatements(schema).all { try connection.execute(statement) }
        try StoreMetadataTable(
            uuid: UUID(),
            formatVersion: Int(StoreMetadataTable.newestFormatVersion),
            model: schema.model,
            names: schema.names,
            modelVersion: version
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
    /// Returns the model of a store, without the program that created it.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened, ``SealedStoreError/notAStore`` if it is not a store,
    ///   ``SealedStoreError/damagedMetadata(_:)`` if its model cannot be read.
    public static func model(of description: PersistentStoreDescription) throws -> ManagedObjectModel {
        var model: ManagedObjectModel?
        let database = try StoreOpening.openDatabase(description, createsIfMissing: false) { connection in
            // Until this check, the table might be a view.
            _ = try SchemaFingerprint(on: connection)
            model = try StoreMetadataTable.read(on: connection).model
        }
        try? database.close()
        guard let model else { preconditionFailure("A database is open that was not verified.") }
        return model
    }
}
