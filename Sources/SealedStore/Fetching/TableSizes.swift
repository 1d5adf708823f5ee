import Guarded
import ObjectGraph

/// Estimates of the sizes of tables, which need one statement for each table at most. They decide whether several
/// threads read a table.
final class TableSizes: Sendable {
    private struct State {
        /// The number of rows of an entity when all of them were last fetched, by its index.
        var counts: [Int: Int] = [:]
        /// An upper bound of the keys, by the index of the root entity.
        var lastKeys: [Int: Int64] = [:]
    }

    private let state = Guarded(State())

    /// Records the rows of a request.
    func note(_ rows: RowBatch, for request: FetchRequest) {
        guard request.readsWholeTable else { return }
        let last = rows.chunks.last.map { $0.row(at: $0.rowCount - 1).key }
        state.withLock { state in
            state.counts[request.entity.index] = rows.count
            if let last { state.lastKeys[request.entity.rootIndex] = last }
        }
    }

    /// Records a key that a row may have.
    func note(lastKey: Int64, rootIndex: Int) { state.withLock { $0.lastKeys[rootIndex] = lastKey } }

    /// Discards the estimates.
    func discard() { state.withLock { $0 = State() } }

    /// An upper bound of the keys of an entity, if it may have at least `count` rows; otherwise nil.
    ///
    /// - Parameter lastKey: Reads an upper bound. It is called if none is known.
    func lastKey(of entity: Entity, ifThereAre count: Int, lastKey: () throws -> Int64) rethrows -> Int64? {
        let (known, knownCount) = state.withLock { ($0.lastKeys[entity.rootIndex], $0.counts[entity.index]) }
        if let knownCount, knownCount < count { return nil }
        if let known { return known >= count ? known : nil }
        let last = try lastKey()
        note(lastKey: last, rootIndex: entity.rootIndex)
        return last >= count ? last : nil
    }
}
