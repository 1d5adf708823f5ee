import Foundation
import ObjectGraph

/// An open ``DataStore`` of any type, whose snapshots are converted from and to ``DefaultSnapshot``.
protocol DataStoreConnection: Sendable {
    /// The identity of the store.
    var identifier: String { get }

    /// Returns the snapshots of the models that match a request.
    func fetch<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> FetchedSnapshots
    /// Returns the number of models that match a request.
    func fetchCount<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> Int
    /// Returns the identifiers of the models that match a request.
    func fetchIdentifiers<T: PersistentModel>(_ request: DataStoreFetchRequest<T>) throws -> [PersistentIdentifier]
    /// Returns the cached snapshots of models with identifiers.
    func cachedSnapshots(for ids: [PersistentIdentifier], editingState: EditingState) throws -> [DefaultSnapshot]
    /// Saves the current values of changed models.
    ///
    /// - Parameter beforeWriting: Called after the values are read, which may fetch from the store. If it throws, the
    ///   store writes nothing.
    func save(
        _ changes: ChangedModels,
        editingState: EditingState,
        beforeWriting: () throws -> Void
    ) throws -> SavedSnapshots
    /// Deletes all models.
    func erase() throws
    /// Whether the store has a history.
    var hasHistory: Bool { get }
    /// Returns transactions; nil if the store has no history of transactions of the type.
    func fetchHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> [T]?
    /// Deletes transactions, and returns whether the store has a history of transactions of the type.
    func deleteHistory<T: HistoryTransaction>(_ descriptor: HistoryDescriptor<T>) throws -> Bool
    /// Reads the transactions after a token; nil if the store has no history.
    ///
    /// - Parameters:
    ///   - token: The token of the last known transaction; nil for all transactions.
    ///   - isRelevant: Whether a transaction counts.
    func historyNews(
        after token: (any Sendable)?,
        _ isRelevant: (any HistoryTransaction) -> Bool
    ) throws -> HistoryNews?
    /// Returns the position of the last save of a context in the history of the store, and forgets it; nil if there is
    /// none.
    func takeHistoryToken(for editingState: EditingState) -> (any HistoryToken)?
    /// Notifies the store of a new context.
    func initializeState(for editingState: EditingState)
    /// Notifies the store that a context no longer exists.
    func invalidateState(for editingState: EditingState)
}

/// The result of a fetch.
struct FetchedSnapshots {
    var fetched: [DefaultSnapshot]
    var related: [PersistentIdentifier: DefaultSnapshot]
}

/// The models that a save writes.
struct ChangedModels {
    var inserted: [any PersistentModel]
    var updated: [any PersistentModel]
    var deleted: [any PersistentModel]
}

/// The result of a save.
struct SavedSnapshots {
    var remappedIdentifiers: [PersistentIdentifier: PersistentIdentifier]
    /// The snapshots whose values replace the saved values.
    var reregistered: [DefaultSnapshot]
    /// The identifiers of models whose values the store has replaced by values that cannot be read.
    var unreadable: [PersistentIdentifier]
}

/// The transactions in the history of a custom store after a known transaction.
struct HistoryNews {
    /// The token of the last transaction; nil if there is none.
    var token: (any Sendable)?
    /// Whether one of these transactions is relevant.
    var isRelevant: Bool
}

/// The connection to a store of one type.
///
/// `@unchecked Sendable`: the store is created here and only called under the lock. The lock is recursive, so that the
/// store can call contexts during a request.
final class SerialDataStoreConnection<Store: DataStore>: DataStoreConnection, @unchecked Sendable {
    private let store: Store
    private let lock = NSRecursiveLock()
    /// The positions of saves in the history of the store, by the identities of their contexts. Used under the lock.
    private var historyTokens: [EditingState.ID: any HistoryToken] = [:]

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

    func save(
        _ changes: ChangedModels,
        editingState: EditingState,
        beforeWriting: () throws -> Void
    ) throws -> SavedSnapshots {
        // Outside the lock: making a snapshot may fetch values of its model.
        let request = DataStoreSaveChangesRequest<Store.Snapshot>(
            inserted: changes.inserted.map(snapshot),
            updated: changes.updated.map(snapshot),
            deleted: changes.deleted.map(snapshot),
            editingState: editingState
        )
        try beforeWriting()
        let result = try lock.withLock {
            let result = try store.save(request)
            historyTokens[editingState.id] = result.historyToken
            return result
        }
        // The store has committed: no error after it may make the save fail.
        var saved = SavedSnapshots(remappedIdentifiers: result.remappedIdentifiers, reregistered: [], unreadable: [])
        for (identifier, snapshot) in result.snapshotsToReregister {
            do {
                saved.reregistered.append(try SnapshotReader.defaultSnapshot(snapshot))
            } catch {
                saved.unreadable.append(identifier)
            }
        }
        return saved
    }

    private func snapshot(of model: any PersistentModel) -> Store.Snapshot {
        var related: [PersistentIdentifier: any BackingData] = [:]
        return Store.Snapshot(from: model.anyBackingData, relatedBackingDatas: &related)
    }

    func erase() throws { try lock.withLock { try store.erase() } }

    /// Calls `body` with the store if it has a history.
    var hasHistory: Bool { store is any HistoryProviding }

    func withHistory<R>(_ body: (any HistoryProviding) throws -> R) throws -> R? {
        guard let store = store as? any HistoryProviding else { return nil }
        return try lock.withLock { try body(store) }
    }

    func takeHistoryToken(for editingState: EditingState) -> (any HistoryToken)? {
        lock.withLock { historyTokens.removeValue(forKey: editingState.id) }
    }

    func initializeState(for editingState: EditingState) {
        lock.withLock { store.initializeState(for: editingState) }
    }

    func invalidateState(for editingState: EditingState) {
        lock.withLock {
            historyTokens[editingState.id] = nil
            store.invalidateState(for: editingState)
        }
    }
}

/// Reads snapshots of any type by encoding them.
private enum SnapshotReader {
    static func defaultSnapshot<Snapshot: DataStoreSnapshot>(_ snapshot: Snapshot) throws -> DefaultSnapshot {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot }
        let encoder = JSONEncoder()
        encoder.convertNonFiniteNumbers()
        let decoder = JSONDecoder()
        decoder.convertNonFiniteNumbers()
        return try decoder.decode(DefaultSnapshot.self, from: encoder.encode(snapshot))
    }
}
