import Guarded
import ObjectGraph

/// The statements of fetches by the shape of their requests: requests that differ in constants share their SQL text.
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
        /// The ``FileState`` that the statement is for.
        let state: ObjectIdentifier

        /// Hashes the parts in which most keys differ: hashing the texts would cost more than the rest of the lookup.
        func hash(into hasher: inout Hasher) {
            hasher.combine(entityIndex)
            hasher.combine(sort.count)
            hasher.combine(shape)
        }
    }

    /// The largest number of statements; beyond it, all are removed.
    private static let limit = 256

    private let statements = Guarded<[Key: FetchStatement.Prepared]>([:])

    /// The number of statements.
    var count: Int { statements.withLock { $0.count } }

    /// Returns the statement for a key, and makes it if necessary.
    func statement(for key: Key, make: () throws -> FetchStatement.Prepared) rethrows -> FetchStatement.Prepared {
        if let known = statements.withLock({ $0[key] }) { return known }
        let statement = try make()
        statements.withLock { statements in
            if statements.count >= Self.limit { statements.removeAll() }
            statements[key] = statement
        }
        return statement
    }
}
