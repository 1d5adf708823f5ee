import Foundation
import Guarded
import ObjectGraph

/// An adapter that provides a ``DataStore`` to contexts as an incremental store. It converts identifiers to numbers and
/// snapshots to rows.
///
/// The adapter fetches whole objects. It evaluates in memory, over all objects of a class, the parts of a request that
/// the store does not support.
final class DataStoreAdapter: AggregateStore, SearchStore, QueryPlanStore, ErasableStore {
    /// The type under which the class is registered.
    static let storeType = "DataStore"
    /// The option that holds the ``Target``.
    static let targetOption = "target"

    /// The adapted store, its model classes and its coordinator.
    final class Target: Sendable {
        let connection: any DataStoreConnection
        let classes: [String: any PersistentModel.Type]
        weak let coordinator: PersistentStoreCoordinator?

        init(
            _ connection: any DataStoreConnection,
            classes: [String: any PersistentModel.Type],
            coordinator: PersistentStoreCoordinator
        ) {
            self.connection = connection
            self.classes = classes
            self.coordinator = coordinator
        }
    }

    let model: ManagedObjectModel
    let target: Target
    let primaryKeys: PrimaryKeyTable
    let rowVersions = RowVersions()
    /// The related models that the store returned with the results of the last fetch.
    let related = Guarded<[Int64: DefaultSnapshot]>([:])

    /// The editing state of requests without a context.
    private let ownEditingState = EditingState()

    var connection: any DataStoreConnection { target.connection }

    private init(_ target: Target, for model: ManagedObjectModel) {
        self.model = model
        self.target = target
        primaryKeys = .table(forStore: target.connection.identifier)
    }

    /// The description of the store of a target.
    static func description(_ target: Target, entityNames: Set<String>) -> PersistentStoreDescription {
        PersistentStoreDescription(
            type: storeType,
            url: nil,
            options: [targetOption: target],
            entityNames: entityNames
        )
    }

    /// Registers the class with coordinators.
    static func register() { PersistentStoreCoordinator.registerStoreClass(Self.self, type: storeType) }

    /// - Throws: `ModelError` if a relationship or an inheritance leads to the classes of another store.
    static func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> DataStoreAdapter {
        guard let target = description.options[targetOption] as? Target else {
            throw SwiftDataError(.loadIssueModelContainer, "only a ModelContainer opens a store of this type")
        }
        if let names = description.entityNames, names.count < model.entities.count {
            _ = try ManagedObjectModel(entities: model.entities.filter { names.contains($0.name) }.map(\.description))
        }
        return DataStoreAdapter(target, for: model)
    }

    var metadata: StoreMetadata { StoreMetadata(uuid: primaryKeys.storeUUID, type: Self.storeType) }

    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try fetch(request, editingState(of: context))
    }

    func execute(_ request: ObjectIDFetchRequest, with context: RequestContext) throws -> [ManagedObjectID] {
        try fetchIDs(request.objects, editingState(of: context))
    }

    func execute(_ request: CountRequest, with context: RequestContext) throws -> Int {
        try count(request.objects, editingState(of: context))
    }

    func execute(_ request: DictionaryFetchRequest, with context: RequestContext) throws -> DictionaryResults {
        try fetchDictionaries(request, editingState(of: context))
    }

    func execute(_ request: FullTextMatchRequest, with context: RequestContext) throws -> [StoredFullTextMatch] {
        throw DataStoreError.unsupportedFeature
    }

    func execute(_ request: QueryPlanRequest, with context: RequestContext) throws -> QueryPlan {
        throw DataStoreError.unsupportedFeature
    }

    func execute(_ request: EraseRequest, with context: RequestContext) throws {
        try connection.erase()
        related.withLock { $0 = [:] }
        rowVersions.removeAll()
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        primaryKeys.newKeys(count).map {
            ManagedObjectID(entity: entity, storeUUID: primaryKeys.storeUUID, key: $0)
        }
    }

    /// The editing state of the context that makes a request.
    func editingState(of context: RequestContext) -> EditingState {
        (context.owner as? ModelContext)?.editingState ?? ownEditingState
    }
}
