import Guarded
import Foundation
import ObjectGraph
import SealedStore
import Synchronization
import TestSupport

/// Forwards requests to another store, and counts them.
final class CountingStore: IncrementalStore {
    static let type = "Counting"

    private let store: any IncrementalStore
    private let counter: RequestCounter
    /// The folder is removed with the last store in it.
    private let folder: TemporaryFolder
    private let isOpen = Atomic<Bool>(false)

    init(model: ManagedObjectModel, description: PersistentStoreDescription) throws {
        guard let kind = description.options["kind"] as? StoreKind,
            let counter = description.options["counter"] as? RequestCounter,
            let folder = description.options["folder"] as? TemporaryFolder
        else {
            throw ObjectGraphError.storeTypeNotRegistered("the counting store needs a kind, a counter and a folder")
        }
        store = try kind.makeStore(model: model, description: description)
        self.counter = counter
        self.folder = folder
    }

    deinit { try? close() }

    func loadMetadata() throws -> StoreMetadata {
        let metadata = try store.loadMetadata()
        isOpen.store(true, ordering: .releasing)
        return metadata
    }

    func execute(_ request: StoreRequest, with context: ManagedObjectContext?) throws -> StoreResult {
        try count(request)
        return try store.execute(request, with: context)
    }

    func execute(
        _ request: StoreRequest,
        with context: ManagedObjectContext?,
        monitor: RequestMonitor
    ) throws -> StoreResult {
        try count(request)
        return try store.execute(request, with: context, monitor: monitor)
    }

    var savesInTwoPhases: Bool { store.savesInTwoPhases }

    func save(
        _ changes: SaveChangesRequest,
        with context: ManagedObjectContext?,
        beforeCommit: () throws -> Void
    ) throws {
        try count(.save(changes))
        try store.save(changes, with: context, beforeCommit: beforeCommit)
    }

    private func count(_ request: StoreRequest) throws {
        switch request {
        case .fetch, .fetchIDs, .count, .fetchDictionaries, .matches, .explain: try counter.countRead(.fetch)
        case .save, .batchInsert, .batchUpdate, .batchDelete, .erase:
            counter.count(.save)
            if let error = counter.takeFailure() { throw error }
        }
    }

    func newValuesForObject(
        with id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> IncrementalStoreNode? {
        try counter.countRead(.values)
        return try store.newValuesForObject(with: id, with: context)
    }

    func newValuesForObjects(with ids: [ManagedObjectID], with context: ManagedObjectContext?) throws -> RowBatch {
        try counter.countRead(.values)
        return try store.newValuesForObjects(with: ids, with: context)
    }

    func newValue(
        forRelationship relationship: Relationship,
        forObjectWith id: ManagedObjectID,
        with context: ManagedObjectContext?
    ) throws -> RelationshipValue {
        try counter.countRead(.members)
        return try store.newValue(forRelationship: relationship, forObjectWith: id, with: context)
    }

    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: ManagedObjectContext?
    ) throws -> RelationshipRows {
        try counter.countRead(.members)
        return try store.newValues(forRelationship: relationship, forObjectsWith: ids, with: context)
    }

    func obtainPermanentIDs(for entity: Entity, count: Int) throws -> [ManagedObjectID] {
        try store.obtainPermanentIDs(for: entity, count: count)
    }

    func currentQueryGeneration() throws -> (any QueryGeneration)? { try store.currentQueryGeneration() }

    /// The problems that the store's check finds, if it has one.
    func problems() throws -> [String] { try (store as? SealedStore)?.check().map(\.description) ?? [] }

    func close() throws {
        if isOpen.exchange(false, ordering: .acquiringAndReleasing) { try store.close() }
    }
}

/// The number of requests by kind, and the errors of the next save and of all reads.
final class RequestCounter: Sendable {
    enum Kind: Hashable {
        case fetch, save, values, members
    }

    private let state = Guarded<(counts: [Kind: Int], failure: (any Error)?)>(([:], nil))
    private let readFailure = Guarded<(any Error)?>(nil)

    /// Counts a request that reads, and throws the error of ``failReads(with:)``.
    func countRead(_ kind: Kind) throws {
        count(kind)
        if let error = readFailure.withLock({ $0 }) { throw error }
    }

    /// Makes all reads fail before they reach the store; nil ends that.
    func failReads(with error: (any Error)?) { readFailure.withLock { $0 = error } }

    func count(_ kind: Kind) { state.withLock { $0.counts[kind, default: 0] += 1 } }

    subscript(kind: Kind) -> Int { state.withLock { $0.counts[kind] ?? 0 } }

    /// All requests that read.
    var reads: Int { self[.fetch] + self[.values] + self[.members] }

    func reset() { state.withLock { $0.counts = [:] } }

    /// Makes the next save fail before it reaches the store.
    func failNextSave(with error: any Error) { state.withLock { $0.failure = error } }

    func takeFailure() -> (any Error)? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }
}
