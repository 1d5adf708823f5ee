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
        case .distinctCount:
            return .integer(Int64(Set(values.filter { !$0.isNotANumber }.map(\.comparable)).count))
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
        // Unsigned integers from 2⁶³ on are stored as negative integers.
        if type == .uint64, values.contains(where: { $0.compare(.integer(0)) < 0 }) { throw .arithmeticOverflow }
        return try numberSum(of: values).sum
    }

    private static func average(_ values: [Value], of type: AttributeType?) throws(QueryError) -> Value {
        if let sum = decimalSum(of: values) {
            guard let data = sum.average else { throw .arithmeticOverflow }
            return .blob(data)
        }
        let average = numberSum(of: type == .uint64 ? values.map(\.unsignedReal) : values).average
        guard type?.averageType.storage == .integer else { return .real(average) }
        return .integer(Int64(exactly: average.rounded()) ?? (average < 0 ? .min : .max))
    }

    private static func numberSum(of values: [Value]) -> NumberSum {
        var sum = NumberSum()
        for value in values {
            switch value {
            case .integer(let integer): sum.add(integer)
            case .real(let real): sum.add(real)
            case .null, .text, .blob, .uuid: break
            }
        }
        return sum
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
    /// The stored form of an unsigned 64-bit integer as a floating-point number, rounded as in SQL; other values
    /// unchanged.
    fileprivate var unsignedReal: Value {
        if case .integer(let integer) = self { .real(Double(integer) + (integer < 0 ? 0x1p64 : 0)) } else { self }
    }

    /// A value that equals the form of any value that compares as equal.
    fileprivate var comparable: Value {
        switch self {
        case .real(let real): Int64(exactly: real).map(Value.integer) ?? self
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { .blob(Data($0)) }
        case .null, .integer, .text, .blob: self
        }
    }
}
