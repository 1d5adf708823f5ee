import EncryptedSQLite
import Foundation
public import ObjectGraph

/// Migrates a store through the versions of its model.
struct StagedMigration {
    let stages: [StoreMigrationStage]
    private let opening: StoreOpening
    /// The versions of the stages; empty unless all stages have one.
    private let versions: [ModelVersion]

    /// - Throws: ``SealedStoreError/malformedOption(_:)`` for a malformed version, and for versions that do not ascend.
    init(stages: [StoreMigrationStage], opening: StoreOpening) throws {
        self.stages = stages
        self.opening = opening
        versions = try Self.versions(of: stages)
    }

    /// The versions of stages; empty unless all stages have one.
    static func versions(of stages: [StoreMigrationStage]) throws -> [ModelVersion] {
        let texts = stages.compactMap(\.version)
        guard texts.count == stages.count else { return [] }
        let versions = texts.compactMap(ModelVersion.init)
        // The version of a store shows which stages remain.
        guard versions.count == texts.count, zip(versions, versions.dropFirst()).allSatisfy(<) else {
            throw SealedStoreError.malformedOption(SealedStore.migrationStagesOption)
        }
        return versions
    }

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
    func examine(on connection: Connection, progress: MigrationProgress?) throws {
        _ = try entry(on: connection, progress)
    }

    /// - Returns: Nil if no stage remains.
    private func entry(on connection: Connection, _ progress: MigrationProgress?) throws -> Entry? {
        let stored = try SchemaPlan.metadata(on: connection)
        // Another program may have migrated the store to a later version meanwhile.
        try opening.reading(opening.ownModel()).requireKnownVersion(stored.metadata)
        let model = stored.metadata.model
        let matches = try matches(model)
        // Without this, stages would change a store that has the program's model.
        if ModelChange.from(model, to: try opening.ownModel()).keepsShape, matches.last != stages.indices.last {
            return nil
        }
        if let reached = reached(stored.metadata.modelVersion, matches) {
            return reached + 1 < stages.count ? Entry(first: reached + 1, isInferred: false) : nil
        }
        return try inferredEntry(stored, on: connection, progress)
    }

    /// The positions of the versions whose model a store has.
    private func matches(_ model: ManagedObjectModel) throws -> [Int] {
        try stages.indices.filter { position in
            let own = try versionOpening(position, description(at: position, of: model)).ownModel()
            return ModelChange.from(model, to: own).keepsShape
        }
    }

    /// Whether a stage after the version of a store has code. A store of no version skips the code of one stage, which
    /// depends on its data: the code of every stage counts.
    func hasCodeAhead(of stored: StoreMetadataTable) throws -> Bool {
        let next = reached(stored.modelVersion, try matches(stored.model)).map { $0 + 1 } ?? 0
        return stages[next...].contains(where: \.hasCode)
    }

    /// The position of the version that a store has reached, among the versions whose model it has; nil if it has the
    /// model of no version.
    private func reached(_ recorded: ModelVersion?, _ matches: [Int]) -> Int? {
        // A stage that changes only other entities must not run its code: it would not find the objects.
        guard let first = matches.first, let last = matches.last, !versions.isEmpty, opening.holdsWholeModel else {
            return matches.last
        }
        if let recorded, let position = matches.last(where: { versions[$0] <= recorded }) { return position }
        let hasCode = stages[first...last].dropFirst().contains(where: \.hasCode)
        return hasCode ? first : last
    }

    /// The first version, from the recorded one on, to which inference can migrate a store without losing entities and
    /// properties that a later version still has.
    private func inferredEntry(
        _ stored: (metadata: StoreMetadataTable, schemaText: SchemaText),
        on connection: Connection,
        _ progress: MigrationProgress?
    ) throws -> Entry {
        var first = 0
        if let recorded = stored.metadata.modelVersion, !versions.isEmpty {
            // Earlier versions lack the properties that the store has got since.
            first = versions.firstIndex { recorded <= $0 } ?? stages.count - 1
        }
        let model = stored.metadata.model
        let kept = try (first..<stages.count).map { position in
            let target = try reading(position, of: model, isTarget: true).own
            return ModelMapping(from: model, to: target).keptDeclarations
        }
        var refusal: SealedStoreError?
        for position in first..<stages.count {
            let keepsAll = kept[(position - first)...].allSatisfy { $0.isSubset(of: kept[position - first]) }
            guard keepsAll else { continue }
            do {
                let reading = try reading(position, of: model, isTarget: true)
                let plan = try reading.migration(from: stored.metadata, stored.schemaText, on: connection)
                let found = try opening.checked.problems(plan.checks, on: connection, progress: progress)
                let problems = reading.unresolved(found)
                if problems.isEmpty {
                    try requireNoSkippedCode(through: position, stored.metadata, keeping: reading.own)
                    return Entry(first: position, isInferred: true)
                }
                refusal = refusal ?? .cannotMigrate(problems)
            } catch SealedStoreError.modelMismatch(let differences) {
                // The version has none of the store's entities.
                refusal = refusal ?? .modelMismatch(differences)
            }
        }
        throw refusal ?? .cannotMigrate([])
    }

    /// Throws ``SealedStoreError/skippedStages(stages:differences:)`` if a store of no version would enter at a stage past
    /// code that has not run on it, and that stage does not allow it.
    ///
    /// - Parameter version: The model of the stage.
    private func requireNoSkippedCode(
        through position: Int,
        _ stored: StoreMetadataTable,
        keeping version: ManagedObjectModel
    ) throws {
        guard !stages[position].admitsOtherModels else { return }
        let skipped = stages[...position].indices.filter { index in
            let hasRun = stored.modelVersion.map { !versions.isEmpty && versions[index] <= $0 } ?? false
            return !hasRun && stages[index].hasCode
        }
        guard !skipped.isEmpty else { return }
        throw SealedStoreError.skippedStages(
            stages: skipped.map { stages[$0].version ?? String($0 + 1) },
            differences: ModelComparison(ModelMapping(from: stored.model, to: version)).differences
        )
    }

