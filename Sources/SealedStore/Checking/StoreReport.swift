/// The result of the check of a store.
public struct StoreReport: Hashable, Sendable {
    /// All problems; empty for a sound store.
    public let problems: [StoreProblem]
    /// The number of verified pages of the file; 0 for a store in memory.
    public let pageCount: Int
    /// The number of pages in the log that were read.
    public let logPageCount: Int
    /// The full-text indexes whose words were not compared with the texts, as entity and properties: SQLite compares
    /// them in a write transaction only, so not in a store that is open for reading only, nor while another process
    /// writes for longer than the busy timeout. The rows of these indexes were compared.
    public let uncheckedIndexes: [String]
    /// The entities and properties that are set aside in the store. They were checked like the rest, and are no
    /// problem.
    public internal(set) var setAside: [SetAside] = []

    /// Whether no problem was found.
    public var isSound: Bool { problems.isEmpty }

    init(problems: [StoreProblem], pageCount: Int = 0, logPageCount: Int = 0, uncheckedIndexes: [String] = []) {
        self.problems = problems
        self.pageCount = pageCount
        self.logPageCount = logPageCount
        self.uncheckedIndexes = uncheckedIndexes
    }
}
