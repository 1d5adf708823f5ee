/// A store whose data other coordinators, in this or other processes, can change.
package protocol SharedStore: IncrementalStore {
    /// Sets the function that is called after commits of others, on any thread, once for several commits. It may be
    /// called without a change.
    ///
    /// Commits of this process are noticed in any case, those of other processes after ``beginFollowing()``.
    func onCommitByOthers(_ body: @escaping @Sendable (CommitsOfOthers) -> Void)

    /// Begins to notice the commits of other processes. Calls are counted.
    func beginFollowing()

    /// Reverses one call of ``beginFollowing()``.
    func endFollowing()
}
