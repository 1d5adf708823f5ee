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
        // The negative of a Float is exact in a Double.
        guard Output.self == Float.self || isCalculable(Output.self) else {
            throw UnsupportedPredicate("the negative of '\(Output.self)'")
        }
        return .value(.function(.negate, [try reading.expression(for: "a negative")]))
    }
}

/// Reads a calculation. One of constants is left to Foundation, unless it would overflow, which in Swift ends the program:
/// then it is left to the store, which fails only if it gets there.
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
    return .value(
        .arithmetic(operation, try leftReading.expression(for: part), try rightReading.expression(for: part))
    )
}

/// Whether a store calculates with a type as Swift does: with all integers that have room in 64 bits with a sign, and with
/// Double. A Float would have to be rounded after each step; a Decimal is stored as bytes.
private func isCalculable<T>(_ type: T.Type) -> Bool {
    if type == Int.self || type == Double.self { return true }
    guard let integer = type as? any FixedWidthInteger.Type else { return false }
    return integer != UInt64.self && integer != UInt.self && integer.bitWidth <= 64
}

private func overflows(_ operation: QueryExpression.Arithmetic, _ left: Constant, _ right: Constant) -> Bool {
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
