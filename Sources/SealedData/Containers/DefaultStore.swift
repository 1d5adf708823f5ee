import Foundation
import ObjectGraph

/// The encrypted store of a ``ModelConfiguration``, for direct use.
///
/// Containers open encrypted stores without it. It is for programs that wrap an encrypted store in a custom
/// ``DataStore``, or that need no models:
///
/// ```swift
/// let store = try DefaultStore(ModelConfiguration(for: Trip.self, key: .passphrase(passphrase)))
/// let trips = try store.fetch(DataStoreFetchRequest(descriptor: FetchDescriptor<Trip>())).fetchedSnapshots
/// ```
public final class DefaultStore: DataStore, DataStoreBatching, HistoryProviding, Sendable {
    /// The type of the store's configuration.
    public typealias Configuration = ModelConfiguration
    /// The type of the store's snapshots.
    public typealias Snapshot = DefaultSnapshot

    /// The identity of the store, which its file contains.
    public let identifier: String
    /// The classes of the store.
    public let schema: Schema
    /// The configuration without its key, which is discarded after the store is opened.
    public let configuration: ModelConfiguration

    private let stores: ModelContainer.Stores

    /// The name of the configuration.
    public var name: String { configuration.name }

    /// Opens the store, and creates it if it does not exist.
    ///
    /// - Throws: ``SwiftDataError/unknownSchema`` if the configuration has no schema; otherwise as for a container.
    public init(
        _ configuration: ModelConfiguration,
        migrationPlan: (any SchemaMigrationPlan.Type)? = nil
    ) throws {
        guard let schema = configuration.schema, let entity = schema.entities.first else {
            throw SwiftDataError(.unknownSchema, "a store that is opened directly needs a configuration with a schema")
        }
        self.configuration = configuration.withoutKey
        self.schema = schema
        stores = try ContainerOpening(schema: schema, migrationPlan: migrationPlan).open([configuration])
        let uuid = stores.coordinator.model.entitiesByName[entity.name].flatMap(stores.coordinator.storeUUID)
        identifier = uuid?.uuidString ?? ""
    }

    var coordinator: PersistentStoreCoordinator { stores.coordinator }

    /// Makes a context for one request.
    func makeContext() -> ManagedObjectContext {
        let context = ManagedObjectContext(coordinator: stores.coordinator)
        context.mergePolicy = .mergeByPropertyObjectTrump
        return context
    }

    // MARK: Fetching

    /// Returns the models that match a descriptor, and the destinations of the relationships to prefetch.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public func fetch<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> DataStoreFetchResult<T, DefaultSnapshot> {
        let context = makeContext()
        let stored = try FetchRequest(request.descriptor, in: context)
        let models = try context.fetch(stored, as: T.self)
        var related: [PersistentIdentifier: DefaultSnapshot] = [:]
        for path in stored.relationshipKeyPathsForPrefetching {
            var objects: [any GraphObject] = models
            for relationship in path {
                objects = objects.flatMap { $0.relatedObjects(along: relationship) }
                for object in objects {
                    let snapshot = DefaultSnapshot(of: object)
                    related[snapshot.persistentIdentifier] = snapshot
                }
            }
        }
        return DataStoreFetchResult(
            descriptor: request.descriptor,
            fetchedSnapshots: models.map { DefaultSnapshot(of: $0) },
            relatedSnapshots: related
        )
    }

    /// Returns the number of models that match a descriptor, without reading models.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        let context = makeContext()
        return try context.count(FetchRequest(request.descriptor, in: context))
    }

    /// Returns the identifiers of the models that match a descriptor.
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``.
    public func fetchIdentifiers<T: PersistentModel>(
        _ request: DataStoreFetchRequest<T>
    ) throws -> [PersistentIdentifier] {
        let context = makeContext()
        return try context.fetchIDs(FetchRequest(request.descriptor, in: context)).map(PersistentIdentifier.init)
    }

    /// Returns the models with identifiers that exist.
    ///
    /// - Throws: errors of the store.
    public func cachedSnapshots(
        for persistentIdentifiers: [PersistentIdentifier],
        editingState: EditingState
    ) throws -> [PersistentIdentifier: DefaultSnapshot] {
        let context = makeContext()
        var snapshots: [PersistentIdentifier: DefaultSnapshot] = [:]
        for identifier in persistentIdentifiers {
            guard let object = try context.existingObject(with: identifier) else { continue }
            snapshots[identifier] = DefaultSnapshot(of: object)
        }
        return snapshots
    }

    // MARK: Deleting

    /// Deletes the models that fulfil a predicate, and applies the delete rules.
    ///
    /// - Throws: errors of the predicate and of delete rules. In these cases nothing is deleted.
    public func delete<T: PersistentModel>(_ request: DataStoreBatchDeleteRequest<T>) throws {
        let context = makeContext()
        let fetch = try FetchRequest(FetchDescriptor(predicate: request.predicate), in: context)
        var deletion = BatchDeleteRequest(fetch.entity, predicate: fetch.predicate)
        deletion.includesSubentities = request.includeSubclasses
        try context.execute(deletion)
    }

    /// Deletes all models.
    ///
    /// - Throws: `ObjectGraphError.storeIsReadOnly` if the configuration does not allow saving; errors of the store.
    public func erase() throws { try stores.coordinator.eraseStores() }
}

extension FetchRequest {
    fileprivate init<T: PersistentModel>(_ descriptor: FetchDescriptor<T>, in context: ManagedObjectContext) throws {
        guard let entity = context.entity(for: T.self) else { throw SwiftDataError(classOutsideSchema: T.self) }
        self.init(entity)
        try read(descriptor, in: context.model)
    }
}

extension GraphObject {
    /// Returns the destinations of a relationship; empty if the object does not have the relationship.
    fileprivate func relatedObjects(along relationship: Relationship) -> [any GraphObject] {
        guard managedObjectID.entity.relationships.contains(relationship) else { return [] }
        if relationship.isToMany { return memberObjects(at: relationship.slot) }
        return destination(at: relationship.slot).map { [$0] } ?? []
    }
}
