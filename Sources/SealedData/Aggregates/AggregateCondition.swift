import Foundation
import ObjectGraph

/// A condition on groups of models, made by comparing an ``Aggregate`` with a value.
///
/// ```swift
/// let rows = try context.aggregate(
///     Book.self,
///     groupedBy: \.author?.name,
///     computing: .count(),
///     having: .count() > 1 && .average(\.pages) < 300
/// )
/// ```
///
/// A comparison other than `==` and `!=` with nil is false.
public struct AggregateCondition<Model: PersistentModel>: Sendable {
    /// Returns the condition as a query expression.
    let expression: @Sendable (PredicateReader, Entity) throws -> QueryExpression

    fileprivate init(_ expression: @escaping @Sendable (PredicateReader, Entity) throws -> QueryExpression) {
        self.expression = expression
    }

    fileprivate init<Result>(
        _ aggregate: Aggregate<Model, Result>,
        _ comparison: QueryExpression.Comparison,
        _ value: Result
    ) {
        let literal = queryLiteral(of: value)
        let type = "\(Result.self)"
        self.init { reader, entity in
            guard let literal else {
                throw SwiftDataError(.unsupportedPredicate, "a group's aggregate is compared with a '\(type)'")
            }
            let expression = try aggregate.expression(reader, of: entity)
            let isOrder = comparison != .equal && comparison != .notEqual
            return isOrder && expression.resultType == .uint64
                ? .comparingUnsigned(comparison, expression, .literal(literal))
                : .comparison(comparison, expression, .literal(literal))
        }
    }

    /// Returns a condition that is true if both conditions are.
    public static func && (left: Self, right: Self) -> Self {
        Self { .and([try left.expression($0, $1), try right.expression($0, $1)]) }
    }

    /// Returns a condition that is true if at least one condition is.
    public static func || (left: Self, right: Self) -> Self {
        Self { .or([try left.expression($0, $1), try right.expression($0, $1)]) }
    }

    /// Returns a condition that is true if the given one is not.
    public static prefix func ! (condition: Self) -> Self {
        Self { .not(try condition.expression($0, $1)) }
    }
}

extension Aggregate {
    /// Whether the aggregate equals a value.
    public static func == (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .equal, right)
    }

    /// Whether the aggregate does not equal a value.
    public static func != (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .notEqual, right)
    }

    /// Whether the aggregate is less than a value.
    public static func < (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .less, right)
    }

    /// Whether the aggregate is less than a value or equal to it.
    public static func <= (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .lessOrEqual, right)
    }

    /// Whether the aggregate is greater than a value.
    public static func > (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .greater, right)
    }

    /// Whether the aggregate is greater than a value or equal to it.
    public static func >= (left: Self, right: Result) -> AggregateCondition<Model> {
        AggregateCondition(left, .greaterOrEqual, right)
    }
}
