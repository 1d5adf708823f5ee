@_exported public import struct ObjectGraph.QueryPlan

extension FetchDescriptor {
    /// Returns the query plan of a fetch with the descriptor: the statement, without values, the indexes that it uses
    /// and the tables that it scans.
    ///
    /// ```swift
    /// let plan = try descriptor.explain(in: context)
    /// print(plan, plan.usesIndex)
    /// ```
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``; ``DataStoreError/unsupportedFeature`` for a custom store.
    public func explain(in context: ModelContext) throws -> QueryPlan {
        try context.graph.explain(context.request(for: self))
    }
}
