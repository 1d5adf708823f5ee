import Foundation
import Guarded
import ObjectGraph

/// An adapter that provides a ``DataStore`` to contexts as an incremental store. It converts identifiers to numbers and
/// snapshots to rows.
///
/// The adapter fetches whole objects. It evaluates in memory, over all objects of a class, the parts of a request that
/// the store does not support.
final class DataStoreAdapter: IncrementalStore {
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

    private let entityNames: Set<String>?
    /// Who asks where no context does.
    private let ownEditingState = EditingState()

    var connection: any DataStoreConnection { target.connection }

    init(model: ManagedObjectModel, description: PersistentStoreDescription) throws {
        guard let target = description.options[Self.targetOption] as? Target else {
            throw SwiftDataError(.loadIssueModelContainer, "a store of this type is opened by a ModelContainer")
        }
        self.model = model
        self.target = target
        entityNames = description.entityNames
        primaryKeys = .table(forStore: target.connection.identifier)
    }

    /// Registers the class with coordinators.
    static func register() { PersistentStoreCoordinator.registerStoreClass(Self.self, type: storeType) }

    /// - Throws: `ModelError` where a relationship or an inheritance leads to the classes of another store.
    func loadMetadata() throws -> StoreMetadata {
        if let entityNames, entityNames.count < model.entities.count {
            _ = try ManagedObjectModel(
                entities: model.entities.filter { entityNames.contains($0.name) }.map(\.description)
            )
        }
        return StoreMetadata(uuid: primaryKeys.storeUUID, type: Self.storeType)
    }

    func execute(_ request: StoreRequest, with context: ManagedObjectContext?) throws -> StoreResult {
        switch request {
        case .fetch(let request): .rows(try fetch(request, editingState(of: context)))
        case .fetchIDs(let request): .ids(try fetchIDs(request, editingState(of: context)))
        case .count(let request): .count(try count(request, editingState(of: context)))
        case .save(let changes): try save(changes, of: context)
        case .erase: try erase()
        case .fetchDictionaries(let request):
            .dictionaries(try fetchDictionaries(request, editingState(of: context)))
        // No model context asks for these.
        case .matches, .explain, .batchInsert, .batchUpdate, .batchDelete: throw DataStoreError.unsupportedFeature
        }
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        primaryKeys.newKeys(count).map {
            ManagedObjectID(entity: entity, storeUUID: primaryKeys.storeUUID, key: $0)
        }
    }

    private func erase() throws -> StoreResult {
        try connection.erase()
        related.withLock { $0 = [:] }
        rowVersions.removeAll()
        return .saved
    }

    /// Who asks.
    func editingState(of context: ManagedObjectContext?) -> EditingState {
        (context?.owner as? ModelContext)?.editingState ?? ownEditingState
    }
}
