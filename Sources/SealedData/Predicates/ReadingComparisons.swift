import Foundation
import ObjectGraph

extension PredicateExpressions.Equal: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (left, right) = (try context.read(lhs), try context.read(rhs))
        if left.isConstant, right.isConstant { return try context.constant(self) }
        return .value(try equality(left, right))
    }
}

extension PredicateExpressions.NotEqual: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (left, right) = (try context.read(lhs), try context.read(rhs))
        if left.isConstant, right.isConstant { return try context.constant(self) }
        return .value(.negation(try equality(left, right)))
    }
}

/// Returns whether two values are equal: nil equals only nil.
func equality(_ left: Reading, _ right: Reading) throws -> QueryExpression {
    if right.isNil { return try isNil(left) }
    if left.isNil { return try isNil(right) }
    switch (left, right) {
    case (.members(let members), .constant(let constant)), (.constant(let constant), .members(let members)):
        guard case .elements(let value, _) = members.source, members.filters.isEmpty else { break }
        return try equality(.composite(value), .constant(constant))
    case (.object(let object), .constant(let constant)), (.constant(let constant), .object(let object)):
        guard let key = try queryKey(of: constant, in: object.entity) else { return .bool(false) }
        let isSame = QueryExpression.comparing(.equal, object.key, .literal(.integer(key)))
        return .conjunction([object.requirement, isSame].compactMap(\.self))
    case (.composite(let value), .constant(let constant)), (.constant(let constant), .composite(let value)):
        guard let captured = CompositeEquality.captured(constant.value) else {
            throw UnsupportedPredicate("equality with a captured '\(type(of: constant.value))', which has no one form")
        }
        return captured.hasOneText
            ? .comparing(.equal, value, .literal(.text(captured.text)))
            : .function(.equalsJSON, [value, .literal(.text(captured.text))])
    default: break
    }
    let part = "equality"
    return .comparing(.equal, try left.expression(for: part), try right.expression(for: part))
}

/// Returns whether a reading is nil.
private func isNil(_ reading: Reading) throws -> QueryExpression {
    switch reading {
    case .object(let object): object.presence.map { .negation($0) } ?? .bool(false)
    case .composite(let value): .comparing(.equal, value, .literal(.null))
    // A to-many relationship without members is empty, not nil.
    case .members(let members): members.presence.map { .negation($0) } ?? .bool(false)
    default: .comparing(.equal, try reading.expression(for: "a test for nil"), .literal(.null))
    }
}

extension PredicateExpressions.Comparison: ReadableExpression {
    func read(in context: ReadingContext) throws -> Reading {
        let (left, right) = (try context.read(lhs), try context.read(rhs))
        if left.isConstant, right.isConstant { return try context.constant(self) }
        return .value(try orderComparison(op.comparison, left, right, of: LHS.Output.self))
    }
}

/// Returns an order comparison of two values of a type.
func orderComparison<T: Comparable>(
    _ comparison: QueryExpression.Comparison,
    _ left: Reading,
    _ right: Reading,
    of type: T.Type
) throws -> QueryExpression {
    let part = "an order comparison"
    if type == UInt64.self || type == UInt.self {
        return .comparingUnsigned(comparison, try left.expression(for: part), try right.expression(for: part))
    }
    guard type is any StorableValue.Type else {
        switch (left, right) {
        case (_, .constant(let constant)): return try orderComparison(comparison, left, constant, of: type)
        case (.constant(let constant), _): return try orderComparison(comparison.mirrored, right, constant, of: type)
        default:
            let left = try EnumerationOrder.rank(of: try left.storedExpression(for: part), as: type)
            return .comparing(
                comparison,
                left,
                try EnumerationOrder.rank(of: right.storedExpression(for: part), as: type)
            )
        }
    }
    return .comparing(comparison, try left.expression(for: part), try right.expression(for: part))
}

/// Returns an order comparison of an enum with a constant. The order of an enum can differ from the order of its raw
/// values: the result lists the cases for which the comparison holds.
private func orderComparison<T: Comparable>(
    _ comparison: QueryExpression.Comparison,
    _ reading: Reading,
    _ constant: Constant,
    of type: T.Type
) throws -> QueryExpression {
    guard let bound = constant.value as? T else {
        throw UnsupportedPredicate("an order comparison of '\(type)' with nil")
    }
    let value = try reading.storedExpression(for: "an order comparison")
    return .isMember(value, of: try EnumerationOrder.literals(of: type) { comparison.holds($0, bound) })
}

extension Reading {
    /// The stored form: a value, or the text of a composite value; nil for other readings.
    var stored: QueryExpression? {
        switch self {
        case .value(let value), .composite(let value): value
        case .constant, .object, .members, .range: nil
        }
    }

    /// Returns the stored form of the reading: a composite value as its text.
    func storedExpression(for part: @autoclosure () -> String) throws -> QueryExpression {
        if case .composite(let value) = self { value } else { try expression(for: part()) }
    }
}

extension QueryExpression.Comparison {
    fileprivate func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}

extension PredicateExpressions.ComparisonOperator {
    fileprivate var comparison: QueryExpression.Comparison {
        get throws {
            switch self {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: throw UnsupportedPredicate("'\(self)'")
            }
        }
    }
}
