import Foundation
import ObjectGraph

extension PredicateExpressions.Arithmetic: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let operation: QueryExpression.Arithmetic =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default: throw UnsupportedPredicate("'\(op)'")
            }
        return try calculation(operation, lhs, rhs, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.IntDivision: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try calculation(.divide, lhs, rhs, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.IntRemainder: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try calculation(.remainder, lhs, rhs, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.FloatDivision: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        try calculation(.divide, lhs, rhs, in: context) { try context.constant(self) }
    }
}

extension PredicateExpressions.UnaryMinus: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let reading = try context.read(wrapped)
        if case .constant(let constant) = reading, !overflows(.subtract, Constant(Output.zero), constant) {
            return try context.constant(self)
        }
        guard isCalculable(Output.self) else { throw UnsupportedPredicate("the negative of '\(Output.self)'") }
        let negative = QueryExpression.function(.negate, [try reading.expression(for: "a negative")])
        return .value(negative.kept(in: Output.self))
    }
}

/// Reads a calculation. Foundation evaluates a constant calculation, with two exceptions, which trap in Swift: an
/// overflow, and a product of decimals below the smallest decimal. The store evaluates these, and throws an overflow
/// only if it reaches the calculation.
private func calculation<Left: PredicateExpression, Right: PredicateExpression>(
    _ operation: QueryExpression.Arithmetic,
    _ left: Left,
    _ right: Right,
    in context: ReadingContext,
    folding: () throws -> Reading
) throws -> Reading {
    let (leftReading, rightReading) = (try context.read(left), try context.read(right))
    if case .constant(let left) = leftReading, case .constant(let right) = rightReading,
        !overflows(operation, left, right)
    {
        return try folding()
    }
    guard isCalculable(Left.Output.self) else {
        throw UnsupportedPredicate("arithmetic with '\(Left.Output.self)'")
    }
    let part = "arithmetic"
    let result = QueryExpression.calculating(
        operation,
        try leftReading.expression(for: part),
        try rightReading.expression(for: part),
        of: (Left.Output.self as? any StorableValue.Type)?.attributeType
    )
    return .value(result.kept(in: Left.Output.self))
}

/// Returns whether a store calculates with a type like Swift.
private func isCalculable<T>(_ type: T.Type) -> Bool {
    if type == Double.self || type == CGFloat.self || type == Float.self || type == Decimal.self { return true }
    guard let integer = type as? any FixedWidthInteger.Type else { return false }
    return integer.bitWidth <= 64
}

extension QueryExpression {
    /// Returns the result of a calculation with the range and precision of the Swift type.
    fileprivate func kept<T>(in type: T.Type) -> QueryExpression {
        switch type {
        case is Int8.Type: .function(.checkInt8, [self])
        case is Int16.Type: .function(.checkInt16, [self])
        case is Int32.Type: .function(.checkInt32, [self])
        case is UInt8.Type: .function(.checkUInt8, [self])
        case is UInt16.Type: .function(.checkUInt16, [self])
        case is UInt32.Type: .function(.checkUInt32, [self])
        // The nearest Float to the exact result: a Double has more than twice its digits.
        case is Float.Type: .function(.roundToFloat, [self])
        default: self
        }
    }
}

private func overflows(_ operation: QueryExpression.Arithmetic, _ left: Constant, _ right: Constant) -> Bool {
    if operation == .multiply, let left = left.value as? Decimal, let right = right.value as? Decimal {
        return left.productUnderflows(with: right)
    }
    guard let left = left.value as? any FixedWidthInteger else { return false }
    return overflows(operation, left, right.value)
}

private func overflows<Integer: FixedWidthInteger>(
    _ operation: QueryExpression.Arithmetic,
    _ left: Integer,
    _ right: Any
) -> Bool {
    guard let right = right as? Integer else { return true }
    return switch operation {
    case .add: left.addingReportingOverflow(right).overflow
    case .subtract: left.subtractingReportingOverflow(right).overflow
    case .multiply: left.multipliedReportingOverflow(by: right).overflow
    case .divide: left.dividedReportingOverflow(by: right).overflow
    case .remainder: left.remainderReportingOverflow(dividingBy: right).overflow
    }
}

extension Numeric {
    fileprivate static var zero: Self { 0 }
}
