import Foundation
import ObjectGraph
import SealedStore

/// The stores of a schema: opens their files, and is what contexts work on.
///
/// ```swift
/// let container = try ModelContainer(
///     for: Trip.self, Stop.self,
///     configurations: ModelConfiguration(url: url, key: .passphrase("correct horse battery staple")))
/// ```
public final class ModelContainer: Sendable {
    /// What the container and its contexts share.
    let stores: Stores
    private let mainContextHolder = MainContextHolder()

    /// The open stores of a schema.
    final class Stores: Sendable {
        let schema: Schema
        let migrationPlan: (any SchemaMigrationPlan.Type)?
        let configurations: Set<ModelConfiguration>
        let coordinator: PersistentStoreCoordinator

        init(
            schema: Schema,
            migrationPlan: (any SchemaMigrationPlan.Type)?,
            configurations: Set<ModelConfiguration>,
            coordinator: PersistentStoreCoordinator
        ) {
            self.schema = schema
            self.migrationPlan = migrationPlan
            self.configurations = configurations
            self.coordinator = coordinator
        }

        deinit {
            // Nobody is left who could be told of an error; a store that is not closed is whole as well.
            try? coordinator.removeAllStores()
        }
    }

    init(_ stores: Stores) {
        self.stores = stores
    }

    /// The schema.
    public var schema: Schema { stores.schema }
    /// How the schema of an existing store is brought to the current one.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? { stores.migrationPlan }
    /// The configurations of the stores.
    public var configurations: Set<ModelConfiguration> { stores.configurations }

    /// Opens the stores of a schema, creating those that do not exist.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: How the schema of an existing store is brought to the current one.
    ///   - configurations: The stores; without any, one with the default configuration. A configuration without a schema
    ///     holds the classes that no other configuration names.
    /// - Throws: an error that names the cause: `DatabaseError` where a file cannot be opened with the key, or there is
    ///   no key; `SealedStoreError` where a file was made for another schema; the schema's own problems, all at once.
    public init(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
        let (model, classes) = try schema.makeModel()
        let coordinator = PersistentStoreCoordinator(model: model, classes: classes)
        SealedStore.register()
        let claimed = configurations.compactMap(\.schema).map { Set($0.entities.map(\.name)) }
        let unclaimed = Set(model.entities.map(\.name)).subtracting(claimed.joined())
        do {
            for configuration in configurations {
                try configuration.validate()
                let names = configuration.schema.map { Set($0.entities.map(\.name)) } ?? unclaimed
                try coordinator.addPersistentStore(configuration.storeDescription(entityNames: names))
            }
        } catch {
            try? coordinator.removeAllStores()
            throw error
        }
        stores = Stores(
            schema: schema,
            migrationPlan: migrationPlan,
            configurations: Set(configurations),
            coordinator: coordinator
        )
    }

    /// Opens the stores of a schema, creating those that do not exist.
    public convenience init(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of some classes and those that they are related to, creating those that do not exist.
    public convenience init(
        for types: any PersistentModel.Type...,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Deletes all models of all stores, whatever the delete rules say. In every context of the container they count as
    /// deleted with its next fetch or save; new models that are not saved yet stay.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly` where a configuration allows no saving; what the store throws.
    public func erase() throws { try stores.coordinator.eraseStores() }

    /// The same as ``erase()``, which SwiftData prefers since version 18 of Apple's systems.
    public func deleteAllData() { try? erase() }

    /// The context of the main actor, made when it is first asked for.
    @MainActor public var mainContext: ModelContext {
        if let context = mainContextHolder.context { return context }
        let context = ModelContext(self)
        context.becomeMainContext()
        mainContextHolder.context = context
        return context
    }
}

extension ModelContainer: Equatable {
    /// Whether both are the same container.
    public static func == (left: ModelContainer, right: ModelContainer) -> Bool { left === right }
}

/// The place of a container's main context.
@MainActor
private final class MainContextHolder {
    var context: ModelContext?

    nonisolated init() {}
}
