@_exported public import struct ObjectGraph.QueryPlan

extension FetchDescriptor {
    /// How a store would carry a fetch of the descriptor out: the statement, without values, and the plan, with the indexes
    /// that are used and the tables that are read as a whole.
    ///
    /// ```swift
    /// let plan = try descriptor.explain(in: context)
    /// print(plan, plan.usesIndex)
    /// ```
    ///
    /// - Throws: as ``ModelContext/fetch(_:)``; ``DataStoreError/unsupportedFeature`` for a store of a program's own.
    public func explain(in context: ModelContext) throws -> QueryPlan {
        try context.graph.explain(context.request(for: self))
    }
}
