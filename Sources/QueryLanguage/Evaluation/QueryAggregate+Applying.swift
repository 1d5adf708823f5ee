import Foundation

extension QueryExpression.Aggregate {
    /// Returns the aggregate of values, with null ignored; a distinct count, a minimum and a maximum also ignore NaN,
    /// which equals nothing and has no place in an order.
    ///
    /// - Throws: ``QueryError/arithmeticOverflow``.
    package func apply(_ values: [Value], of type: AttributeType?) throws(QueryError) -> Value {
        let values = values.filter { !$0.isNull }
        switch self {
        case .count: return .integer(Int64(values.count))
        case .distinctCount: return .integer(Int64(Set(values.filter { !$0.isNotANumber }).count))
        case .sum: return values.isEmpty ? .null : try Self.sum(values, of: type)
        case .average: return values.isEmpty ? .null : try Self.average(values, of: type)
        case .minimum:
            return values.filter { !$0.isNotANumber }.min { Self.precedes($0, $1, of: type) } ?? .null
        case .maximum:
            return values.filter { !$0.isNotANumber }.max { Self.precedes($0, $1, of: type) } ?? .null
        }
    }

    private static func precedes(_ left: Value, _ right: Value, of type: AttributeType?) -> Bool {
        if type == .uint64, case .integer(let left) = left, case .integer(let right) = right {
            return UInt64(bitPattern: left) < UInt64(bitPattern: right)
        }
        return left.compare(right) < 0
    }

    private static func sum(_ values: [Value], of type: AttributeType?) throws(QueryError) -> Value {
        if let sum = decimalSum(of: values) {
            guard let data = sum.sum else { throw .arithmeticOverflow }
            return .blob(data)
        }
        if values.allSatisfy({ if case .integer = $0 { true } else { false } }) {
            var sum: Int64 = 0
            for case .integer(let integer) in values {
                if type == .uint64, integer < 0 { throw .arithmeticOverflow }
                let (result, overflow) = sum.addingReportingOverflow(integer)
                if overflow { throw .arithmeticOverflow }
                sum = result
            }
            return .integer(sum)
        }
        return .real(values.compactMap(\.double).reduce(0, +))
    }

    private static func average(_ values: [Value], of type: AttributeType?) throws(QueryError) -> Value {
        if let sum = decimalSum(of: values) {
            guard let data = sum.average else { throw .arithmeticOverflow }
            return .blob(data)
        }
        let numbers = type == .uint64 ? values.compactMap(\.unsignedDouble) : values.compactMap(\.double)
        return .real(numbers.reduce(0, +) / Double(values.count))
    }

    /// Returns the sum of decimal numbers; nil for other values.
    private static func decimalSum(of values: [Value]) -> DecimalSum? {
        guard case .blob? = values.first else { return nil }
        var sum = DecimalSum()
        for case .blob(let data) in values {
            guard data.withUnsafeBytes({ sum.add($0) }) else { return nil }
        }
        return sum
    }
}

extension Value {
    /// The stored form of an unsigned 64-bit integer as a floating-point number; nil for other values.
    fileprivate var unsignedDouble: Double? {
        if case .integer(let integer) = self { Double(UInt64(bitPattern: integer)) } else { nil }
    }
}
