public import Foundation
import ObjectGraph

/// What to compute from the models of a class, or of each group of them, in the store.
///
/// ```swift
/// let (count, pages, price) = try context.aggregate(Book.self, .count(), .sum(\.pages), .average(\.price))
/// ```
///
/// Key paths may lead through to-one relationships, as `\Book.author?.born` does; what no property holds an expression computes:
///
/// ```swift
/// let worth = try context.aggregate(Book.self, .sum(of: #Expression<Book, Double> { $0.price * Double($0.copies) }))
/// ```
///
/// Values that are nil do not count.
public struct Aggregate<Model: PersistentModel, Result>: @unchecked Sendable {
    // Sound because `value` captures a key path or an expression, which are immutable, and nothing else, though not all key
    // paths are marked `Sendable`; and because `empty` is the zero of a sum or nil.

    private let function: QueryExpression.Aggregate
    private let value: (PredicateReader, Entity) throws -> QueryExpression
    private let empty: Result?

    /// An aggregate of the models themselves.
    private init(_ function: QueryExpression.Aggregate) {
        self.function = function
        value = { _, _ in .variable(0) }
        empty = nil
    }

    private init(_ function: QueryExpression.Aggregate, _ keyPath: PartialKeyPath<Model>, empty: Result? = nil) {
        self.function = function
        value = { _, entity in try ColumnPath(keyPath, of: Model.self, entity: entity).expression }
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

    /// The expression that a store computes.
    func expression(_ reader: PredicateReader, of entity: Entity) throws -> QueryExpression {
        .aggregate(function, of: try value(reader, entity))
    }

    /// The result out of the value that a store computed.
    func result(of value: Value) throws -> Result {
        if value.isNull, let empty { return empty }
        guard let result = columnValue(value, as: Result.self) else {
            throw SwiftDataError(.unsupportedKeyPath, "the store's result is no '\(Result.self)'")
        }
        return result
    }
}

extension Aggregate where Result == Int {
    /// How many models there are.
    public static func count() -> Self { Self(.count) }

    /// How many models have a value that is not nil.
    public static func count<Value>(_ keyPath: KeyPath<Model, Value>) -> Self { Self(.count, keyPath) }

    /// How many different values there are, nil not counted.
    public static func distinctCount<Value>(_ keyPath: KeyPath<Model, Value>) -> Self { Self(.distinctCount, keyPath) }
}

extension Aggregate {
    /// The sum; 0 of no values. That of integers is an `Int`, and computing it throws where it does not fit one; that of
    /// decimals is exact.
    public static func sum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Value.Base: SummedValue, Result == Value.Base.Sum {
        Self(.sum, keyPath, empty: Value.Base.sumOfNone)
    }

    /// The average; nil of no values. That of decimals is rounded to 38 digits.
    public static func average<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Value.Base: AveragedValue, Result == Value.Base.Average? {
        Self(.average, keyPath)
    }

    /// The smallest value; nil of no values.
    public static func minimum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.minimum, keyPath)
    }

    /// The largest value; nil of no values.
    public static func maximum<Value: AggregatedValue>(_ keyPath: KeyPath<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.maximum, keyPath)
    }
}

// The same of what an expression computes.

extension Aggregate where Result == Int {
    /// How many models an expression has a value for that is not nil.
    public static func count<Value>(of expression: Expression<Model, Value>) -> Self { Self(.count, expression) }

    /// How many different values an expression has, nil not counted.
    public static func distinctCount<Value>(of expression: Expression<Model, Value>) -> Self {
        Self(.distinctCount, expression)
    }
}

extension Aggregate {
    /// The sum of what an expression computes, as ``sum(_:)``.
    public static func sum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Value.Base: SummedValue, Result == Value.Base.Sum {
        Self(.sum, expression, empty: Value.Base.sumOfNone)
    }

    /// The average of what an expression computes, as ``average(_:)``.
    public static func average<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Value.Base: AveragedValue, Result == Value.Base.Average? {
        Self(.average, expression)
    }

    /// The smallest value that an expression computes; nil of no values.
    public static func minimum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.minimum, expression)
    }

    /// The largest value that an expression computes; nil of no values.
    public static func maximum<Value: AggregatedValue>(of expression: Expression<Model, Value>) -> Self
    where Result == Value.Base? {
        Self(.maximum, expression)
    }
}
