import EncryptedSQLite
import Foundation
import ObjectGraph
import SealedStore

/// Opens the stores of a container.
struct ContainerOpening {
    let schema: Schema
    let migrationPlan: (any SchemaMigrationPlan.Type)?

    /// Opens the stores of the configurations, or the store of the default configuration if there are none.
    ///
    /// - Throws: ``SwiftDataError`` with the cause and a remedy. In this case all stores are closed.
    func open(_ configurations: [any DataStoreConfiguration]) throws -> ModelContainer.Stores {
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        let linked = try schema.makeModel()
        let (model, classes) = (linked.model, linked.classes)
        let versions = try StoreVersions(of: schema, migrationPlan)
        let allNames = Set(model.entities.map(\.name))
        try requireDifferent(configurations)
        try require(allNames, of: configurations)
        SealedStore.register()
        DataStoreAdapter.register()

        let coordinator = PersistentStoreCoordinator(model: model, classes: linked.graphClasses)
        var dataStores: [any DataStoreConnection] = []
        // Loading a store may migrate it. If one store is refused, the other stores must stay as they were, so all
        // stores are examined first.
        var prepared: [(configuration: any DataStoreConfiguration, description: PersistentStoreDescription)] = []
        // A custom store may change its content when it is made.
        for configuration in configurations.filter({ $0 is ModelConfiguration })
            + configurations.filter({ !($0 is ModelConfiguration) })
        {
            let names = entityNames(of: configuration, among: configurations, allNames)
            try reportingIssues(of: configuration) {
                try configuration.validate()
                if let configuration = configuration as? ModelConfiguration {
                    let description = try configuration.storeDescription(entityNames: names, of: schema, versions)
                    prepared.append((configuration, try coordinator.prepare(description)))
                } else {
                    let connection = try connect(configuration, names)
                    dataStores.append(connection)
                    let target = DataStoreAdapter.Target(connection, classes: classes, coordinator: coordinator)
                    prepared.append((configuration, DataStoreAdapter.description(target, entityNames: names)))
                }
            }
        }
        var updated: [String] = []
        do {
            for (configuration, description) in prepared {
                try reportingIssues(of: configuration, updated: updated) {
                    _ = try coordinator.addPersistentStore(description)
                }
                if SealedStore.changesStore(description) { updated.append(configuration.name) }
            }
        } catch {
            try? coordinator.removeAllStores()
            throw error
        }
        return ModelContainer.Stores(
            schema: schema,
            migrationPlan: migrationPlan,
            configurations: Set(configurations.compactMap { ($0 as? ModelConfiguration)?.withoutKey }),
            coordinator: coordinator,
            dataStores: dataStores
        )
    }

    /// Examines the migration of the existing stores of configurations to the schema.
    ///
    /// - Throws: ``SwiftDataError`` with the cause and a remedy.
    func previews(of configurations: [ModelConfiguration]) throws -> [URL: MigrationPreview] {
        let model = try schema.makeModel().model
        let allNames = Set(model.entities.map(\.name))
        try requireDifferent(configurations)
        try require(allNames, of: configurations)
        let versions = try StoreVersions(of: schema, nil)
        var previews: [URL: MigrationPreview] = [:]
        for configuration in configurations
        where !configuration.isStoredInMemoryOnly && Self.mayExist(configuration.url) {
            let names = entityNames(of: configuration, among: configurations, allNames)
            do {
                previews[configuration.url] = try SealedStore.migrationPreview(
                    of: configuration.storeDescription(entityNames: names, of: schema, versions),
                    to: model,
                    accepting: { attribute, entity in
                        let declared = schema.entitiesByName[entity.name]?.attributesByName[attribute.name]
                        return declared.flatMap(\.acceptance)
                    }
                )
            } catch {
                throw LoadIssue(error, configuration).error
            }
        }
        return previews
    }

    /// Whether a file exists. A file that cannot be reached exists: opening it throws the reason.
    private static func mayExist(_ url: URL) -> Bool {
        do {
            _ = try FileManager.default.attributesOfItem(atPath: url.path)
            return true
        } catch let error as CocoaError {
            return error.code != .fileReadNoSuchFile && error.code != .fileNoSuchFile
        } catch {
            return true
        }
    }

    /// Throws errors of `body` as the error of a container that cannot open the store of a configuration.
    ///
    /// - Parameter updated: The names of the configurations whose stores have been updated or migrated.
    private func reportingIssues(
        of configuration: any DataStoreConfiguration,
        updated: [String] = [],
        _ body: () throws -> Void
    ) throws {
        do {
            try body()
        } catch {
            throw LoadIssue(error, configuration, updated: updated).error
        }
    }

    private func connect<Configuration: DataStoreConfiguration>(
        _ configuration: Configuration,
        _ entityNames: Set<String>
    ) throws -> any DataStoreConnection {
        var configuration = configuration
        if configuration.schema == nil {
            configuration.schema = Schema(
                entities: schema.entities.filter { entityNames.contains($0.name) },
                version: schema.version
            )
        }
        return try SerialDataStoreConnection<Configuration.Store>(configuration, migrationPlan: migrationPlan)
    }

