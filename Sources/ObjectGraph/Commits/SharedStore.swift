/// Receives the commits of other stores to the data of a store, perhaps under a lock of the store, and calls no code of
/// the program.
///
/// Returns a function that calls the program's observers, which the store calls when no lock is held.
package typealias CommitReceiver = @Sendable (Commit) -> @Sendable () -> Void

/// A store whose data other coordinators, in this or other processes, can change.
package protocol SharedStore: IncrementalStore {
    /// Sets the receiver that is called after commits by other stores, on any thread, once for several commits. It may
    /// be called without a change.
    ///
    /// Commits of this process are always noticed, commits of other processes after ``beginFollowing()``.
    func onCommitByOthers(_ body: @escaping CommitReceiver)

    /// Begins to notice the commits of other processes. Calls are counted.
    func beginFollowing()

    /// Reverses one call of ``beginFollowing()``.
    func endFollowing()
}
