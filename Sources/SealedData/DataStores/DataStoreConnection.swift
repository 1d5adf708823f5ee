import Foundation
import ObjectGraph

/// An open ``DataStore`` of whatever type, whose snapshots go in and out as ``DefaultSnapshot``s.
protocol DataStoreConnection: Sendable {
    /// The identity of the store.
    var identifier: String { get }

    /// The models that fit a request.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> FetchedSnapshots
    /// How many models fit a request.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// The identifiers of the models that fit a request.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    /// The snapshots that the store has at hand.
    func cachedSnapshots(for ids: [PersistentIdentifier], editingState: EditingState) throws -> [DefaultSnapshot]
    /// Saves changed models as they are now.
    func save(_ changes: ChangedModels, editingState: EditingState) throws -> SavedSnapshots
    /// Deletes everything.
    func erase() throws
    /// Tells of a new context.
    func initializeState(for editingState: EditingState)
    /// Tells of a context that is gone.
    func invalidateState(for editingState: EditingState)
}

/// What a store found.
struct FetchedSnapshots {
    var fetched: [DefaultSnapshot]
    var related: [PersistentIdentifier: DefaultSnapshot]
}

/// The models that a save is about.
struct ChangedModels {
    var inserted: [any PersistentModel]
    var updated: [any PersistentModel]
    var deleted: [any PersistentModel]
}

/// What a store made of a save.
struct SavedSnapshots {
    var remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    var reregistered: [DefaultSnapshot]
}

/// The connection to a store of one type.
final class SerialDataStoreConnection<Store: DataStore>: DataStoreConnection, @unchecked Sendable {
    // Sound because the store is made here and only called under the lock, which lets a store ask contexts for something on
    // the way.
    private let store: Store
    private let lock = NSRecursiveLock()

    let identifier: String

    /// Opens the store.
    init(_ configuration: Store.Configuration, migrationPlan: (any SchemaMigrationPlan.Type)?) throws {
        store = try Store(configuration, migrationPlan: migrationPlan)
        identifier = store.identifier
    }

    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> FetchedSnapshots {
        let result = try lock.withLock { try store.fetch(request) }
        return FetchedSnapshots(
            fetched: try result.fetchedSnapshots.map(SnapshotReader.defaultSnapshot),
            related: try result.relatedSnapshots.mapValues(SnapshotReader.defaultSnapshot)
        )
    }

    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int {
        try lock.withLock { try store.fetchCount(request) }
    }

    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier] {
        try lock.withLock { try store.fetchIdentifiers(request) }
    }

    func cachedSnapshots(for ids: [PersistentIdentifier], editingState: EditingState) throws -> [DefaultSnapshot] {
        try lock.withLock { try store.cachedSnapshots(for: ids, editingState: editingState) }
            .values.map(SnapshotReader.defaultSnapshot)
    }

    func save(_ changes: ChangedModels, editingState: EditingState) throws -> SavedSnapshots {
        // Not under the lock: what a snapshot reads of its model may have to be fetched first.
        let request = DataStoreSaveChangesRequest<Store.Snapshot>(
            inserted: changes.inserted.map(snapshot),
            updated: changes.updated.map(snapshot),
            deleted: changes.deleted.map(snapshot),
            editingState: editingState
        )
        let result = try lock.withLock { try store.save(request) }
        return SavedSnapshots(
            remappedIdentifiers: result.remappedIdentifiers,
            reregistered: try result.snapshotsToReregister.values.map(SnapshotReader.defaultSnapshot)
        )
    }

    private func snapshot(of model: any PersistentModel) -> Store.Snapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: Self.backingData(of: model), relatedBackingDatas: &related)
    }

    private static func backingData<Model: PersistentModel>(of model: Model) -> any BackingData {
        model.persistentBackingData
    }

    func erase() throws { try lock.withLock { try store.erase() } }

    func initializeState(for editingState: EditingState) {
        lock.withLock { store.initializeState(for: editingState) }
    }

    func invalidateState(for editingState: EditingState) {
        lock.withLock { store.invalidateState(for: editingState) }
    }
}

/// Reads snapshots of any type by encoding them.
private enum SnapshotReader {
    private static let infinities = ("inf", "-inf", "nan")

    static func defaultSnapshot<Snapshot: DataStoreSnapshot>(_ snapshot: Snapshot) throws -> DefaultSnapshot {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: infinities.0,
            negativeInfinity: infinities.1,
            nan: infinities.2
        )
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: infinities.0,
            negativeInfinity: infinities.1,
            nan: infinities.2
        )
        return try decoder.decode(DefaultSnapshot.self, from: encoder.encode(snapshot))
    }
}
