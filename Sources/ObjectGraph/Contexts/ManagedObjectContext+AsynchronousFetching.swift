public import Foundation

extension ManagedObjectContext {
    /// The maximum number of requests before the results are fetched synchronously.
    private static let maximumAttempts = 3

    /// The objects that fit a request, in its order, fetched without blocking the caller: the store works on another
    /// thread, and only the objects are made in the context's isolation.
    ///
    /// Unsaved changes take part as they do in ``fetch(_:as:)``. Where the context is used meanwhile in a way that the
    /// results depend on (a save, a merge, objects that are changed for the first time), the store is asked again;
    /// after a few times it is asked at once, blocking the caller.
    ///
    /// A child asks its parent at once, and a pinned context its store. Relationships to prefetch are fetched in the
    /// context's isolation.
    ///
    /// - Parameters:
    ///   - request: Which objects, and in which order.
    ///   - type: The class of the objects.
    ///   - progress: What counts the rows as they are read. How many there will be is not known: unless the program
    ///     sets the total to what it expects, it is indeterminate; in the end it is the number of rows. Cancelling it
    ///     ends the fetch.
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
            // Only now: changes that were saved since the rows were read are merged into their objects.
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

    /// The rows of values that a request asks for, computed without blocking the caller; see ``fetchDictionaries(_:)``.
    ///
    /// - Parameters:
    ///   - request: Which values.
    ///   - progress: What counts the rows, and can cancel the fetch, as in ``fetchAsynchronously(_:as:progress:)``.
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
    /// Whether the same objects are changed, so that the store's result is still the required one.
    fileprivate func areSame(as other: Self) -> Bool {
        self?.keys == other?.keys && self?.reachesFurther == other?.reachesFurther
    }
}
