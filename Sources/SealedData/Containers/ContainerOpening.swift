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
    /// - Throws: ``SwiftDataError`` with the cause and a remedy. No store stays open then.
    func open(_ configurations: [any DataStoreConfiguration]) throws -> ModelContainer.Stores {
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        let linked = try schema.makeModel()
        let (model, classes) = (linked.model, linked.classes)
        let allNames = Set(model.entities.map(\.name))
        try requireDifferent(configurations)
        try require(allNames, of: configurations)
        SealedStore.register()
        DataStoreAdapter.register()

        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        var dataStores: [any DataStoreConnection] = []
        for configuration in configurations {
            let names = entityNames(of: configuration, among: configurations, allNames)
            do {
                if let store = try add(configuration, names, to: coordinator, classes) { dataStores.append(store) }
            } catch {
                try? coordinator.removeAllStores()
                throw LoadIssue(error, configuration).error
            }
        }
        return ModelContainer.Stores(
            schema: schema,
            migrationPlan: migrationPlan,
            configurations: Set(configurations.compactMap { ($0 as? ModelConfiguration)?.withoutKey }),
            coordinator: coordinator,
            dataStores: dataStores
        )
    }

    /// Opens a store.
    ///
    /// - Returns: The connection to a custom store; nil for an encrypted store.
    private func add(
        _ configuration: any DataStoreConfiguration,
        _ entityNames: Set<String>,
        to coordinator: PersistentStoreCoordinator,
        _ classes: [String: any PersistentModel.Type]
    ) throws -> (any DataStoreConnection)? {
        try configuration.validate()
        if let configuration = configuration as? ModelConfiguration {
            var description = try configuration.storeDescription(entityNames: entityNames)
            description.options[SealedStore.defaultValuesOption] = schema.storedDefaultValues
            try coordinator.addPersistentStore(description)
            return nil
        }
        let connection = try connect(configuration, entityNames)
        let target = DataStoreAdapter.Target(connection, classes: classes, coordinator: coordinator)
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: DataStoreAdapter.storeType,
                url: nil,
                options: [DataStoreAdapter.targetOption: target],
                entityNames: entityNames
            )
        )
        return connection
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

    /// Returns the names of the entities that a configuration's store holds: those of its schema or, if it has no
    /// schema, those that no other configuration names.
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

    init(_ cause: any Error, _ configuration: any DataStoreConfiguration) {
        switch cause {
        case is SwiftDataError:
            error = cause
        case let cause as ModelError:
            error = SwiftDataError(
                .modelValidationFailure,
                "configuration '\(configuration.name)': \(cause)",
                cause: cause
            )
        default:
            let remedy = Self.remedy(for: cause).map { " \($0)" } ?? ""
            error = SwiftDataError(
                .loadIssueModelContainer,
                "configuration '\(configuration.name)': \(cause)\(remedy)",
                cause: cause
            )
        }
    }

    /// Returns the remedy for an error whose own text does not contain one.
    private static func remedy(for cause: any Error) -> String? {
        switch cause {
        case let error as DatabaseError: error.recoverySuggestion
        case SealedStoreError.cannotMigrate:
            "Correct these rows with the earlier schema, declare default values, or migrate in stages."
        case SealedStoreError.modelMismatch:
            "Open the store with the schema that it was created with, or remove the file to create a new store."
        case SealedStoreError.notAStore: "Check the path; the file is unchanged."
        case SealedStoreError.damagedMetadata, SealedStoreError.foreignSchema: "Restore the file from a backup."
        case ObjectGraphError.entityInTwoStores: "Give each configuration a separate schema."
        default: nil
        }
    }
}
