/// The state of its stores to which a context is pinned.
final class PinnedGeneration {
    private let coordinator: PersistentStoreCoordinator
    /// The state; nil if the context reads the latest commits.
    var token: QueryGenerationToken?

    init(_ coordinator: PersistentStoreCoordinator) {
        self.coordinator = coordinator
    }

    /// Pins the context to the current state of the stores.
    ///
    /// - Parameter merge: Merges previously saved changes, which belong to the new state.
    /// - Throws: errors of the stores. The context then stays pinned to its previous state.
    func pinCurrent(merging merge: () -> Void) throws {
        let old = token
        token = nil
        merge()
        do {
            token = QueryGenerationToken(try coordinator.currentQueryGenerations())
        } catch {
            token = old
            throw error
        }
    }

    /// Calls `body` with the latest state of the stores, which it may change, and moves a pinned context to the state
    /// after that.
    ///
    /// - Throws: errors of `body`. The context then stays pinned to its previous state.
    func advancing<R>(merging merge: () -> Void, _ body: () throws -> R) throws -> R {
        guard let old = token else { return try body() }
        token = nil
        let result: R
        do {
            result = try body()
        } catch {
            token = old
            throw error
        }
        // The changes are committed: if a store has no snapshot, the context reads the latest state.
        try? pinCurrent(merging: merge)
        return result
    }
}
