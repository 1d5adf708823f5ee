import EncryptedSQLite
import ObjectGraph

/// Decides through which versions of its model a store is migrated.
///
/// The stages come before the tables: after the last stage, the store is migrated or updated to the model of the
/// program by inference. Without stages, only this last step remains.
struct StagedMigration: Sendable {
    /// Reads the store for the model of the program.
    let program: StoreReading

    var stages: [StoreMigrationStage] { program.configuration.stages }
    /// The versions of the stages; empty unless all stages have a version.
    var versions: [ModelVersion] { program.configuration.stageVersions }

    /// A stage that is to be run on a store.
    struct Entry {
        let position: Int
        /// Whether the code of the stage is skipped, since the store does not have the previous version.
        let isInferred: Bool
    }

    // MARK: Deciding

    /// What the opening has to do with a store next.
    ///
    /// - Parameter progress: Reports the progress of the checks of rows.
    /// - Throws: ``SealedStoreError`` for a damaged store; `CancellationError`.
    func decision(
        on content: StoreContent,
        _ connection: Connection,
        progress: MigrationProgress?
    ) throws -> OpeningDecision {
        let stored = content.metadata
        if let refusal = program.refusal(of: stored) { return .refused(refusal) }
        if let decision = try stageDecision(on: content, connection, progress) { return decision }
        return try program.decision(on: content, connection, progress: progress)
    }

    /// The decision on the stages; nil if no stage concerns the store.
    private func stageDecision(
        on content: StoreContent,
        _ connection: Connection,
        _ progress: MigrationProgress?
    ) throws -> OpeningDecision? {
        let stored = content.metadata
        guard !stages.isEmpty, program.allowsMigration else { return nil }
        let change = ModelChange.from(stored.model, to: program.own)
        guard !program.isReadOnly else {
            return try !change.keepsShape && hasCodeAhead(of: stored)
                ? .refused(StoreReading.cannotRead(change.differences, ["the stages of the migration run code"])) : nil
        }
        guard program.changes(stored) else { return nil }
        let matches = try matches(stored.model)
        // Without this check, stages would change a store that has the program's model.
        if change.keepsShape, matches.last != stages.indices.last { return nil }
        if let reached = reached(stored.modelVersion, matches) {
            return reached + 1 < stages.count ? .runsStage(Entry(position: reached + 1, isInferred: false)) : nil
        }
        return try inferredDecision(on: content, connection, progress)
    }

    /// The positions of the versions whose model a store has.
    private func matches(_ model: ManagedObjectModel) throws -> [Int] {
        try stages.indices.filter { position in
            ModelChange.from(model, to: try reading(position, of: model).own).keepsShape
        }
    }

    /// Whether a stage after the version of a store has code. A store whose model is not the model of any version
    /// enters at a stage that depends on its data, so the code of every stage counts.
    private func hasCodeAhead(of stored: StoreMetadataTable) throws -> Bool {
        let next = reached(stored.modelVersion, try matches(stored.model)).map { $0 + 1 } ?? 0
        return stages[next...].contains(where: \.hasCode)
    }

    /// The position of the version that a store has reached, among the versions whose model it has; nil if its model is
    /// not the model of any version.
    private func reached(_ recorded: ModelVersion?, _ matches: [Int]) -> Int? {
        // A stage that changes only other entities must not run its code: it would not find the objects.
        guard let first = matches.first, let last = matches.last, !versions.isEmpty, holdsWholeModel else {
            return matches.last
        }
        if let recorded, let position = matches.last(where: { versions[$0] <= recorded }) { return position }
        let hasCode = stages[first...last].dropFirst().contains(where: \.hasCode)
        return hasCode ? first : last
    }

    /// The decision to run the first stage, from the recorded version on, to which inference can migrate a store
    /// without losing entities and properties that a later version still has.
    private func inferredDecision(
        on content: StoreContent,
        _ connection: Connection,
        _ progress: MigrationProgress?
    ) throws -> OpeningDecision {
        let stored = content.metadata
        var first = 0
        if let recorded = stored.modelVersion, !versions.isEmpty {
            // Earlier versions lack the properties that the store has got since.
            first = versions.firstIndex { recorded <= $0 } ?? stages.count - 1
        }
        let readings = try (first..<stages.count).map { try reading($0, of: stored.model, isTarget: true) }
        let kept = readings.map { ModelMapping(from: stored.model, to: $0.own).keptDeclarations }
        var refusal: SealedStoreError?
        for (index, reading) in readings.enumerated() {
            guard kept[index...].allSatisfy({ $0.isSubset(of: kept[index]) }) else { continue }
            do {
                let plan = try reading.migration(of: content, on: connection)
                let found = try program.checked.problems(plan.checks, on: connection, progress: progress)
                let problems = reading.unresolved(found)
                if problems.isEmpty {
                    let entry = Entry(position: first + index, isInferred: true)
                    return skippedCode(through: entry.position, stored, keeping: reading.own).map { .refused($0) }
                        ?? .runsStage(entry)
                }
                refusal = refusal ?? .cannotMigrate(problems)
            } catch SealedStoreError.modelMismatch(let differences) {
                // The version has none of the store's entities.
                refusal = refusal ?? .modelMismatch(differences)
            }
        }
        return .refused(refusal ?? .cannotMigrate([]))
    }

    /// The error for a store that has the model of no version and would enter at a stage without the code of the stages
    /// before; nil if no code is skipped, or the stage allows it.
    ///
    /// - Parameter version: The model of the stage.
    private func skippedCode(
        through position: Int,
        _ stored: StoreMetadataTable,
        keeping version: ManagedObjectModel
    ) -> SealedStoreError? {
        guard !stages[position].admitsOtherModels else { return nil }
        let skipped = stages[...position].indices.filter { index in
            let hasRun = stored.modelVersion.map { !versions.isEmpty && versions[index] <= $0 } ?? false
            return !hasRun && stages[index].hasCode
        }
        guard !skipped.isEmpty else { return nil }
        return .skippedStages(
            stages: skipped.map { stages[$0].version ?? String($0 + 1) },
            differences: ModelComparison(ModelMapping(from: stored.model, to: version)).differences
        )
    }

    // MARK: Versions

    /// Reads a store for the model of a version. If the store holds all entities of the program's model, it holds all
    /// entities of the version's model.
    ///
    /// - Parameters:
    ///   - model: The model in the store's file.
    ///   - isTarget: Whether the store is to be migrated to the version.
    ///   - removesMissing: ``StoreReading/removesMissing``.
    func reading(
        _ position: Int,
        of model: ManagedObjectModel,
        isTarget: Bool = false,
        removesMissing: Bool = false
    ) throws -> StoreReading {
        let (stage, configuration) = (stages[position], program.configuration)
        let version = configuration.duringMigration(
            holding: entities?.names(at: position, in: model, isTarget: isTarget),
            stage.defaultValues ?? configuration.defaultValues,
            stage.duplicateRules + configuration.duplicateRules
        )
        return try StoreReading(stage.model, version, program.checked, removesMissing: removesMissing)
    }

    private var holdsWholeModel: Bool { program.configuration.holds(wholeOf: program.model) }

    /// The entities of the versions; nil if the store holds all of them.
    private var entities: StageEntities? {
        guard let names = program.configuration.entityNames, !holdsWholeModel else { return nil }
        return StageEntities(stages.map(\.model), before: program.model, own: names)
    }

    /// Runs `body`. If `body` refuses the store, the error contains the version that the store has reached.
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
}
