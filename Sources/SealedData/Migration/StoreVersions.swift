import ObjectGraph
import SealedStore

/// The versions of a schema, as stages through which a store is migrated.
struct StoreVersions {
    /// The stages, including the first version; empty without a plan.
    let stages: [StoreMigrationStage]
    /// The version of the program's schema; nil if the program declares none.
    let current: Schema.Version?

    /// Reads a plan.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` for versions whose numbers do not ascend, for a stage that starts from
    ///   or leads to a version that the plan does not list, or that does not lead to the next version, and for two stages
    ///   to one version; ``SwiftDataError/modelValidationFailure`` with the problems of a version.
    init(of schema: Schema, _ plan: (any SchemaMigrationPlan.Type)?) throws {
        guard let plan else {
            stages = []
            // A schema without a declared version has version 1.0.0.
            current = schema.version == Schema.Version(1, 0, 0) ? nil : schema.version
            return
        }
        let versions = plan.schemas
        try Self.check(plan.stages, versions)
        var stages: [StoreMigrationStage] = []
        for (position, version) in versions.enumerated() {
            let schema = Schema(versionedSchema: version)
            let linked = try schema.makeModel()
            var stage = StoreMigrationStage(
                linked.model,
                version: String(describing: version.versionIdentifier),
                classes: linked.classes,
                defaultValues: schema.storedDefaultValues
            )
            stage.duplicateRules = plan.duplicateRules
            stage.admitsOtherModels = plan.admitsUndeclaredVersions
            if position > 0,
                case .custom(_, _, let willMigrate, let didMigrate)? = plan.stages.first(where: {
                    $0.toVersion == version
                })
            {
                stage.willMigrate = Self.code(willMigrate, Schema(versionedSchema: versions[position - 1]))
                stage.didMigrate = Self.code(didMigrate, schema)
            }
            stages.append(stage)
        }
        self.stages = stages
        current = max(versions.last?.versionIdentifier ?? schema.version, schema.version)
    }

    /// Returns the code of a stage that calls a function of the program.
    private static func code(
        _ function: (@Sendable (ModelContext) throws -> Void)?,
        _ schema: Schema
    ) -> StoreMigrationStage.Code? {
        guard let function else { return nil }
        return { coordinator in
            let container = ModelContainer(coordinator, of: schema)
            try withExtendedLifetime(container) { try function(ModelContext(container, isolation: nil)) }
        }
    }

    private static func check(_ stages: [MigrationStage], _ versions: [any VersionedSchema.Type]) throws {
        // A store records the number of its version, which shows the stages that remain.
        for (earlier, later) in zip(versions, versions.dropFirst())
        where earlier.versionIdentifier >= later.versionIdentifier {
            throw SwiftDataError(
                .unknownSchema,
                "\(later) has version \(later.versionIdentifier), which is not later than version "
                    + "\(earlier.versionIdentifier) of \(earlier); give each version a greater 'versionIdentifier' than "
                    + "the one before"
            )
        }
        var targets: Set<Int> = []
        for stage in stages {
            guard let from = versions.firstIndex(where: { $0 == stage.fromVersion }),
                let to = versions.firstIndex(where: { $0 == stage.toVersion }), to == from + 1
            else {
                throw SwiftDataError(
                    .unknownSchema,
                    "the stage from \(stage.fromVersion) to \(stage.toVersion) does not lead from one version of the plan "
                        + "to the next; list the versions in 'schemas', oldest first, with a stage for each step"
                )
            }
            guard targets.insert(to).inserted else {
                throw SwiftDataError(
                    .unknownSchema,
                    "the plan has two stages to \(stage.toVersion), of which only one would run; join them into one"
                )
            }
        }
    }
}

extension ModelContainer {
    /// Makes a container of the store of a stage, for one function of the program.
    fileprivate convenience init(_ coordinator: PersistentStoreCoordinator, of schema: Schema) {
        self.init(
            Stores(schema: schema, migrationPlan: nil, configurations: [], coordinator: coordinator, dataStores: [])
        )
    }
}
