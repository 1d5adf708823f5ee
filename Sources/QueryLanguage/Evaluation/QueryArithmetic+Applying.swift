import Foundation

extension QueryExpression.Arithmetic {
    /// Returns the result for two numbers; null if one of the values is not a number.
    ///
    /// - Throws: ``QueryError/arithmeticOverflow``.
    package func apply(_ left: Value, _ right: Value, as kind: QueryExpression.NumberKind) throws(QueryError) -> Value {
        switch kind {
        case .int64:
            guard case .integer(let left) = left, case .integer(let right) = right else { return .null }
            return .integer(try combine(left, right))
        case .uint64:
            guard case .integer(let left) = left, case .integer(let right) = right else { return .null }
            return .integer(Int64(bitPattern: try combine(UInt64(bitPattern: left), UInt64(bitPattern: right))))
        case .double:
            guard let left = left.double, let right = right.double else { return .null }
            return .real(combine(left, right))
        case .decimal:
            guard let left = try left.decimal, let right = try right.decimal else { return .null }
            return .blob(SortableDecimal.encode(try combine(left, right)))
        }
    }

    private func combine<Integer: FixedWidthInteger>(_ left: Integer, _ right: Integer) throws(QueryError) -> Integer {
        let (result, overflow) =
            switch self {
            case .add: left.addingReportingOverflow(right)
            case .subtract: left.subtractingReportingOverflow(right)
            case .multiply: left.multipliedReportingOverflow(by: right)
            case .divide: left.dividedReportingOverflow(by: right)
            case .remainder: left.remainderReportingOverflow(dividingBy: right)
            }
        if overflow { throw .arithmeticOverflow }
        return result
    }

    private func combine(_ left: Double, _ right: Double) -> Double {
        switch self {
        case .add: left + right
        case .subtract: left - right
        case .multiply: left * right
        case .divide: left / right
        case .remainder: left.truncatingRemainder(dividingBy: right)
        }
    }

    private func combine(_ left: Decimal, _ right: Decimal) throws(QueryError) -> Decimal {
        let isDivision = self == .divide || self == .remainder
        if isDivision, right.isZero { throw .arithmeticOverflow }
        let result =
            switch self {
            case .add: left + right
            case .subtract: left - right
            case .multiply: left.multiplied(by: right)
            case .divide: left.divided(by: right)
            case .remainder: left - right.multiplied(by: left.divided(by: right).truncated)
            }
        // Decimal arithmetic returns NaN for an overflow.
        if result.isNaN, !left.isNaN, !right.isNaN { throw .arithmeticOverflow }
        return result
    }
}

extension Value {
    /// The value as a floating-point number; nil if it is not a number.
    var double: Double? {
        switch self {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        case .blob: Decimal(storedValue: self).map { NSDecimalNumber(decimal: $0).doubleValue }
        case .null, .text, .uuid: nil
        }
    }

    /// The value as a decimal number; nil if it is not a number.
    ///
    /// - Throws: ``QueryError/arithmeticOverflow`` for a floating-point number that is infinite or too large.
    var decimal: Decimal? {
        get throws(QueryError) {
            switch self {
            case .integer(let integer): return Decimal(integer)
            case .real(let real):
                // Decimal.init traps for infinity.
                guard !real.isInfinite else { throw .arithmeticOverflow }
                let decimal = Decimal(real)
                guard !decimal.isNaN || real.isNaN else { throw .arithmeticOverflow }
                return decimal
            case .blob: return Decimal(storedValue: self)
            case .null, .text, .uuid: return nil
            }
        }
    }
}

extension Decimal {
    /// The number without its fraction.
    var truncated: Decimal {
        var (number, result) = (self, Decimal())
        NSDecimalRound(&result, &number, 0, self < 0 ? .up : .down)
        return result
    }

    func rounded(_ mode: NSDecimalNumber.RoundingMode) -> Decimal {
        var (number, result) = (self, Decimal())
        NSDecimalRound(&result, &number, 0, mode)
        return result
    }
}
