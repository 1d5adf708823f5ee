public import Foundation
import ObjectGraph

/// A computation over the models of a class, or over each group of them, in the store.
///
/// ```swift
/// let (count, pages, price) = try context.aggregate(Book.self, .count(), .sum(\.pages), .average(\.price))
/// ```
///
/// Key paths may lead through to-one relationships, as `\Book.author?.born` does. An expression computes values that
/// are not stored in a property:
///
/// ```swift
/// let worth = try context.aggregate(Book.self, .sum(of: #Expression<Book, Double> { $0.price * Double($0.copies) }))
/// ```
///
/// Nil values are ignored.
public struct Aggregate<Model: PersistentModel, Result: Sendable>: Sendable {
    private let function: QueryExpression.Aggregate
    private let value: @Sendable (PredicateReader, Entity) throws -> QueryExpression
    private let empty: Result?

    /// Makes an aggregate of the models themselves.
    private init(_ function: QueryExpression.Aggregate) {
        self.function = function
        value = { _, _ in .variable(0) }
        empty = nil
    }

    private init(_ function: QueryExpression.Aggregate, _ keyPath: PartialKeyPath<Model>, empty: Result? = nil) {
        self.function = function
        let path = AnyKeyPathKey(keyPath)
        value = { _, entity in try ColumnPath(path.keyPath, of: Model.self, entity: entity).expression }
        self.empty = empty
    }

    private init<Value>(
        _ function: QueryExpression.Aggregate,
        _ expression: Expression<Model, Value>,
        empty: Result? = nil
    ) {
        self.function = function
        value = { try $0.read(expression, entity: $1) }
        self.empty = empty
    }

    /// Returns the query expression that a store evaluates.
    func expression(_ reader: PredicateReader, of entity: Entity) throws -> QueryExpression {
        .aggregate(function, of: try value(reader, entity))
    }

    /// Returns the result for the value that a store computed.
    func result(of value: Value) throws -> Result {
        if value.isNull, let empty { return empty }
        guard let result = columnValue(value, as: Result.self) else {
            throw SwiftDataError(.unsupportedKeyPath, "the store's result is not of type '\(Result.self)'")
        }
        return result
    }
}

extension Aggregate where Result == Int {
    /// The number of models.
    public static func count() -> Self { Self(.count) }

    /// The number of models whose value is not nil.
    public static func count<Value>(_ keyPath: KeyPath<Model, Value>) -> Self { Self(.count, keyPath) }

    /// The number of different values, without nil.
    public static func distinctCount<Value>(_ keyPath: KeyPath<Model, Value>) -> Self { Self(.distinctCount, keyPath) }
}

extension Aggregate {
    /// The sum; 0 if there are no values. The sum of integers is an `Int`; computing it throws if the sum does not fit.
    /// The sum of decimals is exact.
    public static func sum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Value.Base: SummedValue, Result == Value.Base.Sum {
        Self(.sum, keyPath, empty: Value.Base.sumOfNone)
    }

    /// The average; nil if there are no values. An average of decimals is rounded to 38 digits.
    public static func average<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Value.Base: AveragedValue, Result == Value.Base.Average? {
        Self(.average, keyPath)
    }

    /// The smallest value; nil if there are no values.
    public static func minimum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.minimum, keyPath)
    }

    /// The largest value; nil if there are no values.
    public static func maximum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.maximum, keyPath)
    }
}

// The same aggregates of the values of expressions.

extension Aggregate where Result == Int {
    /// The number of models for which an expression is not nil.
    public static func count<Value>(of expression: Expression<Model, Value>) -> Self { Self(.count, expression) }

    /// The number of different values of an expression, without nil.
    public static func distinctCount<Value>(of expression: Expression<Model, Value>) -> Self {
        Self(.distinctCount, expression)
    }
}

extension Aggregate {
    /// The sum of an expression's values, with the rules of ``sum(_:)``.
    public static func sum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Value.Base: SummedValue, Result == Value.Base.Sum {
        Self(.sum, expression, empty: Value.Base.sumOfNone)
    }

    /// The average of an expression's values, with the rules of ``average(_:)``.
    public static func average<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Value.Base: AveragedValue, Result == Value.Base.Average? {
        Self(.average, expression)
    }

    /// The smallest value of an expression; nil if there are no values.
    public static func minimum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.minimum, expression)
    }

    /// The largest value of an expression; nil if there are no values.
    public static func maximum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.maximum, expression)
    }
}
