// Query generations, as in Core Data: a pinned context reads one state of its stores.

extension ManagedObjectContext {
    /// Pins the context to a state of its stores; with nil, the context reads the latest state, as a new context does.
    ///
    /// A pinned context does not read changes saved by other contexts until it is pinned to another token: fetches and
    /// faults read one state. Its ``save()``, batch requests and ``reset()`` move it to the state of the stores at that
    /// time. A save checks the latest state, so that changes by other writers are conflicts.
    ///
    /// With the token of another context of the same coordinator, both contexts read the same state. The objects of
    /// this context are refreshed and keep their changes. A child reads through its parent: pin the parent.
    ///
    /// Stores without snapshots, such as stores in memory, are read in their latest state. A file cannot reclaim the
    /// space of its write-ahead log while a token refers to a state in it: release old tokens.
    ///
    /// - Throws: errors of the stores. In this case the context does not change.
    /// - Complexity: opens a connection for each store.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        if let parent { return try parent.setQueryGeneration(from: token) }
        if let token, token.isCurrent {
            try pinnedGeneration.pinCurrent(merging: commitMerger.mergeCommits)
        } else if token != pinnedGeneration.token {
            pinnedGeneration.token = token
            if token != nil { refreshAllObjects() }
        }
        commitMerger.mergeCommits()
    }

    /// The state that the context is pinned to; nil if it reads the latest state.
    public var queryGenerationToken: QueryGenerationToken? { parent?.queryGenerationToken ?? pinnedGeneration.token }
}
