import EncryptedSQLite
import Foundation
import ObjectGraph

/// The content of an existing store from the point of view of a program's model.
struct StoreContent {
    /// The metadata, under the names of the program's model.
    let metadata: StoreMetadataTable
    let plan: SchemaPlan
    /// The version of the schema; nil if it is not the last committed one.
    let version: Int64?
    /// What the opening has set aside.
    var newlySetAside: [SetAside] = []

    init(
        _ metadata: StoreMetadataTable,
        _ plan: SchemaPlan,
        on connection: Connection,
        isCommitted: Bool
    ) throws {
        self.metadata = metadata
        self.plan = plan
        version = isCommitted ? try connection.schemaVersion() : nil
    }
}

/// Reads the content of existing stores for a program's model, and updates or migrates it.
struct StoreReading: Sendable {
    let model: ManagedObjectModel
    /// The part of the model that the store holds.
    let own: ManagedObjectModel
    let isReadOnly: Bool
    let allowsMigration: Bool
    let modelVersion: ModelVersion?
    let defaultValues: SealedStore.DefaultValues?
    let duplicateRules: [DuplicateRule]
    /// The results of the checks of an opening.
    let checked: MigrationCheckResults
    /// Whether a migration removes what the model does not have, as a stage of a plan does, instead of setting it aside.
    let removesMissing: Bool

    /// The difference between a store and the model.
    func change(from stored: StoreMetadataTable) -> ModelChange {
        stored.change(to: own, removesMissing: removesMissing)
    }

    /// Reads the metadata of a store that fits the model, possibly under other names, without a change of its tables.
    ///
    /// - Parameter known: The metadata of the file, if they have been read.
    /// - Throws: ``SealedStoreError/modelMismatch(_:)`` if the store has to be migrated.
    func fittingContent(
        on connection: Connection,
        known: (metadata: StoreMetadataTable, schemaText: SchemaText)? = nil
    ) throws -> (metadata: StoreMetadataTable, plan: SchemaPlan) {
        let (stored, schemaText) = try known ?? SchemaPlan.metadata(on: connection)
        guard case .shape(let differences) = stored.change(to: own) else {
            return (stored, try schemaPlan(schemaText, on: connection, stored))
        }
        guard isReadOnly, allowsMigration else { throw SealedStoreError.modelMismatch(differences) }
        let migration = try migration(from: stored, schemaText, on: connection, isForReading: true)
        let obstacles = migration.sources.obstacles
        guard obstacles.isEmpty else { throw Self.cannotRead(differences, obstacles) }
        // Without known results, which belong to the connections of the opening.
        let problems = try MigrationCheckResults().problems(migration.checks, on: connection, progress: nil)
            .filter(\.preventsReading)
        guard problems.isEmpty else { throw SealedStoreError.cannotMigrate(problems) }
        let plan = SchemaPlan(reading: stored, with: model, own: own, migration)
        let metadata = migration.metadata.with(model: migration.metadata.model, union: nil, names: plan.schema.names)
        // The file itself is not migrated.
        return (metadata.with(migrationCount: stored.migrationCount), plan)
    }

    /// The error for a store that has to be migrated, and is opened for reading only.
    private static func cannotRead(_ differences: [String], _ obstacles: [String]) -> SealedStoreError {
        let end = "the store is opened for reading only, and a program that writes must migrate it"
        return .modelMismatch(differences + obstacles + [end])
    }

    /// Examines a store when it is opened, without changing it.
    ///
    /// - Returns: Nil if the store must be updated and the options allow it.
    /// - Throws: ``SealedStoreError``.
    func examine(
        on connection: Connection,
        _ staged: StagedMigration,
        progress: MigrationProgress?
    ) throws -> StoreContent? {
        // The file may be another one than that of an earlier attempt.
        checked.removeAll()
        if let (metadata, plan) = try SchemaPlan.fitting(on: connection, for: model, own: own),
            try isExamined(metadata, staged)
        {
            try requireKnownVersion(metadata)
            guard isReadOnly || !needsUpdate(metadata) else { return nil }
            return try StoreContent(metadata, plan, on: connection, isCommitted: true)
        }
        let (stored, schemaText) = try SchemaPlan.metadata(on: connection)
        try requireKnownVersion(stored)
        let change = ModelChange.from(stored.model, to: own)
        if !isReadOnly, allowsMigration, !change.keepsShape {
            // A refused file stays as it is, so problems are found before any code can write.
            if !staged.stages.isEmpty {
                try staged.examine(on: connection, progress: progress)
                return nil
            }
            let plan = try migration(from: stored, schemaText, on: connection)
            let problems = try unresolved(checked.problems(plan.checks, on: connection, progress: progress))
            guard problems.isEmpty else { throw SealedStoreError.cannotMigrate(problems) }
            return nil
        }
        if isReadOnly, allowsMigration, !change.keepsShape, try staged.hasCodeAhead(of: stored) {
            throw Self.cannotRead(change.differences, ["the stages of the migration run code"])
        }
        let (metadata, plan) = try fittingContent(on: connection)
        guard isReadOnly || !needsUpdate(metadata) else { return nil }
        return try StoreContent(metadata, plan, on: connection, isCommitted: true)
    }

    /// Whether a store whose tables fit the model needs no further examination: the stages of a plan do not concern it.
    ///
    /// - Throws: ``SealedStoreError/modelMismatch(_:)`` if other entities and properties would be set aside than before,
    ///   and the store may not be migrated.
    private func isExamined(_ stored: StoreMetadataTable, _ staged: StagedMigration) throws -> Bool {
        guard case .visibility(let differences) = stored.change(to: own) else { return true }
        guard allowsMigration else { throw SealedStoreError.modelMismatch(differences) }
        return staged.stages.isEmpty
    }

