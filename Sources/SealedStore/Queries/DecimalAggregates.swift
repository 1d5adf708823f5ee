import EncryptedSQLite
import Foundation
import ObjectGraph

/// The functions of SQL that add up decimal numbers, which are kept as bytes, without rounding.
enum DecimalAggregates {
    /// All of them, for a database to know.
    static let all: [any AggregateFunction.Type] = [DecimalSumFunction.self, DecimalAverageFunction.self]

    /// Bytes that are no decimal number.
    struct IsNoNumber: Error {}
}

/// The exact sum; an error where a `Decimal` cannot hold it.
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
