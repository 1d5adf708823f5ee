/// The prepared statements of one connection by their text; the one not used for longest makes room for a new one.
///
/// Looking up is O(1); making room is O(limit), which is little beside compiling a statement.
@usableFromInline
struct StatementCache {
    /// A prepared statement that waits for its next use.
    @usableFromInline
    final class Entry {
        @usableFromInline let statement: Statement
        fileprivate(set) var isInUse = true
        /// Whether a transaction was begun for this use of the statement.
        var hasImplicitTransaction = false
        fileprivate var isCached = false
        fileprivate let text: SQLText
        fileprivate var lastUse: UInt64 = 0

        init(_ statement: consuming Statement, text: SQLText) {
            self.statement = statement
            self.text = text
        }
    }

    private var entries: [SQLText: Entry] = [:]
    private var uses: UInt64 = 0
    private let limit: Int

    init(limit: Int) {
        precondition(limit > 0, "A statement cache holds at least one statement.")
        self.limit = limit
    }

    var count: Int { entries.count }

    /// The cached statement of a text, now in use; nil where there is none or somebody is already using it.
    mutating func take(_ text: SQLText) -> Entry? {
        guard let entry = entries[text], !entry.isInUse else { return nil }
        entry.isInUse = true
        uses += 1
        entry.lastUse = uses
        return entry
    }

    /// Takes an entry back. One that is not cached yet enters the cache if its text is not there already; otherwise it
    /// ends with its last reference.
    mutating func giveBack(_ entry: Entry) {
        entry.isInUse = false
        guard !entry.isCached, entries[entry.text] == nil else { return }
        makeRoom()
        uses += 1
        entry.lastUse = uses
        entry.isCached = true
        entries[entry.text] = entry
    }

    /// Finalises every statement.
    mutating func removeAll() {
        entries.removeAll()
    }

    private mutating func makeRoom() {
        guard entries.count >= limit else { return }
        let idle = entries.values.lazy.filter { !$0.isInUse }
        guard let oldest = idle.min(by: { $0.lastUse < $1.lastUse }) else { return }
        oldest.isCached = false
        entries[oldest.text] = nil
    }
}
