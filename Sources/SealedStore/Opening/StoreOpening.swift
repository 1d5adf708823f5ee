import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Opens or creates the database of a store, and examines and migrates it for the model of a program.
///
/// Data flows in one direction: the ``StoreFile`` is opened and verified; its ``StoreContent`` is read once in a
/// transaction; from the content, a ``StagedMigration`` makes the ``OpeningDecision``; a ``StoreMigrator`` carries it out;
/// the result is the ``OpenStore``.
struct StoreOpening {
    private let file: StoreFile
    private let staged: StagedMigration

    private var program: StoreReading { staged.program }

    /// - Throws: ``SealedStoreError/malformedOption(_:)``; ``SealedStoreError/malformedKey``; `ModelError` if a
    ///   relationship or an inheritance leads from the store's entities to an entity of another store.
    init(model: ManagedObjectModel, description: PersistentStoreDescription) throws {
        file = try StoreFile(description)
        staged = StagedMigration(program: try StoreReading(model, file.configuration))
    }

    /// - Parameter prepared: The store that this opening has prepared; nil if it has prepared none.
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError`` if it does not fit the model.
    func open(_ prepared: PreparedOpening? = nil) throws -> OpenStore {
        // The position of the last stage that was run: the version of the store shows which stages remain.
        var reached: Int?
        return try ReplacedFile.beginningAgain { isFirst in
            try staged.reportingVersion(reached) {
                // The description may be used again after an error, although its prepared store is then closed.
                let known = prepared.flatMap { isFirst && $0.isOpen ? $0 : nil }
                return try (known ?? prepare(mayCreate: isFirst)).finish(reached: &reached)
            }
        }
    }

    /// Opens or creates the database, and examines it without changing it.
    ///
    /// - Parameter mayCreate: Whether a file may be created.
    /// - Throws: as ``open(_:)``.
    func prepare(mayCreate: Bool = true) throws -> PreparedOpening {
        let progress = program.configuration.migrationProgress.map { MigrationProgress($0).parts }
        var examined: PreparedOpening.Examined?
        let database = try file.open(createsIfMissing: mayCreate && !program.isReadOnly) { connection in
            try create(on: connection)
        } verify: { connection in
            examined = try examine(on: connection, progress?.checks)
        }
        guard let examined else { preconditionFailure("A database is open that was not verified.") }
        return PreparedOpening(
            self,
            StoreMigrator(staged: staged, database: database, progress: progress?.migration),
            examined
        )
    }

    /// - Throws: The error of the decision if the store is refused.
    private func examine(on connection: Connection, _ progress: MigrationProgress?) throws -> PreparedOpening.Examined {
        // The file may have changed, or have been replaced, since an earlier attempt checked it.
        program.checked.removeAll()
        let content = try StoreContent.read(on: connection)
        switch try staged.decision(on: content, connection, progress: progress) {
        case .fits(let fitting): return .fits(fitting, FileStates(fitting, program, on: connection))
        // The decision finds the problems of a refused file before any code can write, so the file stays as it is.
        case .refused(let error): throw error
        case .updates, .migrates, .runsStage: return .changes(content.metadata)
        }
    }

    private func create(on connection: Connection) throws {
        let schema = StoreSchema(model: program.own)
        for statement in SchemaStatements(schema).all { try connection.execute(statement) }
        try StoreMetadataTable(
            uuid: UUID(),
            model: schema.model,
            names: schema.names,
            modelVersion: program.configuration.modelVersion
        ).write(on: connection)
        for entity in schema.model.entities where entity.isRoot {
            try PrimaryKeySequences.insert(1, ofRoot: entity.name, on: connection)
        }
    }
}

extension SealedStore {
    /// Returns the model of a store, without the program that created it.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened, ``SealedStoreError/notAStore`` if it is not a store,
    ///   ``SealedStoreError/damagedMetadata(_:)`` if its model cannot be read.
    public static func model(of description: PersistentStoreDescription) throws -> ManagedObjectModel {
        try recordedMetadata(of: description).model
    }

    /// Returns the model of a store together with the entities and properties that are set aside in it. A store that is
    /// opened with this model, for reading or writing, has all of them again.
    ///
    /// - Throws: As ``model(of:)``.
    public static func modelWithSetAside(of description: PersistentStoreDescription) throws -> ManagedObjectModel {
        try recordedMetadata(of: description).fileModel
    }

    /// Returns the entities and properties that a store holds and the model of its last program does not have.
    ///
    /// - Throws: As ``model(of:)``.
    public static func setAside(in description: PersistentStoreDescription) throws -> [SetAside] {
        try recordedMetadata(of: description).setAside
    }

    /// Returns the model of a store, and the value of ``modelVersionOption`` with which the store was last opened; nil
    /// if it was never opened with a value.
    package static func recordedModel(
        of description: PersistentStoreDescription
    ) throws -> (model: ManagedObjectModel, version: String?) {
        let metadata = try recordedMetadata(of: description)
        return (metadata.model, metadata.modelVersion?.description)
    }

    private static func recordedMetadata(of description: PersistentStoreDescription) throws -> StoreMetadataTable {
        try StoreFile(description).examine { try StoreContent.read(on: $0).metadata }
    }

    /// Migrates a store through the versions of its model, and closes it. Opening a store with
    /// ``SealedStore/SealedStore/migrationStagesOption`` does the same.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError``; an error that the code of a stage
    ///   throws.
    public static func migrate(
        _ description: PersistentStoreDescription,
        through stages: [StoreMigrationStage]
    ) throws {
        guard let last = stages.last else { return }
        var description = description
        description.options[migrationStagesOption] = stages
        let opened = try StoreOpening(model: last.model, description: description).open()
        try opened.database.close()
    }
}
