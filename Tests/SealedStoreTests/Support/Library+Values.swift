@testable import ObjectGraph
@testable import SealedStore
import EncryptedSQLite
import TestSupport

extension Library {
    /// A path from the fetched object.
    func path(_ entity: String, _ property: String) -> QueryExpression {
        .path(self.entity(entity).propertiesByName[property]!)
    }

    /// The keys of the objects that match a predicate, ascending.
    func keys(_ entity: String, _ predicate: QueryExpression?) throws -> [Int64] {
        try context.fetchIDs(FetchRequest(self.entity(entity), predicate: predicate)).map(\.key)
    }

    /// The query plan of a predicate.
    func plan(_ entity: String, _ predicate: QueryExpression) throws -> QueryPlan {
        try context.explain(FetchRequest(self.entity(entity), predicate: predicate))
    }

    /// The first column of all rows of a statement.
    func integers(_ sql: String) throws -> [Int64] {
        try opened().database.read { try $0.integers(sql).map { $0 ?? 0 } }
    }

    /// The problems that the store's check finds.
    func check() throws -> [StoreProblem] { try (store() as? SealedStore)?.check() ?? [] }
}
