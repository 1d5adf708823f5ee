public import ObjectGraph

/// Warnings of fetches that read every row of a large table to return some of them: an index may be missing.
///
/// ```swift
/// options[SealedStore.scanWarningsOption] = ScanWarnings(threshold: 10_000) { logger.warning("\($0)") }
/// ```
///
/// There is one warning for each form of request. The plan of a statement is read when it is compiled, at no further
/// cost when it runs again.
public struct ScanWarnings: Sendable {
    /// The smallest number of rows of a large table.
    public var threshold: Int
    /// Receives a warning. It is called on the thread of the fetch, after its statement has ended.
    public var handler: @Sendable (ScanWarning) -> Void

    /// Creates warnings.
    public init(threshold: Int = 10_000, handler: @escaping @Sendable (ScanWarning) -> Void) {
        self.threshold = threshold
        self.handler = handler
    }
}

/// A fetch that reads every row of a large table.
public struct ScanWarning: Hashable, Sendable, CustomStringConvertible {
    /// The name of the table, which is the name of the entity unless the names of two entities collide.
    public let table: String
    /// The threshold, which the number of rows has reached.
    public let threshold: Int
    /// The plan of the fetch.
    public let plan: QueryPlan

    /// The table, the statement and its plan; no values.
    public var description: String {
        "a fetch reads all rows of '\(table)', which has \(threshold) rows or more:\n\(plan)"
    }
}
