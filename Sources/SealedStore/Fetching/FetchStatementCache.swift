import Guarded
import ObjectGraph

/// The statements of fetches in a ``FileState`` by the shape of their requests: requests that differ in constants share
/// their SQL text.
final class FetchStatementCache: Sendable {
    /// The parts of a request that determine its statement.
    struct Key: Hashable {
        let entityIndex: Int
        let hasSubentities: Bool
        let columns: String
        let shape: QueryShape?
        let sort: [QuerySort]
        let hasOrder: Bool
        /// The SQL after the ORDER BY clause.
        let end: String

        /// Hashes the parts in which most keys differ: hashing the texts would cost more than the rest of the lookup.
        func hash(into hasher: inout Hasher) {
            hasher.combine(entityIndex)
            hasher.combine(sort.count)
            hasher.combine(shape)
        }
    }

    private let statements = Guarded(BoundedCache<Key, FetchStatement.Prepared>(limit: 256))

    /// The number of statements in the cache.
    var count: Int { statements.withLock { $0.count } }

    /// Returns the statement for a key, or creates it.
    func statement(for key: Key, make: () throws -> FetchStatement.Prepared) throws -> FetchStatement.Prepared {
        try statements.value(for: key, make: make)
    }
}
