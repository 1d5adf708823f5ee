extension ManagedObjectContext {
    /// Returns the rows of values of a request, computed in the store.
    ///
    /// Unsaved changes are included only with ``DictionaryFetchRequest/includesPendingChanges``, as in Core Data's
    /// dictionary results.
    ///
    /// - Throws: ``QueryError`` if the request is ambiguous, or an integer overflows;
    ///   ``ObjectGraphError/unreadable(_:)`` as ``fetch(_:as:)``; errors of the store.
    /// - Complexity: one statement; no object is created. If unsaved changes are included, the store returns the values
    ///   of each object, from which the results are computed in memory; if they are included along relationships, the
    ///   objects are fetched.
    public func fetchDictionaries(_ request: DictionaryFetchRequest) throws -> DictionaryResults {
        try savingThread.requireOwnThread()
        let request = try request.validated()
        try reportReadFailures()
        if request.includesPendingChanges {
            processPendingChanges()
            if let pending = fetcher.pendingChanges(for: request.objects) {
                return try reportingReadFailures { try results(of: request, with: pending) }
            }
        }
        return try storedResults(of: request)
    }

    private func storedResults(of request: DictionaryFetchRequest) throws -> DictionaryResults {
        try loader.stores.dictionaries(for: request)
    }

    /// Computes the rows of values with the unsaved changes.
    private func results(
        of request: DictionaryFetchRequest,
        with pending: PendingChanges
    ) throws -> DictionaryResults {
        let aggregation = DictionaryAggregation(request)
        var objects: [DictionaryAggregation.Object] = []
        let changed: [any GraphObject]
        if pending.reachesFurther {
            changed = try fetcher.fetch(request.objects, with: pending)
        } else {
            for row in try storedResults(of: request.rows(of: aggregation.inputs)) {
                guard case .integer(let key)? = row.values.first, !pending.keys.contains(key) else { continue }
                objects.append(.init(key: key, values: Array(row.values.dropFirst())))
            }
            changed = try fetcher.fitting(pending.objects, request.objects)
        }
        objects += try changed.map(aggregation.object)
        return try aggregation.results(objects)
    }

    /// Computes the rows of values of a request from the rows of its objects, for stores without this capability.
    /// Values along relationships are read from the stores.
    ///
    /// - Throws: ``QueryError``.
    package func results(of request: DictionaryFetchRequest, from rows: RowBatch) throws -> DictionaryResults {
        let aggregation = DictionaryAggregation(request)
        return try aggregation.results(loader.materialize(rows).map(aggregation.object))
    }
}

extension DictionaryFetchRequest {
    /// A request for the objects from which the values are computed. Its order contains the computed values, and so the
    /// relationships that they read.
    package var objects: FetchRequest {
        var request = FetchRequest(entity, predicate: predicate)
        request.includesSubentities = includesSubentities
        request.sort = DictionaryAggregation(self).inputs.map { QuerySort($0) }
        return request
    }

    /// A request for values of each object, preceded by its key.
    fileprivate func rows(of values: [QueryExpression]) -> DictionaryFetchRequest {
        let columns = [.variable(0)] + values
        var request = DictionaryFetchRequest(
            entity,
            columns.enumerated().map { ExpressionDescription(String($0), $1) },
            predicate: predicate
        )
        request.includesSubentities = includesSubentities
        return request
    }
}