    /// Returns the names of the entities that a configuration's store holds: the entities of its schema or, if it has
    /// no schema, the entities that no other configuration names.
    private func entityNames(
        of configuration: any DataStoreConfiguration,
        among all: [any DataStoreConfiguration],
        _ names: Set<String>
    ) -> Set<String> {
        if let schema = configuration.schema { return Set(schema.entities.map(\.name)) }
        return names.subtracting(all.compactMap(\.schema).flatMap { $0.entities.map(\.name) })
    }

    // MARK: Checks

    private func requireDifferent(_ configurations: [any DataStoreConfiguration]) throws {
        guard configurations.count > 1 else { return }
        var seen: Set<AnyHashable> = []
        for configuration in configurations {
            var identity = AnyHashable(configuration)
            if let configuration = configuration as? ModelConfiguration, !configuration.isStoredInMemoryOnly {
                identity = AnyHashable(configuration.url.standardizedFileURL)
            }
            guard seen.insert(identity).inserted else {
                throw SwiftDataError(
                    .duplicateConfiguration,
                    "two configurations have the store of '\(configuration.name)'; give one of them another name or URL"
                )
            }
        }
    }

    private func require(_ names: Set<String>, of configurations: [any DataStoreConfiguration]) throws {
        for configuration in configurations {
            let unknown = configuration.schema?.entities.map(\.name).filter { !names.contains($0) } ?? []
            guard unknown.isEmpty else {
                throw SwiftDataError(
                    .configurationSchemaNotFoundInContainerSchema,
                    "configuration '\(configuration.name)' has \(unknown.sorted().joined(separator: ", ")); name the "
                        + "class when the container is made"
                )
            }
        }
    }
}

/// The error that a container throws if one of its stores cannot be opened.
private struct LoadIssue {
    let error: any Error

    /// - Parameter updated: The names of the configurations whose stores were updated or migrated before the error.
    init(_ cause: any Error, _ configuration: any DataStoreConfiguration, updated: [String] = []) {
        let others =
            updated.isEmpty
            ? "" : " The stores of \(updated.map { "'\($0)'" }.joined(separator: ", ")) have been updated."
        switch cause {
        case is SwiftDataError, is CancellationError:
            error = cause
        case let cause as ModelError:
            error = SwiftDataError(
                .modelValidationFailure,
                "configuration '\(configuration.name)': \(cause)",
                cause: cause
            )
        case SealedStoreError.newerModel:
            error = SwiftDataError(
                .backwardMigration,
                "configuration '\(configuration.name)': \(cause). Open it with the newer program; it is unchanged.\(others)",
                cause: cause
            )
        default:
            let remedy = Self.remedy(for: cause).map { " \($0)" } ?? ""
            error = SwiftDataError(
                .loadIssueModelContainer,
                "configuration '\(configuration.name)': \(cause)\(remedy)\(others)",
                cause: cause
            )
        }
    }

    /// Returns the remedy for an error whose description does not contain one.
    private static func remedy(for cause: any Error) -> String? {
        switch cause {
        case let error as DatabaseError: error.recoverySuggestion
        case SealedStoreError.modelMismatch(let differences) where differences.first == SealedStoreError.noCommonEntity:
            "The file is unchanged. Check the path, or open it with the schema that it has."
        case SealedStoreError.modelMismatch:
            "The store is unchanged. Let the container save and migrate it ('allowsSave', 'allowsMigration'), or open it "
                + "with the schema that it has."
        case SealedStoreError.cannotMigrate(let problems):
            remedy(
                for: problems,
                others: "Declare default values, rules for duplicates, or a migration plan with a custom stage that "
                    + "changes these objects."
            )
        case SealedStoreError.stoppedMigration(_, let problems):
            remedy(for: problems, others: "Add a custom stage that changes these objects.")
                + " The next opening continues with the remaining stages."
        case SealedStoreError.skippedStages:
            "Add the schema that the store has to the plan as a version of its own, with a stage from it; or let such "
                + "stores pass without the functions ('SchemaMigrationPlan.admitsUndeclaredVersions')."
        case SealedStoreError.migratedByAnotherProgram: "Open the container again."
        case SealedStoreError.notAStore: "Check the path; the file is unchanged."
        case SealedStoreError.damagedMetadata: "Restore the file from a backup."
        case SealedStoreError.foreignSchema:
            "Repair the file with 'ModelContainer.repair(_:key:_:progress:)' or the tool 'sealed', or restore a backup."
        case ObjectGraphError.entityInTwoStores: "Give each configuration a separate schema."
        default: nil
        }
    }

    /// Returns the remedy for the problems of a migration.
    ///
    /// - Parameter others: The remedy for all problems except values that do not convert between an attribute and a
    ///   relationship of the same name. Such values have no place in the other version, so a custom stage between the
    ///   two versions cannot keep them.
    private static func remedy(for problems: [MigrationProblem], others: String) -> String {
        let remedies = problems.map { problem in
            guard problem.kind == .otherKind else { return others }
            return
                "Rename a property that changes between an attribute and a relationship in an intermediate version of "
                + "the schema, and move its values in a custom stage from that version to the next."
        }
        return remedies.isEmpty ? others : Set(remedies).sorted().joined(separator: " ")
    }
}
