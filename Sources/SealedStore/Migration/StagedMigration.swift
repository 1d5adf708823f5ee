import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Migrates a store through the versions of its model.
struct StagedMigration {
    let stages: [StoreMigrationStage]
    let opening: StoreOpening

    /// The remaining stages of a store.
    private struct Entry {
        /// The position of the first remaining stage.
        let first: Int
        /// Whether the code of this stage is skipped, since the store does not have the previous version.
        let isInferred: Bool
    }

    /// Examines a store that does not have the program's model, without changing it.
    ///
    /// - Throws: ``SealedStoreError/cannotMigrate(_:)`` if its data fit no version.
    func examine(on connection: Connection) throws { _ = try entry(on: connection) }

    /// - Returns: Nil if no stage remains.
    private func entry(on connection: Connection) throws -> Entry? {
        let stored = try SchemaPlan.metadata(on: connection)
        guard case .shape = ModelChange.from(stored.metadata.model, to: try opening.ownModel()) else { return nil }
        for (position, stage) in stages.enumerated().reversed() {
            if case .shape = ModelChange.from(stored.metadata.model, to: try own(stage)) { continue }
            return position + 1 < stages.count ? Entry(first: position + 1, isInferred: false) : nil
        }
        var problems: [MigrationProblem] = []
        for (position, stage) in stages.enumerated() {
            let plan = try reading(stage).migration(from: stored.metadata, stored.fingerprint, on: connection)
            let found = try MigrationCheck.problems(plan.checks, on: connection)
            if found.isEmpty { return Entry(first: position, isInferred: true) }
            if problems.isEmpty { problems = found }
        }
        throw SealedStoreError.cannotMigrate(problems)
    }

    /// Runs the remaining stages, each in a separate transaction. If a stage fails, the previous stages remain
    /// committed.
    func run(on database: Database, progress: Progress?) throws {
        guard !stages.isEmpty else { return }
        while try opening.waitingForOtherPrograms(on: database, progress, { try takeStage(database, progress) }) {
            StoreOpening.shortenLog(of: database)
        }
    }

    /// - Returns: Whether a stage remained.
    private func takeStage(_ database: Database, _ progress: Progress?) throws -> Bool {
        try database.write { connection in
            // Another program may have run stages meanwhile.
            guard let entry = try entry(on: connection) else { return false }
            let stage = stages[entry.first]
            if !entry.isInferred, let code = stage.willMigrate {
                try run(code, on: stages[entry.first - 1], database, connection)
            }
            _ = try reading(stage).update(on: connection, progress: progress)
            if !entry.isInferred, let code = stage.didMigrate { try run(code, on: stage, database, connection) }
            return true
        }
    }

    /// Runs code on a version of the model, in the transaction of a connection.
    private func run(
        _ code: StoreMigrationStage.Code,
        on stage: StoreMigrationStage,
        _ database: Database,
        _ connection: Connection
    ) throws {
        // The cached state of the connection belongs to another model.
        connection.annotation = nil
        defer { connection.annotation = nil }
        SealedStore.register()
        var description = description(for: stage)
        description.type = SealedStore.storeType
        description.options[SealedStore.keyOption] = nil
        description.options[SealedStore.databaseOption] = database
        let coordinator = PersistentStoreCoordinator(model: stage.model, classes: stage.classes)
        try coordinator.addPersistentStore(description)
        defer { try? coordinator.removeAllStores() }
        try code(coordinator)
    }

    /// The description of the store for a stage. If the store holds all entities of the program's model, it holds all
    /// entities of the version's model.
    private func description(for stage: StoreMigrationStage) -> PersistentStoreDescription {
        var description = opening.description
        // The version of the program is recorded after the last stage.
        description.options[SealedStore.modelVersionOption] = nil
        guard let names = description.entityNames else { return description }
        let isWhole = names.count >= opening.model.entities.count
        description.entityNames = isWhole ? nil : names.intersection(stage.model.entitiesByName.keys)
        return description
    }

    private func own(_ stage: StoreMigrationStage) throws -> ManagedObjectModel {
        try StoreOpening(model: stage.model, description: description(for: stage)).ownModel()
    }

    private func reading(_ stage: StoreMigrationStage) throws -> StoreReading {
        try StoreOpening(model: stage.model, description: description(for: stage)).reading(own(stage))
    }
}

extension SealedStore {
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
