import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Takes a store through the versions of its model.
struct StagedMigration {
    let stages: [StoreMigrationStage]
    let opening: StoreOpening

    /// The stages that are ahead of a store.
    private struct Entry {
        /// The position of the first one.
        let first: Int
        /// Whether its code is left out, since the store does not have the version before.
        let isInferred: Bool
    }

    /// Examines a store that does not have the program's model, and changes nothing.
    ///
    /// - Throws: ``SealedStoreError/cannotMigrate(_:)`` if its data fit no version.
    func examine(on connection: Connection) throws { _ = try entry(on: connection) }

    /// - Returns: Nil if no stage is ahead.
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

    /// Takes the stages that are ahead, each in a transaction of its own. Those before one that fails stay.
    func run(on database: Database, progress: Progress?) throws {
        guard !stages.isEmpty else { return }
        while try opening.waitingForOtherPrograms(on: database, progress, { try takeStage(database, progress) }) {
            StoreOpening.shortenLog(of: database)
        }
    }

    /// - Returns: Whether there was a stage to take.
    private func takeStage(_ database: Database, _ progress: Progress?) throws -> Bool {
        try database.write { connection in
            // Other programs may have taken stages meanwhile.
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

    /// Runs code on a version of the model, in the transaction that a connection is in.
    private func run(
        _ code: StoreMigrationStage.Code,
        on stage: StoreMigrationStage,
        _ database: Database,
        _ connection: Connection
    ) throws {
        // The states of the file that the connection knows are those of another model.
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

    /// The description of the store for a stage. A store that holds all entities of the program's model holds all of the
    /// version's.
    private func description(for stage: StoreMigrationStage) -> PersistentStoreDescription {
        var description = opening.description
        // The version of the program is recorded once all stages are taken.
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
    /// Takes a store through the versions of its model, and closes it. Opening a store with
    /// ``SealedStore/SealedStore/migrationStagesOption`` does the same.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError``; an error that the code of a stage throws.
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
