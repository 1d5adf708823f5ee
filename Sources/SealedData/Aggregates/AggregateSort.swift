public import Foundation
import ObjectGraph

/// A sort key for groups of models: an ``Aggregate``, or a value that they are grouped by.
public struct AggregateSort<Model: PersistentModel>: Sendable {
    private let order: SortOrder
    private let expression: @Sendable (PredicateReader, Entity) throws -> QueryExpression

    /// Sorts by an aggregate. Nil comes before all values.
    public init<Result>(_ aggregate: Aggregate<Model, Result>, order: SortOrder = .forward) {
        self.order = order
        expression = { try aggregate.expression($0, of: $1) }
    }

    /// Sorts by a value that the models are grouped by. Nil comes before all values.
    public init<Value>(_ keyPath: KeyPath<Model, Value>, order: SortOrder = .forward) {
        self.order = order
        let path = AnyKeyPathKey(keyPath)
        expression = { try ColumnPath(path.keyPath, of: Model.self, entity: $1).expression }
    }

    /// Returns the sort key as a query expression.
    func sort(_ reader: PredicateReader, of entity: Entity) throws -> QuerySort {
        let value = try expression(reader, entity)
        return QuerySort(value.resultType == .uint64 ? value.unsignedRank : value, ascending: order == .forward)
    }
}
