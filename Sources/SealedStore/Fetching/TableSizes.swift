import Guarded
import ObjectGraph

/// What is known of the sizes of tables without asking: it tells whether it pays to share the work of reading one.
final class TableSizes: Sendable {
    private struct State {
        /// How many rows an entity had when all of them were last fetched, by its index.
        var counts: [Int: Int] = [:]
        /// A key up to which there may be rows, by the index of the root entity.
        var lastKeys: [Int: Int64] = [:]
    }

    private let state = Guarded(State())

    /// Takes note of the rows that a request gave.
    func note(_ rows: RowBatch, for request: FetchRequest) {
        guard request.readsWholeTable else { return }
        let last = rows.chunks.last.map { $0.row(at: $0.rowCount - 1).key }
        state.withLock { state in
            state.counts[request.entity.index] = rows.count
            if let last { state.lastKeys[request.entity.rootIndex] = last }
        }
    }

    /// Takes note of a key that may be a row's.
    func note(lastKey: Int64, rootIndex: Int) { state.withLock { $0.lastKeys[rootIndex] = lastKey } }

    /// A key up to which an entity may have rows, where there may be as many as `count`; else nil.
    func lastKey(of entity: Entity, ifThereAre count: Int) -> Int64? {
        state.withLock { state in
            guard let last = state.lastKeys[entity.rootIndex], last >= count,
                state.counts[entity.index] ?? .max >= count
            else { return nil }
            return last
        }
    }
}
