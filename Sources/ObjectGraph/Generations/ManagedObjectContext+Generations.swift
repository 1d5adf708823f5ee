// Query generations, as Core Data has them: a context that is pinned to one reads the same state of its stores all the
// time.

extension ManagedObjectContext {
    /// Pins the context to a state of its stores, or with nil makes it read what is saved last, as it does at first.
    ///
    /// A pinned context sees nothing of what others save, until it is given another token: fetches and faults read the one
    /// state. Its own ``save()`` and batch requests, and ``reset()``, move it to the state that the stores have then. What it
    /// saves is checked against what the stores have at that time, so that changes of others show as conflicts.
    ///
    /// The token of another context of the same coordinator makes both see the same. The objects of this context are
    /// refreshed then, keeping their changes. A child reads what its parent reads: the parent is pinned.
    ///
    /// Stores that keep no earlier states, such as those in memory, are read as they are. A file cannot reclaim the space
    /// of its write-ahead log while a state in it is kept: let go of old ones.
    ///
    /// - Throws: what the stores throw. The context stays as it was then.
    /// - Complexity: opens a connection for each store.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        if let parent { return try parent.setQueryGeneration(from: token) }
        switch token {
        case nil: pinnedGeneration = nil
        case let token? where token.isCurrent:
            let old = pinnedGeneration
            // What was saved before belongs to the new state.
            pinnedGeneration = nil
            takeInSavedChanges()
            do {
                pinnedGeneration = QueryGenerationToken(try coordinator.currentQueryGenerations())
            } catch {
                pinnedGeneration = old
                throw error
            }
        case let token?:
            guard token != pinnedGeneration else { return }
            pinnedGeneration = token
            refreshAllObjects()
        }
        takeInSavedChanges()
    }

    /// The state that the context is pinned to; nil where it reads what is saved last.
    public var queryGenerationToken: QueryGenerationToken? { parent?.queryGenerationToken ?? pinnedGeneration }

    /// Does what is done to the stores as they are now, and moves a pinned context to the state after it.
    ///
    /// - Throws: what `body` throws; the context stays pinned to where it was then.
    func advancingGeneration<R>(_ body: () throws -> R) throws -> R {
        guard let old = pinnedGeneration else { return try body() }
        pinnedGeneration = nil
        let result: R
        do {
            result = try body()
        } catch {
            pinnedGeneration = old
            throw error
        }
        // What was done is done: where no state can be kept, the context goes on without one.
        try? setQueryGeneration(from: .current)
        return result
    }
}
