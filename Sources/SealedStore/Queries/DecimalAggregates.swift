import EncryptedSQLite
import Foundation
import ObjectGraph

/// The SQL functions that add decimal numbers, which are stored as bytes, without rounding.
enum DecimalAggregates {
    /// All functions, to be registered with a database.
    static let all: [any AggregateFunction.Type] = [DecimalSumFunction.self, DecimalAverageFunction.self]

    /// The error for bytes that are not a decimal number.
    struct IsNoNumber: Error {}
}

/// The exact sum; an error if a `Decimal` cannot represent it.
final class DecimalSumFunction: AggregateFunction {
    static let name = "decimal_sum"

    private var sum = DecimalSum()

    func add(_ blob: UnsafeRawBufferPointer) throws {
        guard sum.add(blob) else { throw DecimalAggregates.IsNoNumber() }
    }

    func result() throws -> Data? {
        guard sum.count > 0 else { return nil }
        guard let result = sum.sum else { throw IntegerOverflow() }
        return result
    }
}

/// The exact sum divided by the number of values, rounded to 38 digits.
final class DecimalAverageFunction: AggregateFunction {
    static let name = "decimal_average"

    private var sum = DecimalSum()

    func add(_ blob: UnsafeRawBufferPointer) throws {
        guard sum.add(blob) else { throw DecimalAggregates.IsNoNumber() }
    }

    func result() throws -> Data? {
        guard sum.count > 0 else { return nil }
        guard let result = sum.average else { throw IntegerOverflow() }
        return result
    }
}
