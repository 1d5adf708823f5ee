import Guarded
import Foundation
import ObjectGraph
import SealedStore
import Synchronization
import TestSupport

/// Forwards requests to another store, and counts them.
final class CountingStore: FullStore, MonitoredStore {
    static let type = "Counting"

    private let store: any FullStore
    private let counter: RequestCounter
    /// The folder is removed with the last store in it.
    private let folder: TemporaryFolder
    private let isOpen = Atomic<Bool>(true)

    private init(_ description: PersistentStoreDescription, for model: ManagedObjectModel) throws {
        guard let kind = description.options["kind"] as? StoreKind,
            let counter = description.options["counter"] as? RequestCounter,
            let folder = description.options["folder"] as? TemporaryFolder
        else {
            throw ObjectGraphError.storeTypeNotRegistered("the counting store needs a kind, a counter and a folder")
        }
        store = try kind.openStore(description, for: model)
        self.counter = counter
        self.folder = folder
    }

    deinit { try? close() }

    static func loadMetadata(
        of description: PersistentStoreDescription,
        for model: ManagedObjectModel
    ) throws -> CountingStore {
        try CountingStore(description, for: model)
    }

    var metadata: StoreMetadata { store.metadata }

    func execute(_ request: FetchRequest, with context: RequestContext) throws -> RowBatch {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func execute(_ request: ObjectIDFetchRequest, with context: RequestContext) throws -> [ManagedObjectID] {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func execute(_ request: CountRequest, with context: RequestContext) throws -> Int {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func execute(_ request: DictionaryFetchRequest, with context: RequestContext) throws -> DictionaryResults {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func execute(_ request: FullTextMatchRequest, with context: RequestContext) throws -> [StoredFullTextMatch] {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func execute(_ request: QueryPlanRequest, with context: RequestContext) throws -> QueryPlan {
        try counter.countRead(.fetch)
        return try store.execute(request, with: context)
    }

    func monitoring<R>(_ monitor: RequestMonitor, _ reads: () throws -> R) throws -> R {
        guard let store = store as? any MonitoredStore else { return try reads() }
        return try store.monitoring(monitor, reads)
    }

    func execute(_ request: SaveChangesRequest, with context: RequestContext) throws -> SaveResult {
        try counter.countWrite()
        return try store.execute(request, with: context)
    }

    func execute(_ request: BatchInsertion, with context: RequestContext) throws -> BatchChanges {
        try counter.countWrite()
        return try store.execute(request, with: context)
    }

    func execute(_ request: BatchUpdateRequest, with context: RequestContext) throws -> BatchChanges {
        try counter.countWrite()
        return try store.execute(request, with: context)
    }

    func execute(_ request: BatchDeleteRequest, with context: RequestContext) throws -> BatchChanges {
        try counter.countWrite()
        return try store.execute(request, with: context)
    }

    func execute(_ request: EraseRequest, with context: RequestContext) throws {
        try counter.countWrite()
        try store.execute(request, with: context)
    }

    func save(
        _ changes: SaveChangesRequest,
        with context: RequestContext,
        beforeCommit: () throws -> Void
    ) throws -> SaveResult {
        try counter.countWrite()
        return try store.save(changes, with: context, beforeCommit: beforeCommit)
    }

    func newValuesForObject(
        with id: ManagedObjectID,
        with context: RequestContext
    ) throws -> IncrementalStoreNode? {
        try counter.countRead(.values)
        return try store.newValuesForObject(with: id, with: context)
    }

    func newValuesForObjects(with ids: [ManagedObjectID], with context: RequestContext) throws -> RowBatch {
        try counter.countRead(.values)
        return try store.newValuesForObjects(with: ids, with: context)
    }

    func newValues(
        forRelationship relationship: Relationship,
        forObjectsWith ids: [ManagedObjectID],
        with context: RequestContext
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

    /// Counts a request that writes, which fails if the next one is to.
    func countWrite() throws {
        count(.save)
        if let error = takeFailure() { throw error }
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
