// The capabilities of a store beyond fetching, saving and filling faults. ``HistoryStore`` and ``ExchangeStore`` are
// beside their requests.

/// A store that computes values from objects.
public protocol AggregateStore: IncrementalStore {
    /// Returns rows of values computed from the objects that match a request. The context has checked that the request
    /// is unambiguous.
    func execute(_ request: DictionaryFetchRequest, with context: RequestContext) throws -> DictionaryResults
}

/// A store with full-text indexes.
public protocol SearchStore: IncrementalStore {
    /// Returns the results of a full-text search, with their relevance and excerpts.
    func execute(_ request: FullTextMatchRequest, with context: RequestContext) throws -> [StoredFullTextMatch]
}

/// A store that explains how it executes fetches.
public protocol QueryPlanStore: IncrementalStore {
    /// Returns the plan of a fetch.
    func execute(_ request: QueryPlanRequest, with context: RequestContext) throws -> QueryPlan
}

/// A store whose reads can be observed and cancelled while they run.
public protocol MonitoredStore: IncrementalStore {
    /// Runs `reads`, which calls methods of the store. Until it returns, the store reports the rows that it reads to the
    /// monitor, and ends a statement soon after the request was cancelled.
    ///
    /// - Throws: `CancellationError` if the store ended a statement; errors of `reads`.
    func monitoring<R>(_ monitor: RequestMonitor, _ reads: () throws -> R) throws -> R
}

/// A store whose objects can all be deleted at once.
public protocol ErasableStore: IncrementalStore {
    /// Deletes all rows of the store, regardless of delete rules. Their keys are not used again.
    func execute(_ request: EraseRequest, with context: RequestContext) throws
}

/// A store that can revert a save until other stores have written their parts of it.
///
/// A store that cannot do so is written after the stores that can.
public protocol TwoPhaseStore: IncrementalStore {
    /// Writes the part of a save over several stores that belongs to this store, calls `beforeCommit`, and commits.
    ///
    /// All problems of the changes are thrown before the call of `beforeCommit`, in which the other stores write their
    /// parts. If `beforeCommit` throws, the store reverts its writes and throws the same error.
    func save(
        _ changes: SaveChangesRequest,
        with context: RequestContext,
        beforeCommit: () throws -> Void
    ) throws -> SaveResult
}

/// A store whose earlier states can be read.
public protocol SnapshotStore: IncrementalStore {
    /// Returns the current state of the store, to be read later by contexts whose
    /// ``ManagedObjectContext/queryGenerationToken`` contains it in its ``QueryGenerationToken/generations``; nil if
    /// the store cannot keep the state.
    func currentQueryGeneration() throws -> (any QueryGeneration)?
}
