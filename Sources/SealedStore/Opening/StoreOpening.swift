import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Opens or creates the database of a store, and checks that it fits a model.
struct StoreOpening {
    /// "SEAL": the `application_id` of a store's file.
    static let applicationID: Int32 = 0x5345_414C

    let model: ManagedObjectModel
    let description: PersistentStoreDescription
    /// The results of the checks before a migration.
    var checked = MigrationCheckResults()
    /// ``StoreReading/removesMissing``.
    var removesMissing = false

    /// - Throws: `ModelError` if a relationship or an inheritance leads from the store's entities to those of another
    ///   store; `DatabaseError` if the file cannot be opened; ``SealedStoreError`` if it does not fit the model.
    func open() throws -> OpenStore {
        if let database = description.options[SealedStore.databaseOption] as? Database {
            return try attach(to: database, reading(ownModel()))
        }
        let known = description.options[SealedStore.preparedOption] as? PreparedOpening
        // The position of the last stage that was run: the version of the store shows which stages remain.
        var reached: Int?
        return try ReplacedFile.beginningAgain { isFirst in
            try stagedMigration().reportingVersion(reached) {
                // The description may be used again after an error.
                let isKnown = isFirst && known?.isOpen ?? false
                let prepared = try (isKnown ? known : nil) ?? prepare(mayCreate: isFirst)
                return try prepared.finish(reached: &reached)
            }
        }
    }

    /// Opens or creates the database, and examines it without changing it.
    ///
    /// - Parameter mayCreate: Whether a file may be created.
    /// - Throws: as ``open()``.
    func prepare(mayCreate: Bool = true) throws -> PreparedOpening {
        let own = try ownModel()
        let reading = try reading(own)
        _ = try option(SealedStore.historyOption, as: HistoryOptions.self)
        let staged = try stagedMigration()
        let progress = try option(SealedStore.migrationProgressOption, as: Progress.self)
            .map { MigrationProgress($0).parts }
        var examined: (content: StoreContent, states: FileStates)?
        let mayCreate = mayCreate && !description.isReadOnly
        let database = try Self.openDatabase(description, createsIfMissing: mayCreate) { connection in
            try create(StoreSchema(model: own), reading.modelVersion, on: connection)
        } verify: { connection in
            examined = try reading.examine(on: connection, staged, progress: progress?.checks).map { content in
                (content, FileStates(content, reading, on: connection))
            }
        }
        return PreparedOpening(self, reading, staged, database, examined, progress: progress?.migration)
    }

    private func stagedMigration() throws -> StagedMigration {
        let stages = try option(SealedStore.migrationStagesOption, as: [StoreMigrationStage].self) ?? []
        return try StagedMigration(stages: stages, opening: self)
    }

    /// Opens a store on an open database, in the transaction of the calling thread.
    private func attach(to database: Database, _ reading: StoreReading) throws -> OpenStore {
        let content = try database.read { connection in
            let (metadata, plan) = try reading.fittingContent(on: connection)
            return try StoreContent(metadata, plan, on: connection, isCommitted: false)
        }
        let states = FileStates(content, reading)
        return OpenStore(description, database, content.plan, states, content.metadata, ownsDatabase: false)
    }

    /// Updates or migrates a store.
    func update(
        _ database: Database,
        _ reading: StoreReading,
        _ staged: StagedMigration,
        reached: inout Int?,
        progress: MigrationProgress?
    ) throws -> StoreContent {
        let before = try database.read { try SchemaPlan.metadata(on: $0).metadata.setAside }
        if reading.allowsMigration { try staged.run(on: database, reached: &reached, progress: progress) }
        var (content, hasMigrated) = try staged.reportingVersion(reached) {
            try waitingForOtherPrograms(on: database, progress) {
                try database.write(isBulk: true) { connection in
                    // Another program may have migrated the store to a later version meanwhile.
                    try reading.requireKnownVersion(SchemaPlan.metadata(on: connection).metadata)
                    try checked.adopt(for: connection, of: database)
                    return try update(reading, database, on: connection, progress: progress)
                }
            }
        }
        if hasMigrated { Self.shortenLog(of: database) }
        progress?.report(1)
        content.newlySetAside = content.metadata.setAside.filter { !before.contains($0) }
        return content
    }

    /// Updates or migrates a store in the transaction of a connection of its database.
    func update(
        _ reading: StoreReading,
        _ database: Database,
        on connection: Connection,
        progress: MigrationProgress?
    ) throws -> (content: StoreContent, hasMigrated: Bool) {
        let merge = DuplicateMerge(opening: self, reading: reading, database: database)
        let hasMerged = try merge.run(on: connection, progress: progress?.part(0, of: 2))
        return try reading.update(on: connection, progress: hasMerged ? progress?.part(1, of: 2) : progress)
    }

