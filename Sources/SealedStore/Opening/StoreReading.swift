import EncryptedSQLite
import ObjectGraph

/// The content of a store's file as a program's model reads it, without a change of the file.
struct FittingContent {
    /// The metadata, with the names that the tables and columns of the program's model have in the file.
    let metadata: StoreMetadataTable
    let plan: SchemaPlan
    /// The version of the schema that was read; nil if it is not committed yet.
    let version: Int64?
}

/// Reads the content of a store for a program's model, and decides what its opening has to do.
struct StoreReading: Sendable {
    let model: ManagedObjectModel
    /// The part of the model that the store holds.
    let own: ManagedObjectModel
    let configuration: StoreConfiguration
    /// The results of the checks of an opening.
    let checked: MigrationCheckResults
    /// Whether a migration removes the entities and properties that the model does not have, as a stage of a plan does,
    /// instead of setting them aside.
    let removesMissing: Bool

    var isReadOnly: Bool { configuration.isReadOnly }
    var allowsMigration: Bool { configuration.allowsMigration }

    /// - Throws: `ModelError` if a relationship or an inheritance leads from the store's entities to an entity of
    ///   another store.
    init(
        _ model: ManagedObjectModel,
        _ configuration: StoreConfiguration,
        _ checked: MigrationCheckResults = MigrationCheckResults(),
        removesMissing: Bool = false
    ) throws {
        self.model = model
        own = try configuration.part(of: model)
        self.configuration = configuration
        self.checked = checked
        self.removesMissing = removesMissing
    }

    /// The difference between a store and the model.
    func change(from stored: StoreMetadataTable) -> ModelChange {
        stored.change(to: own, removesMissing: removesMissing)
    }

    // MARK: Fitting

    /// The content of a store that fits the model, possibly under other names, without a change of its tables.
    ///
    /// - Throws: ``SealedStoreError/modelMismatch(_:)`` if the store has to be migrated.
    func fitting(
        _ content: StoreContent,
        on connection: Connection
    ) throws -> (metadata: StoreMetadataTable, plan: SchemaPlan) {
        let stored = content.metadata
        guard case .shape(let differences) = stored.change(to: own) else {
            return (stored, try content.plan(for: model, own: own, on: connection))
        }
        guard isReadOnly, allowsMigration else { throw SealedStoreError.modelMismatch(differences) }
        let target = MigrationPlan.Target(own: own, union: own, refusesLosses: false, isForReading: true)
        let migration = try migration(of: content, to: target, on: connection)
        let obstacles = migration.sources.obstacles
        guard obstacles.isEmpty else { throw Self.cannotRead(differences, obstacles) }
        // The known results belong to the connections of the opening, so they are not used here.
        let problems = try MigrationCheckResults().problems(migration.checks, on: connection, progress: nil)
            .filter(\.preventsReading)
        guard problems.isEmpty else { throw SealedStoreError.cannotMigrate(problems) }
        let names = migration.metadata.names
        let plan = SchemaPlan(reading: content, with: model, own: own, names, migration.sources)
        let metadata = migration.metadata.with(model: migration.metadata.model, union: nil, names: plan.schema.names)
        // The file itself is not migrated, so it keeps its count of migrations.
        return (metadata.with(migrationCount: stored.migrationCount), plan)
    }

    /// As ``fitting(_:on:)``, with the version of the schema.
    func fittingContent(_ content: StoreContent, on connection: Connection) throws -> FittingContent {
        let (metadata, plan) = try fitting(content, on: connection)
        // The changes of a write transaction may be rolled back, so its version is not known as committed.
        let version = connection.isWriting ? nil : try connection.schemaVersion()
        return FittingContent(metadata: metadata, plan: plan, version: version)
    }

    /// The error for a store that has to be migrated, and is opened for reading only.
    static func cannotRead(_ differences: [String], _ obstacles: [String]) -> SealedStoreError {
        let end = "the store is opened for reading only, and a program that writes must migrate it"
        return .modelMismatch(differences + obstacles + [end])
    }

