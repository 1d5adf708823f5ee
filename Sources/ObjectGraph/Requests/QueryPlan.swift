/// The plan by which a store executes a fetch.
///
/// ```swift
/// print(try context.explain(request))
/// // SELECT … FROM "Book" AS t0 WHERE (t0."title" = ?) ORDER BY t0."_id"
/// // - SEARCH t0 USING INDEX _index_Book_title (title=?)
/// ```
public struct QueryPlan: Hashable, Sendable {
    /// A step of the plan.
    public struct Step: Hashable, Sendable {
        /// The number of steps that contain the step.
        public let depth: Int
        /// The description of the database.
        public let text: String

        /// Makes a step.
        public init(depth: Int, text: String) {
            self.depth = depth
            self.text = text
        }
    }

    /// The statement. A question mark represents each value.
    public let statement: String
    /// The steps, each before the steps that it contains.
    public let steps: [Step]
    /// The names of the indexes that are used, including full-text indexes and R-trees.
    public let indexes: [String]
    /// The names of the tables whose rows are all read.
    public let scannedTables: [String]

    /// Makes a plan.
    public init(statement: String, steps: [Step], indexes: [String], scannedTables: [String]) {
        self.statement = statement
        self.steps = steps
        self.indexes = indexes
        self.scannedTables = scannedTables
    }

    /// Whether rows are found by an index or by their keys, and no table is read completely.
    public var usesIndex: Bool { scannedTables.isEmpty }
}

extension QueryPlan: CustomStringConvertible {
    /// The statement and the steps, one on each line.
    public var description: String {
        ([statement] + steps.map { String(repeating: "  ", count: $0.depth) + "- " + $0.text })
            .joined(separator: "\n")
    }
}
