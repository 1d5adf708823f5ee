public import Foundation

extension ManagedObjectContext {
    /// The maximum number of requests before the results are fetched synchronously.
    private static let maximumAttempts = 3

    /// Returns the objects that match a request, in the request's order, without blocking the caller. The store reads
    /// the rows on another thread. The context's isolation creates the objects and fetches the relationships to
    /// prefetch.
    ///
    /// The results include unsaved changes, as the results of ``fetch(_:as:)`` do. If a save, a merge or the first
    /// change of an object affects the results during the read, the request is repeated. After three attempts it is
    /// executed synchronously, which blocks the caller. A child context and a pinned context always execute the request
    /// synchronously.
    ///
    /// - Parameters:
    ///   - request: The predicate and the order of the objects.
    ///   - type: The class of the objects.
    ///   - progress: The progress, whose completed unit count is the number of rows read. It is indeterminate until the
    ///     fetch ends, unless the program sets a total unit count. At the end the total unit count is the number of
    ///     rows. Cancelling the progress cancels the fetch.
    /// - Throws: ``ObjectGraphError/unreadable(_:)`` if values could not be read; `CancellationError` if the task or
    ///   the progress is cancelled, which interrupts the statement; errors of the store.
    public nonisolated(nonsending) func fetchAsynchronously<T: GraphObject>(
        _ request: FetchRequest,
        as type: T.Type = T.self,
        progress: Progress? = nil
    ) async throws -> [T] {
        for _ in 0..<Self.maximumAttempts {
            guard parent == nil, pinnedGeneration.token == nil else { break }
            let store = try loader.stores.store(of: request.entity)
            try savingThread.requireOwnThread()
            processPendingChanges()
            try reportReadFailures()
            let pending = fetcher.pendingChanges(for: request)
            let stamp = identityMap.deletionStamp
            var stored = pending.map { fetcher.stored(request, with: $0) } ?? request
            stored.readFailures = readFailures
            let rows = try await store.readInBackground(reportingTo: progress) { [stored] in
                try store.execute(stored, with: RequestContext())
            }
            deletePropagation.run()
            guard identityMap.deletionStamp == stamp, pending.areSame(as: fetcher.pendingChanges(for: request)) else {
                continue
            }
            let objects: [T] = try fetcher.objects(of: rows, request, with: pending)
            // Merges after the suspension, so that changes that were saved since the rows were read are merged into
            // their objects.
            commitMerger.mergeCommits()
            try loader.prefetch(request.relationshipKeyPathsForPrefetching, from: objects)
            try reportReadFailures()
            progress?.finish(rows: rows.count)
            return objects
        }
        if Task.isCancelled || progress?.isCancelled ?? false { throw CancellationError() }
        let objects: [T] = try fetch(request)
        progress?.finish(rows: objects.count)
        return objects
    }

    /// Returns the same results as ``fetchDictionaries(_:)`` without blocking the caller: the store computes them on
    /// another thread. A pinned context executes the request synchronously.
    ///
    /// - Parameters:
    ///   - request: The properties and aggregates to return.
    ///   - progress: The progress, as in ``fetchAsynchronously(_:as:progress:)``.
    /// - Throws: the errors of ``fetchDictionaries(_:)``; `CancellationError` if the task or the progress is cancelled,
    ///   which interrupts the statement.
    public nonisolated(nonsending) func fetchDictionariesAsynchronously(
        _ request: DictionaryFetchRequest,
        progress: Progress? = nil
    ) async throws -> DictionaryResults {
        try reportReadFailures()
        if queryGenerationToken != nil {
            if Task.isCancelled || progress?.isCancelled ?? false { throw CancellationError() }
            let results = try fetchDictionaries(request)
            progress?.finish(rows: results.count)
            return results
        }
        let request = try request.validated()
        let store = try coordinator.store(for: request.entity).store
            .with((any AggregateStore).self, for: DictionaryFetchRequest.self)
        let results = try await store.readInBackground(reportingTo: progress) {
            try store.execute(request, with: RequestContext())
        }
        progress?.finish(rows: results.count)
        return results
    }
}

extension PendingChanges? {
    /// Whether the same objects are changed, so that the result of the store can still be used.
    fileprivate func areSame(as other: Self) -> Bool {
        self?.keys == other?.keys && self?.reachesFurther == other?.reachesFurther
    }
}
