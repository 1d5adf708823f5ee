import Guarded
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
        let configurations: Guarded<Set<ModelConfiguration>>
        let coordinator: PersistentStoreCoordinator
        /// The stores that are not our own.
        let dataStores: [any DataStoreConnection]

        init(
            schema: Schema,
            migrationPlan: (any SchemaMigrationPlan.Type)?,
            configurations: Set<ModelConfiguration>,
            coordinator: PersistentStoreCoordinator,
            dataStores: [any DataStoreConnection]
        ) {
            self.schema = schema
            self.migrationPlan = migrationPlan
            self.configurations = Guarded(configurations)
            self.coordinator = coordinator
            self.dataStores = dataStores
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
    /// The configurations of the encrypted stores, equal to those that the container was made with, and without their keys:
    /// a container forgets a key when its store is open. Stores are opened once: setting other ones opens and closes nothing.
    public var configurations: Set<ModelConfiguration> {
        get { stores.configurations.withLock { $0 } }
        set {
            let configurations = Set(newValue.map(\.withoutKey))
            stores.configurations.withLock { $0 = configurations }
        }
    }

    /// Opens the stores of a schema, creating those that do not exist.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: How the schema of an existing store is brought to the current one.
    ///   - configurations: The stores; without any, one with the default configuration. A configuration without a schema
    ///     holds the classes that no other configuration names.
    /// - Throws: ``SwiftDataError``, which tells the cause and what can be done: ``SwiftDataError/loadIssueModelContainer``
    ///   where a store cannot be opened, with the store's own error as ``SwiftDataError/underlyingError``;
    ///   ``SwiftDataError/modelValidationFailure`` with all problems of the schema at once; the errors of a configuration.
    public init(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        stores = try ContainerOpening(schema: schema, migrationPlan: migrationPlan).open(configurations)
    }

    /// Opens the stores of a schema, of a program's own kinds and encrypted ones side by side.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - configurations: The stores; without any, an encrypted one with the default configuration. A configuration
    ///     without a schema holds the classes that no other configuration names.
    /// - Throws: What the stores throw; for encrypted stores and schemas as for model configurations.
    @_disfavoredOverload
    public init(for schema: Schema, configurations: [any DataStoreConfiguration]) throws {
        stores = try ContainerOpening(schema: schema, migrationPlan: nil).open(configurations)
    }

    /// Opens the stores of some classes and those that they are related to, of a program's own kinds and encrypted ones
    /// side by side.
    @_disfavoredOverload
    public convenience init(
        for types: any PersistentModel.Type...,
        configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(types), configurations: configurations)
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
    /// - Throws: `ObjectGraphError.storeIsReadOnly` where a configuration allows no saving;
    ///   ``DataStoreError/unsupportedFeature`` where a store of the program's own cannot be erased; what the stores throw.
    public func erase() throws { try stores.coordinator.eraseStores() }

    /// The same as ``erase()``, which SwiftData prefers since version 18 of Apple's systems.
    public func deleteAllData() { try? erase() }

    /// Removes the indexes from the container's encrypted files that its schema does not declare.
    ///
    /// Opening adds the indexes that are missing and removes none, since another program may declare and need them. An index
    /// that no program needs any more costs time at every save and room in the file until it is removed. Programs that have the
    /// file open go on without the indexes; their searches that need a removed full-text index fail until they open the
    /// file again.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly` if a configuration allows no saving; `DatabaseError`.
    /// - Complexity: O(*n*) in the size of the removed indexes.
    public func removeUndeclaredIndexes() throws {
        for case let store as SealedStore in stores.coordinator.persistentStores { try store.removeUndeclaredIndexes() }
    }

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

extension ModelContainer: CustomDebugStringConvertible {
    /// The entities and the configurations; never a key.
    public var debugDescription: String {
        let entities = schema.entities.map(\.name).sorted().joined(separator: ", ")
        let stores = configurations.map(\.debugDescription).sorted() + stores.dataStores.map(\.identifier)
        return "ModelContainer(\(entities); \(stores.joined(separator: ", ")))"
    }
}

/// The place of a container's main context.
@MainActor
private final class MainContextHolder {
    var context: ModelContext?

    nonisolated init() {}
}
