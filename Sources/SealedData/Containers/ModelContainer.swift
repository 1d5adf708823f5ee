import Guarded
import ObjectGraph
import SealedStore

/// The open stores of a schema, which contexts fetch from and save to.
///
/// ```swift
/// let container = try ModelContainer(
///     for: Trip.self, Stop.self,
///     configurations: ModelConfiguration(url: url, key: .passphrase("correct horse battery staple")))
/// ```
public final class ModelContainer: Sendable {
    /// The state that the container and its contexts share.
    let stores: Stores
    private let mainContextHolder = MainContextHolder()

    /// The open stores of a schema.
    final class Stores: Sendable {
        let schema: Schema
        let migrationPlan: (any SchemaMigrationPlan.Type)?
        let configurations: Guarded<Set<ModelConfiguration>>
        /// The configurations with which the stores were opened.
        let openedConfigurations: Set<ModelConfiguration>
        let coordinator: PersistentStoreCoordinator
        /// The custom stores.
        let dataStores: [any DataStoreConnection]
        let remoteChanges: RemoteChangeNotifier

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
            openedConfigurations = configurations
            self.coordinator = coordinator
            self.dataStores = dataStores
            remoteChanges = RemoteChangeNotifier(coordinator)
        }

        deinit {
            // No caller can receive an error here, and a store that was not closed is intact.
            try? coordinator.removeAllStores()
        }
    }

    init(_ stores: Stores) {
        self.stores = stores
        stores.remoteChanges.setContainer(self)
    }

    /// The schema.
    public var schema: Schema { stores.schema }
    /// The migration plan.
    public var migrationPlan: (any SchemaMigrationPlan.Type)? { stores.migrationPlan }
    /// The configurations of the encrypted stores. They equal the configurations with which the container was created,
    /// without their keys: a container discards a key after its store is opened. Stores are opened once: setting the
    /// property opens and closes no store.
    public var configurations: Set<ModelConfiguration> {
        get { stores.configurations.withLock { $0 } }
        set {
            let configurations = Set(newValue.map(\.withoutKey))
            stores.configurations.withLock { $0 = configurations }
        }
    }

    /// Opens the stores of a schema, and creates those that do not exist.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - migrationPlan: The versions of the schema and the stages between them. Without a plan, a store with another
    ///     model is migrated by inference.
    ///   - configurations: The stores; if the list is empty, a store with the default configuration. A configuration
    ///     without a schema has the classes that no other configuration names.
    /// - Throws: ``SwiftDataError`` with the cause and a remedy: ``SwiftDataError/loadIssueModelContainer`` if a store
    ///   cannot be opened, with the store's error as ``SwiftDataError/underlyingError``;
    ///   ``SwiftDataError/modelValidationFailure`` with all problems of the schema at once; the errors of a
    ///   configuration.
    public init(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: [ModelConfiguration]
    ) throws {
        stores = try ContainerOpening(schema: schema, migrationPlan: migrationPlan).open(configurations)
        stores.remoteChanges.setContainer(self)
    }

    /// Opens the custom and the encrypted stores of a schema.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - configurations: The stores; if the list is empty, an encrypted store with the default configuration. A
    ///     configuration without a schema has the classes that no other configuration names.
    /// - Throws: Errors of the stores; for encrypted stores and schemas the same errors as with model configurations.
    @_disfavoredOverload
    public init(for schema: Schema, configurations: [any DataStoreConfiguration]) throws {
        stores = try ContainerOpening(schema: schema, migrationPlan: nil).open(configurations)
        stores.remoteChanges.setContainer(self)
    }

    /// Opens the custom and the encrypted stores of model classes and all classes that are reachable from them.
    @_disfavoredOverload
    public convenience init(
        for types: any PersistentModel.Type...,
        configurations: any DataStoreConfiguration...
    ) throws {
        try self.init(for: Schema(types), configurations: configurations)
    }

    /// Opens the stores of a schema, and creates those that do not exist.
    public convenience init(
        for schema: Schema,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: schema, migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Opens the stores of model classes and all classes that are reachable from them, and creates those that do not
    /// exist.
    public convenience init(
        for types: any PersistentModel.Type...,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
        configurations: ModelConfiguration...
    ) throws {
        try self.init(for: Schema(types), migrationPlan: migrationPlan, configurations: configurations)
    }

    /// Deletes all models of all stores, without applying delete rules, also models that are set aside, see
    /// ``setAside(in:)``. In every context of the container they count as deleted after its next fetch or save. New
    /// models that are not saved yet remain.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly` if a configuration does not allow saving;
    ///   ``DataStoreError/unsupportedFeature`` if a custom store cannot be erased; errors of the stores.
    public func erase() throws { try stores.coordinator.eraseStores() }

    /// Deletes all models as ``erase()`` does, which SwiftData recommends instead since iOS 18. Ignores errors.
    public func deleteAllData() { try? erase() }

    /// Removes the indexes from the container's encrypted files that its schema does not declare.
    ///
    /// Opening a file adds missing indexes and removes none, because another program may declare and need them. An
    /// index that no program needs costs time at every save and space in the file until it is removed. Programs that
    /// have the file open continue without the indexes. Their searches that need a removed full-text index fail until
    /// they open the file again.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly` if a configuration does not allow saving; `DatabaseError`.
    /// - Complexity: O(*n*) in the size of the removed indexes.
    public func removeUndeclaredIndexes() throws {
        for case let store as SealedStore in stores.coordinator.persistentStores { try store.removeUndeclaredIndexes() }
    }

    /// The context of the main actor, created on first access.
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

/// The storage of a container's main context.
@MainActor
private final class MainContextHolder {
    var context: ModelContext?

    nonisolated init() {}
}