    /// The number of busy timeouts for which opening waits for another program's migration: ten minutes. A program that
    /// is suspended while it writes would otherwise block the opening forever.
    private static let maximumWaits = 60

    /// Repeats a transaction while another program writes and the store still has to be migrated or updated: a
    /// migration and the building of an index take longer than any other transaction.
    func waitingForOtherPrograms<R>(
        on database: Database,
        _ progress: MigrationProgress?,
        _ body: () throws -> R
    ) throws -> R {
        for _ in 0..<Self.maximumWaits {
            do {
                return try body()
            } catch DatabaseError.busy {
                try progress?.checkCancellation()
                let stored = try database.read { try SchemaPlan.metadata(on: $0).metadata }
                guard try reading(ownModel()).changes(stored) else { return try body() }
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
            defaultValues: try option(SealedStore.defaultValuesOption, as: SealedStore.DefaultValues.self),
            duplicateRules: try duplicateRules(),
            checked: checked,
            removesMissing: removesMissing
        )
    }

    /// The rules for duplicates of uniqueness constraints that a migration adds.
    func duplicateRules() throws -> [DuplicateRule] {
        try option(SealedStore.duplicateRulesOption, as: [DuplicateRule].self) ?? []
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
        return try Database(
            location(of: description),
            key: key(of: description),
            options: options(for: description, createsIfMissing: createsIfMissing),
            create: create,
            verify: verify
        )
    }

    /// Calls `body` in a read transaction of the file of a description, which stays as it is.
    static func examineDatabase(
        _ description: PersistentStoreDescription,
        _ body: (Connection) throws -> Void
    ) throws {
        try Database.examine(
            location(of: description),
            key: key(of: description),
            options: options(for: description, createsIfMissing: false),
            body
        )
    }

    private static func location(of description: PersistentStoreDescription) -> Database.Location {
        description.url.map { .file($0.path) } ?? .memory
    }

    static func options(
        for description: PersistentStoreDescription,
        createsIfMissing: Bool
    ) throws -> Database.Options {
        Database.Options(
            readOnly: description.isReadOnly,
            createsIfMissing: createsIfMissing,
            applicationID: applicationID,
            newestUserVersion: StoreMetadataTable.newestFormatVersion,
            memorySecurity: try memorySecurity(of: description),
            durability: try durability(of: description),
            functions: QueryFunctions.library
        )
    }

    private static func memorySecurity(of description: PersistentStoreDescription) throws -> Bool {
        guard let option = description.options[SealedStore.memorySecurityOption] else { return false }
        guard let isOn = option as? Bool else {
            throw SealedStoreError.malformedOption(SealedStore.memorySecurityOption)
        }
        return isOn
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
        try connection.execute("PRAGMA user_version = \(StoreMetadataTable.firstFormatVersion)")
        try StoreMetadataTable(
            uuid: UUID(),
            formatVersion: StoreMetadataTable.firstFormatVersion,
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
        try recordedModel(of: description).model
    }

    /// Returns the model of a store together with what is set aside in it. A store that is opened with it, for reading or
    /// writing, has everything again.
    ///
    /// - Throws: As ``model(of:)``.
    public static func modelWithSetAside(of description: PersistentStoreDescription) throws -> ManagedObjectModel {
        try recordedMetadata(of: description).fileModel
    }

    /// Returns what a store holds and the model of its last program does not have.
    ///
    /// - Throws: As ``model(of:)``.
    public static func setAside(in description: PersistentStoreDescription) throws -> [SetAside] {
        try recordedMetadata(of: description).setAside
    }

    /// Returns the model of a store, and the value of ``modelVersionOption`` with which it was last opened; nil if
    /// there was none.
    package static func recordedModel(
        of description: PersistentStoreDescription
    ) throws -> (model: ManagedObjectModel, version: String?) {
        let metadata = try recordedMetadata(of: description)
        return (metadata.model, metadata.modelVersion?.description)
    }

    private static func recordedMetadata(of description: PersistentStoreDescription) throws -> StoreMetadataTable {
        var metadata: StoreMetadataTable?
        try StoreOpening.examineDatabase(description) { connection in
            // Until this check, the table might be a view.
            _ = try SchemaText(on: connection)
            metadata = try StoreMetadataTable.read(on: connection)
        }
        guard let metadata else { preconditionFailure("A database is open that was not verified.") }
        return metadata
    }
}
