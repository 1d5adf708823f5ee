import Guarded
import ObjectGraph

/// The statements of fetches by the shape of their requests, so that a request like an earlier one need not be written as
/// SQL again.
final class FetchStatementCache: Sendable {
    /// What a statement depends on.
    struct Key: Hashable {
        let entityIndex: Int
        let hasSubentities: Bool
        let columns: String
        let shape: QueryShape?
        let sort: [QuerySort]
        let hasOrder: Bool
        /// What stands behind the order.
        let end: String
        /// The ``FileState`` that the statement is for.
        let state: ObjectIdentifier

        /// Hashes what tells most keys apart: to hash the texts would cost more than to find the statement.
        func hash(into hasher: inout Hasher) {
            hasher.combine(entityIndex)
            hasher.combine(sort.count)
            hasher.combine(shape)
        }
    }

    /// How many statements are kept; when there are more, it begins anew.
    private static let limit = 256

    private let statements = Guarded<[Key: FetchStatement.Prepared]>([:])

    /// How many statements are kept now.
    var count: Int { statements.withLock { $0.count } }

    /// The statement for a key, made where it is not known.
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
