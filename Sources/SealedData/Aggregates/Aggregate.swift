import Foundation
import ObjectGraph

/// What to compute from the models of a class, or of each group of them, in the store.
///
/// ```swift
/// let (count, pages, price) = try context.aggregate(Book.self, .count(), .sum(\.pages), .average(\.price))
/// ```
///
/// Key paths may lead through to-one relationships, as `\.author?.born` does. Values that are nil do not count.
public struct Aggregate<Model: PersistentModel, Result>: @unchecked Sendable {
    // Sound because key paths are immutable, though not all of them are marked `Sendable`, and because `empty` is the zero of
    // a sum or nil.

    private let function: QueryExpression.Aggregate
    /// The values; nil for the models themselves.
    private let keyPath: PartialKeyPath<Model>?
    private let empty: Result?

    private init(_ function: QueryExpression.Aggregate, _ keyPath: PartialKeyPath<Model>?, empty: Result? = nil) {
        self.function = function
        self.keyPath = keyPath
        self.empty = empty
    }

    /// The expression that a store computes.
    func expression(of entity: Entity) throws -> QueryExpression {
        guard let keyPath else { return .objectCount }
        return .aggregate(function, of: try ColumnPath(keyPath, of: Model.self, entity: entity).expression)
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
    public static func count() -> Self { Self(.count, nil) }

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
