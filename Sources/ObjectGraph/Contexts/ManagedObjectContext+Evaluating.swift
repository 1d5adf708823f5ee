extension ManagedObjectContext {
    /// Returns the rows that match a request, in its order and within its limit, for stores that cannot evaluate
    /// conditions. Objects along relationships are read from the stores.
    ///
    /// - Throws: ``QueryError`` if the condition cannot be evaluated.
    package func rows(_ rows: RowBatch, fitting request: FetchRequest) throws -> RowBatch {
        let byKey = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        let objects = loader.materialize(rows)
        var fitting = try QueryEvaluator().merge([], fetcher.fitting(objects, request), by: request.sort)[...]
        fitting = fitting.dropFirst(request.offset)
        if let limit = request.limit { fitting = fitting.prefix(limit) }
        var result = RowBatchBuilder()
        for object in fitting {
            if let row = byKey[object.state.pointee.key] { result.append(row) }
        }
        return result.finish()
    }
}