    /// Runs the remaining stages, each in a separate transaction. If a stage fails, the previous stages remain
    /// committed.
    ///
    /// - Parameter reached: The position of the last stage that was run, also before this call; nil if none was.
    func run(on database: Database, reached: inout Int?, progress: MigrationProgress?) throws {
        guard !stages.isEmpty else { return }
        var first: Int?
        let next = {
            try opening.waitingForOtherPrograms(on: database, progress) {
                try takeStage(database, progress, first: first)
            }
        }
        while let stage = try reportingVersion(reached, next) {
            first = first ?? stage
            reached = stage
            StoreOpening.shortenLog(of: database)
        }
    }

    /// Runs `body`, whose refusal contains the version that the store has reached.
    ///
    /// - Parameter reached: The position of the last stage that was run; nil if the store is unchanged.
    func reportingVersion<R>(_ reached: Int?, _ body: () throws -> R) throws -> R {
        guard let reached else { return try body() }
        do {
            return try body()
        } catch SealedStoreError.cannotMigrate(let problems) {
            let version = stages[reached].version ?? String(reached + 1)
            throw SealedStoreError.stoppedMigration(reached: version, problems: problems)
        }
    }

    /// - Parameter first: The position of the first stage that was run; nil if none was.
    /// - Returns: The position of the stage that was run; nil if none remained.
    private func takeStage(_ database: Database, _ progress: MigrationProgress?, first: Int?) throws -> Int? {
        try database.write(isBulk: true) { connection in
            try opening.checked.adopt(for: connection, of: database)
            // Another program may have run stages meanwhile.
            guard let entry = try entry(on: connection, progress) else { return nil }
            let (position, stage) = (entry.first, stages[entry.first])
            let first = min(first ?? position, position)
            let progress = progress?.part(position - first, of: stages.count - first)
            let (willMigrate, didMigrate) = entry.isInferred ? (nil, nil) : (stage.willMigrate, stage.didMigrate)
            if let willMigrate { try run(willMigrate, at: position - 1, database, connection) }
            let stored = try SchemaPlan.metadata(on: connection).metadata
            var target = versionOpening(position, description(at: position, of: stored.model, isTarget: true))
            // The plan says what the version does not have, but nothing of a store that has none of its versions.
            target.removesMissing = !entry.isInferred
            _ = try target.update(target.reading(target.ownModel()), database, on: connection, progress: progress)
            if let didMigrate { try run(didMigrate, at: position, database, connection) }
            try record(position, hasRunCode: willMigrate != nil || didMigrate != nil, on: connection)
            return position
        }
    }

    /// Records that a store has reached a version.
    ///
    /// - Parameter hasRunCode: Whether code has migrated data. It counts as a migration, also if the version has the
    ///   shape of the one before: programs that have the store open must not go on with data of their version.
    private func record(_ position: Int, hasRunCode: Bool, on connection: Connection) throws {
        let stored = try SchemaPlan.metadata(on: connection).metadata
        var reached = stored
        if !versions.isEmpty, stored.modelVersion.map({ $0 < versions[position] }) ?? true {
            reached = reached.with(modelVersion: versions[position])
        }
        if hasRunCode { reached = reached.with(migrationCount: stored.migrationCount + 1) }
        guard reached.modelVersion != stored.modelVersion || hasRunCode else { return }
        try reached.writeNoticeably(on: connection)
    }

    /// Runs code on the version of the model that a store has, in the transaction of a connection.
    private func run(
        _ code: StoreMigrationStage.Code,
        at position: Int,
        _ database: Database,
        _ connection: Connection
    ) throws {
        let stored = try SchemaPlan.metadata(on: connection).metadata
        try versionOpening(position, description(at: position, of: stored.model))
            .run(code, classes: stages[position].classes, on: database)
    }

    /// The description of a store for a version. If the store holds all entities of the program's model, it holds all
    /// entities of the version's model.
    ///
    /// - Parameters:
    ///   - model: The model in the store's file.
    ///   - isTarget: Whether the store is to be migrated to the version.
    private func description(
        at position: Int,
        of model: ManagedObjectModel,
        isTarget: Bool = false
    ) -> PersistentStoreDescription {
        var description = opening.description
        // The version of the program is recorded after the last stage.
        description.options[SealedStore.modelVersionOption] = nil
        description.options[SealedStore.migrationStagesOption] = nil
        if let defaultValues = stages[position].defaultValues {
            description.options[SealedStore.defaultValuesOption] = defaultValues
        }
        let rules = description.options[SealedStore.duplicateRulesOption] as? [DuplicateRule] ?? []
        description.options[SealedStore.duplicateRulesOption] = stages[position].duplicateRules + rules
        description.entityNames = entities?.names(at: position, in: model, isTarget: isTarget)
        return description
    }

    /// The entities of the versions; nil if the store holds all of them.
    private var entities: StageEntities? {
        guard let names = opening.description.entityNames, !opening.holdsWholeModel else { return nil }
        return StageEntities(stages.map(\.model), before: opening.model, own: names)
    }

    private func versionOpening(_ position: Int, _ description: PersistentStoreDescription) -> StoreOpening {
        StoreOpening(model: stages[position].model, description: description, checked: opening.checked)
    }

    private func reading(_ position: Int, of model: ManagedObjectModel, isTarget: Bool) throws -> StoreReading {
        let opening = versionOpening(position, description(at: position, of: model, isTarget: isTarget))
        return try opening.reading(opening.ownModel())
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
