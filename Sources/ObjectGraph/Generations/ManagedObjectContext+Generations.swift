// Query generations, as in Core Data: a pinned context reads one state of its stores.

extension ManagedObjectContext {
    /// Pins the context to a state of its stores; with nil, the context reads the latest state, as a new context does.
    ///
    /// A pinned context does not see the changes of others until it is pinned to another token: fetches and faults read
    /// one state. Its ``save()``, batch requests and ``reset()`` move it to the state of the stores at that time. A
    /// save checks the latest state, so that changes of others are conflicts.
    ///
    /// With the token of another context of the same coordinator, both contexts see the same state. The objects of this
    /// context are refreshed and keep their changes. A child reads through its parent: pin the parent.
    ///
    /// Stores that keep no earlier states, such as those in memory, are read in their latest state. A file cannot
    /// reclaim the space of its write-ahead log while a token refers to a state in it: release old tokens.
    ///
    /// - Throws: errors of the stores. The context is unchanged then.
    /// - Complexity: opens a connection for each store.
    public func setQueryGeneration(from token: QueryGenerationToken?) throws {
        if let parent { return try parent.setQueryGeneration(from: token) }
        switch token {
        case nil: pinnedGeneration = nil
        case let token? where token.isCurrent:
            let old = pinnedGeneration
            // Changes that were saved before belong to the new state.
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

    /// The state that the context is pinned to; nil if it reads the latest state.
    public var queryGenerationToken: QueryGenerationToken? { parent?.queryGenerationToken ?? pinnedGeneration }

    /// Runs `body`, which changes the latest state of the stores, and moves a pinned context to the state after it.
    ///
    /// - Throws: errors of `body`; the context stays pinned to its state then.
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
        // The changes are committed: if no state can be kept, the context continues unpinned.
        try? setQueryGeneration(from: .current)
        return result
    }
}
