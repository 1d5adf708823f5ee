/// How a store carries a fetch out.
///
/// ```swift
/// print(try context.explain(request))
/// // SELECT … FROM "Book" AS t0 WHERE (t0."title" = ?) ORDER BY t0."_id"
/// // - SEARCH t0 USING INDEX _index_Book_title (title=?)
/// ```
public struct QueryPlan: Hashable, Sendable {
    /// A step of the plan.
    public struct Step: Hashable, Sendable {
        /// How many steps the step is a part of.
        public let depth: Int
        /// What is done, in the words of the database.
        public let text: String

        /// Makes a step.
        public init(depth: Int, text: String) {
            self.depth = depth
            self.text = text
        }
    }

    /// The statement. In the place of each value stands a question mark.
    public let statement: String
    /// The steps, each before those that are parts of it.
    public let steps: [Step]
    /// The names of the indexes that are used, full-text indexes and R-trees among them.
    public let indexes: [String]
    /// The names of the tables of which every row is read.
    public let scannedTables: [String]

    /// Makes a plan.
    public init(statement: String, steps: [Step], indexes: [String], scannedTables: [String]) {
        self.statement = statement
        self.steps = steps
        self.indexes = indexes
        self.scannedTables = scannedTables
    }

    /// Whether rows are found by an index or by their keys, so that no table is read as a whole.
    public var usesIndex: Bool { scannedTables.isEmpty }
}

extension QueryPlan: CustomStringConvertible {
    /// The statement and the steps, one a line.
    public var description: String {
        ([statement] + steps.map { String(repeating: "  ", count: $0.depth) + "- " + $0.text })
            .joined(separator: "\n")
    }
}

extension ManagedObjectContext {
    /// How the store would carry a request out. Unsaved changes, which a fetch takes into account in memory, have no part in
    /// it.
    ///
    /// - Throws: what the store throws, which may not be able to tell.
    public func explain(_ request: FetchRequest) throws -> QueryPlan {
        try store(for: request.entity).execute(QueryPlanRequest(request), with: self)
    }
}
