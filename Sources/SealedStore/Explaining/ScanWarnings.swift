public import ObjectGraph

/// Warns of fetches that read every row of a large table, though they are after some of them: an index may be missing.
///
/// ```swift
/// options[SealedStore.scanWarningsOption] = ScanWarnings(threshold: 10_000) { logger.warning("\($0)") }
/// ```
///
/// There is one warning for each form of request. A statement is looked at when it is compiled, and costs nothing more when it
/// runs again.
public struct ScanWarnings: Sendable {
    /// How many rows a table has at least to be a large one.
    public var threshold: Int
    /// What is done with a warning. It is called on the thread of the fetch, and must not use the store.
    public var handler: @Sendable (ScanWarning) -> Void

    /// Makes warnings.
    public init(threshold: Int = 10_000, handler: @escaping @Sendable (ScanWarning) -> Void) {
        self.threshold = threshold
        self.handler = handler
    }
}

/// A fetch that reads every row of a large table.
public struct ScanWarning: Hashable, Sendable, CustomStringConvertible {
    /// The name of the table, which is that of the entity unless it collided with another one.
    public let table: String
    /// The number of rows that the table has at least.
    public let threshold: Int
    /// How the fetch is carried out.
    public let plan: QueryPlan

    /// The table, the statement and its plan; no values.
    public var description: String {
        "a fetch reads all rows of '\(table)', which has \(threshold) rows or more:\n\(plan)"
    }
}
