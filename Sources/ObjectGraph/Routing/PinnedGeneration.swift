/// The state of its stores that a context is pinned to.
final class PinnedGeneration {
    private let coordinator: PersistentStoreCoordinator
    /// The state; nil while the context reads the latest commits.
    var token: QueryGenerationToken?

    init(_ coordinator: PersistentStoreCoordinator) {
        self.coordinator = coordinator
    }

    /// Pins the context to the state that the stores have now.
    ///
    /// - Parameter merge: Merges the changes that were saved before, which belong to the new state.
    /// - Throws: errors of the stores. The context stays pinned as it was.
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

    /// Calls `body` with the latest state of the stores, which it may change, and moves a pinned context to the state after
    /// it.
    ///
    /// - Throws: errors of `body`; the context stays pinned as it was.
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
        // The changes are committed: if no state can be kept, the context proceeds without one.
        try? pinCurrent(merging: merge)
        return result
    }
}
