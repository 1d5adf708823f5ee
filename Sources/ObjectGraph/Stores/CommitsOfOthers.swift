/// The commits of other coordinators, in this or another process, to the file of a store.
package struct CommitsOfOthers: Sendable {
    /// The changes; nil if they are unknown.
    package var changes: CommittedChanges?
    /// The transactions of others in the history of the store; nil if they are unknown.
    package var transactions: [PersistentHistoryTransaction]?
    /// The number of the last transaction in the history of the store; nil if it is unknown, or the store has none.
    package var lastTransaction: Int64?

    /// Whether the file may have been replaced by a copy from an earlier time, which others may have changed since. The
    /// versions of its rows say nothing about rows that were read before.
    package var mayBeReplacement = false

    /// Makes commits with some changes.
    package init(changes: CommittedChanges?) {
        self.changes = changes
    }
}