    /// Whether opening changes a store whose tables fit the model.
    func needsUpdate(_ stored: StoreMetadataTable) -> Bool {
        if !stored.names.missingIndexes(of: own).isEmpty { return true }
        if case .none = ModelChange.from(stored.model, to: own) {} else if allowsMigration { return true }
        return isLater(than: stored)
    }

    /// Whether opening migrates or updates a store.
    func changes(_ stored: StoreMetadataTable) -> Bool {
        !ModelChange.from(stored.model, to: own).keepsShape || needsUpdate(stored)
    }

    private func isLater(than stored: StoreMetadataTable) -> Bool {
        // Without a migration, the store does not reach the version: a stage may remain that changes only data.
        guard let modelVersion, allowsMigration else { return false }
        return stored.modelVersion.map { $0 < modelVersion } ?? true
    }

    /// Updates or migrates a store in the transaction of a connection.
    ///
    /// - Throws: ``SealedStoreError``; `CancellationError`.
    func update(on connection: Connection, progress: MigrationProgress?) throws -> (
        content: StoreContent, hasMigrated: Bool
    ) {
        let (stored, schemaText) = try SchemaPlan.metadata(on: connection)
        var hasMigrated = false
        switch change(from: stored) {
        case .shape(let differences), .visibility(let differences):
            guard allowsMigration else { throw SealedStoreError.modelMismatch(differences) }
            if change(from: stored).keepsTables {
                try record(stored, on: connection)
                break
            }
            let migration = try migration(from: stored, schemaText, on: connection)
            _ = try StoreMigration(migration, checked, on: connection, progress: progress).run()
            hasMigrated = true
        case .rules where allowsMigration: try record(stored, on: connection)
        case .none, .rules: break
        }
        if !hasMigrated { _ = try IndexUpdate(on: connection, for: model, own: own).addMissing() }
        let (updated, newSchemaText) = try SchemaPlan.metadata(on: connection)
        try complete(updated, from: stored, on: connection)
        if isLater(than: updated) { try updated.with(modelVersion: modelVersion).writeNoticeably(on: connection) }
        // The result is verified like any file that is opened, before the commit.
        let plan = try schemaPlan(newSchemaText, on: connection, updated)
        let content = try StoreContent(updated, plan, on: connection, isCommitted: false)
        return (content, hasMigrated)
    }

    /// Records the models of a store whose tables do not change.
    private func record(_ stored: StoreMetadataTable, on connection: Connection) throws {
        let recorded = try stored.opened(by: own, removesMissing: removesMissing)
        try recorded.write(on: connection)
        if !StoreSchema(model: recorded.fileModel).makesTables(of: StoreSchema(model: stored.fileModel)) {
            try StoreMetadataTable.noteOtherOrder(on: connection)
        }
    }

    /// Completes what a migration cannot take from the tables if something comes back that was set aside.
    private func complete(_ updated: StoreMetadataTable, from stored: StoreMetadataTable, on connection: Connection)
        throws
    {
        guard !Set(stored.setAside).isSubset(of: updated.setAside) else { return }
        // Programs without an ordered relationship do not number its members.
        let schema = StoreSchema(model: updated.fileModel, names: updated.names)
        try ContentRepair(connection, schema, entityNames: nil).renumberMembers()
    }

    // MARK: Parts

    /// The plan of a migration of a file. The schema of the file is first checked against its metadata.
    ///
    /// - Parameter isForReading: Whether the plan is not carried out.
    func migration(
        from stored: StoreMetadataTable,
        _ schemaText: SchemaText,
        on connection: Connection,
        isForReading: Bool = false
    ) throws -> MigrationPlan {
        // Without a common entity, all objects would be set aside: the file belongs to another program.
        let mapping = ModelMapping(from: stored.fileModel, to: own)
        if mapping.newEntities.isEmpty, !stored.fileModel.entities.isEmpty {
            let mapping = ModelMapping(from: stored.model, to: own)
            let differences = ModelComparison(mapping).differences
            throw SealedStoreError.modelMismatch([SealedStoreError.noCommonEntity] + differences)
        }
        _ = try SchemaPlan.verified(
            schemaText,
            on: connection,
            for: stored.fileModel,
            own: stored.fileModel,
            stored
        )
        let target: MigrationPlan.Target =
            isForReading
            ? .init(own: own, union: own, refusesLosses: false, isForReading: true)
            : .init(
                own: own,
                union: ModelUnion.of(own, stored, removesMissing: removesMissing).model,
                refusesLosses: !removesMissing
            )
        return try MigrationPlan(from: stored, to: target, MigratedFile(on: connection), defaultValues: defaultValues)
    }

    /// The problems that no rule for duplicates resolves.
    func unresolved(_ problems: [MigrationProblem]) -> [MigrationProblem] {
        problems.filter { !duplicateRules.resolve($0, in: own) }
    }

    /// Refuses a store of a later version. A program without a version may open it only if it has the program's model:
    /// a migration would remove the changes of the later version.
    ///
    /// - Throws: ``SealedStoreError/newerModel(found:supported:)``.
    func requireKnownVersion(_ stored: StoreMetadataTable) throws {
        let supported = modelVersion ?? .undeclared
        guard let found = stored.modelVersion, supported < found else { return }
        if modelVersion == nil, ModelChange.from(stored.model, to: own).keepsShape { return }
        throw SealedStoreError.newerModel(found: found.description, supported: supported.description)
    }

    private func schemaPlan(
        _ schemaText: SchemaText,
        on connection: Connection,
        _ metadata: StoreMetadataTable
    ) throws -> SchemaPlan {
        try SchemaPlan.verified(schemaText, on: connection, for: model, own: own, metadata)
    }
}
