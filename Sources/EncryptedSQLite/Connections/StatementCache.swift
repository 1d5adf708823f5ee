import Guarded

/// The prepared statements of one connection by their text. A new statement takes the place of the idle one that has
/// not been used for longest.
@usableFromInline
struct StatementCache {
    /// A prepared statement that is lent, or waits for its next use.
    @usableFromInline
    final class Entry {
        @usableFromInline let statement: Statement
        fileprivate(set) var isInUse = true
        /// Whether a transaction was begun for this use of the statement.
        var hasImplicitTransaction = false
        fileprivate var isCached = false
        fileprivate let text: SQLText

        init(_ statement: consuming Statement, text: SQLText) {
            self.statement = statement
            self.text = text
        }
    }

    private var entries: BoundedCache<SQLText, Entry>
    /// The entry that was taken last: a program often repeats one statement, which is then found without a lookup.
    private var last: Entry?

    init(limit: Int) { entries = BoundedCache(limit: limit) }

    /// Returns the cached statement of a text, now in use; nil if the text is not cached or its statement is already in
    /// use.
    mutating func take(_ text: SQLText) -> Entry? {
        if let last, last.isCached, !last.isInUse, last.text == text {
            last.isInUse = true
            return last
        }
        guard let entry = entries.value(for: text), !entry.isInUse else { return nil }
        entry.isInUse = true
        last = entry
        return entry
    }

    /// Ends the use of an entry. A new entry enters the cache unless its text is cached already; otherwise its
    /// statement is finalised with the last reference.
    mutating func release(_ entry: Entry) {
        entry.isInUse = false
        guard !entry.isCached, !entries.contains(entry.text) else { return }
        entry.isCached = true
        // The last entry stays: `take` does not report its repeated uses to the cache of entries.
        let last = last
        entries.insert(entry, for: entry.text, removingWhere: { !$0.isInUse && $0 !== last })?.isCached = false
    }

    /// Finalises every statement.
    mutating func removeAll() {
        last = nil
        entries.removeAll()
    }
}
