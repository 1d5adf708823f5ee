public import Foundation

extension ManagedObjectContext {
    /// The maximum number of requests before the results are fetched synchronously.
    private static let maximumAttempts = 3

    /// Returns the objects that match a request, in its order, without blocking the caller: the store reads on another
    /// thread, and only the objects are created in the context's isolation.
    ///
    /// Results include unsaved changes as those of ``fetch(_:as:)`` do. If the context is meanwhile used in a way that
    /// affects the results (a save, a merge, the first change of an object), the request is repeated. After a few
    /// repetitions it is executed synchronously, which blocks the caller.
    ///
    /// A child context and a pinned context execute the request synchronously. Relationships to prefetch are fetched in
    /// the context's isolation.
    ///
    /// - Parameters:
    ///   - request: The predicate and the order of the objects.
    ///   - type: The class of the objects.
    ///   - progress: Counts the rows as they are read. Their number is not known in advance: the progress is
    ///     indeterminate, unless the program sets an expected total; at the end the total is the number of rows.
    ///     Cancelling the progress ends the fetch.
    /// - Throws: errors of the store; `CancellationError` if the task or the progress is cancelled, which ends the
    ///   statement.
    public nonisolated(nonsending) func fetchAsynchronously<T: GraphObject>(
        _ request: FetchRequest,
        as type: T.Type = T.self,
        progress: Progress? = nil
    ) async throws -> [T] {
        for _ in 0..<Self.maximumAttempts {
            guard case .store(let store) = try loader.stores.store(for: request.entity), pinnedGeneration.token == nil
            else { break }
            try savingThread.requireOwnThread()
            processPendingChanges()
            try reportReadFailures()
            let pending = fetcher.pendingChanges(for: request)
            let stamp = identityMap.deletionStamp
            var stored = pending.map { fetcher.stored(request, with: $0) } ?? request
            stored.readFailures = readFailures
            let rows = try await store.readInBackground(reportingTo: progress) { [stored] in
                try store.execute(stored, with: nil)
            }
            deletePropagation.run()
            guard identityMap.deletionStamp == stamp, pending.areSame(as: fetcher.pendingChanges(for: request)) else {
                continue
            }
            let objects: [T] = try fetcher.objects(of: rows, request, with: pending)
            // After the suspension: changes that were saved since the rows were read are merged into their objects.
            remoteChanges.mergeAnnouncements()
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

    /// Returns the rows of values of a request, computed without blocking the caller; see ``fetchDictionaries(_:)``.
    ///
    /// - Parameters:
    ///   - request: The values to compute.
    ///   - progress: Counts the rows, and can cancel the fetch, as in ``fetchAsynchronously(_:as:progress:)``.
    /// - Throws: as ``fetchDictionaries(_:)``; `CancellationError` if the task or the progress is cancelled, which ends
    ///   the statement.
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
        let results = try await store.readInBackground(reportingTo: progress) {
            try store.execute(request, with: nil)
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