    // MARK: Deciding

    /// What the opening has to do so that a store has the model.
    ///
    /// - Parameter progress: Reports the progress of the checks of rows.
    func decision(
        on content: StoreContent,
        _ connection: Connection,
        progress: MigrationProgress?
    ) throws -> OpeningDecision {
        let change = change(from: content.metadata)
        switch change {
        case .shape(let differences):
            guard !isReadOnly else { return .fits(try fittingContent(content, on: connection)) }
            guard allowsMigration else { return .refused(.modelMismatch(differences)) }
            let migration = try migration(of: content, on: connection)
            let problems = try checked.problems(migration.checks, on: connection, progress: progress)
            let unresolved = unresolved(problems)
            return unresolved.isEmpty
                ? .migrates(migration, resolving: problems) : .refused(.cannotMigrate(unresolved))
        case .visibility(let differences):
            guard allowsMigration else { return .refused(.modelMismatch(differences)) }
        case .none, .rules: break
        }
        let fitting = try fittingContent(content, on: connection)
        return isReadOnly || !needsUpdate(content.metadata) ? .fits(fitting) : .updates(change)
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

    /// Whether the version of the program's model is later than the version of a store.
    func isLater(than stored: StoreMetadataTable) -> Bool {
        // If the program does not migrate, the store does not reach the version: a stage that changes only data may
        // remain.
        guard let version = configuration.modelVersion, allowsMigration else { return false }
        return stored.modelVersion.map { $0 < version } ?? true
    }

    /// The version of a store, if the program must not open the store because its version is later than the version of
    /// the program. A program without a version may open a later store only if it has the same model: a migration would
    /// remove the changes of the later version.
    func laterVersion(of stored: StoreMetadataTable) -> ModelVersion? {
        guard !configuration.isDuringMigration, let found = stored.modelVersion, supportedVersion < found else {
            return nil
        }
        if configuration.modelVersion == nil, ModelChange.from(stored.model, to: own).keepsShape { return nil }
        return found
    }

    /// The error that refuses a store of a later version; nil if the program may open it.
    func refusal(of stored: StoreMetadataTable) -> SealedStoreError? {
        laterVersion(of: stored).map {
            .newerModel(found: $0.description, supported: supportedVersion.description)
        }
    }

    private var supportedVersion: ModelVersion { configuration.modelVersion ?? .undeclared }

    // MARK: Planning

    /// The plan of a migration of a store to the model. The schema of the file is first checked against its metadata.
    ///
    /// - Throws: ``SealedStoreError/modelMismatch(_:)`` if the models have no common entity.
    func migration(of content: StoreContent, on connection: Connection) throws -> MigrationPlan {
        let union = ModelUnion.of(own, content.metadata, removesMissing: removesMissing).model
        let target = MigrationPlan.Target(own: own, union: union, refusesLosses: !removesMissing)
        return try migration(of: content, to: target, on: connection)
    }

    private func migration(
        of content: StoreContent,
        to target: MigrationPlan.Target,
        on connection: Connection
    ) throws -> MigrationPlan {
        // If the models have no common entity, all objects would be set aside: the file belongs to another program.
        let stored = content.metadata
        let mapping = ModelMapping(from: stored.fileModel, to: own)
        if mapping.newEntities.isEmpty, !stored.fileModel.entities.isEmpty {
            let differences = ModelComparison(ModelMapping(from: stored.model, to: own)).differences
            throw SealedStoreError.modelMismatch([SealedStoreError.noCommonEntity] + differences)
        }
        try content.verify(on: connection)
        let file = try MigratedFile(on: connection)
        return try MigrationPlan(from: stored, to: target, file, defaultValues: configuration.defaultValues)
    }

    /// The problems that no rule for duplicates resolves.
    func unresolved(_ problems: [MigrationProblem]) -> [MigrationProblem] {
        problems.filter { !configuration.duplicateRules.resolve($0, in: own) }
    }
}
