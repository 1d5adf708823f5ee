/// The commits of other coordinators, in this or another process, to the file of a store.
package struct CommitsOfOthers: Sendable {
    /// The changes; nil if they are unknown.
    package var changes: CommittedChanges?
    /// The transactions of others in the history of the store; nil if they are unknown.
    package var transactions: [PersistentHistoryTransaction]?
    /// The number of the last transaction in the history of the store; nil if it is unknown, or the store has none.
    package var lastTransaction: Int64?

    /// The replacement of the file; nil if it is the same file.
    package var replacement: Replacement?

    /// The replacement of a file by another one, such as a copy from an earlier time that others have changed since. The
    /// versions of its rows say nothing about rows that were read before.
    package enum Replacement: Sendable {
        /// The store opens the new file. Requests to the store throw until it is open, so no observer is called.
        case imminent
        /// The new file is open.
        case complete
    }

    /// Makes the replacement of the file.
    package init(replacement: Replacement) {
        self.replacement = replacement
    }

    /// Makes commits with some changes.
    package init(changes: CommittedChanges?) {
        self.changes = changes
    }
}
