/// A condition without regard to the constants that values are compared with: conditions of the same shape
/// become the same statement, with other parameters.
///
/// Other constants count, since the statement may depend on them: null, those in lists, and those that functions and
/// calculations are given.
package struct QueryShape: Hashable, Sendable {
    private let expression: QueryExpression

    /// The shape of a condition.
    package init(_ expression: QueryExpression) {
        self.expression = expression
    }

    /// The constants that do not count, in the order of their numbers in ``template``.
    package var constants: [Value] {
        var constants: [Value] = []
        expression.collectConstants(into: &constants)
        return constants
    }

    /// The condition with numbered parameters instead of the constants that do not count.
    package var template: QueryExpression {
        var count = 0
        return expression.replacingConstants(&count)
    }

    package static func == (left: QueryShape, right: QueryShape) -> Bool {
        left.expression.hasSameShape(as: right.expression)
    }

    package func hash(into hasher: inout Hasher) { expression.hashShape(into: &hasher) }
}

extension QueryExpression {
    /// Where a constant stands that does not count: its storage class; nil for other expressions.
    private var parameterStorage: AttributeType.Storage? {
        switch self {
        case .literal(.integer): .integer
        case .literal(.real): .real
        case .literal(.text): .text
        case .literal(.blob), .literal(.uuid): .blob
        default: nil
        }
    }

    fileprivate func collectConstants(into constants: inout [Value]) {
        switch self {
        case .comparison(_, let left, let right):
            for side in [left, right] {
                if side.parameterStorage != nil, case .literal(let value) = side {
                    constants.append(value)
                } else {
                    side.collectConstants(into: &constants)
                }
            }
        case .literal, .parameter, .variable, .element, .path, .isKind: break
        default: for operand in operands { operand.collectConstants(into: &constants) }
        }
    }

    fileprivate func replacingConstants(_ count: inout Int) -> QueryExpression {
        func side(_ side: QueryExpression) -> QueryExpression {
            guard let storage = side.parameterStorage else { return side.replacingConstants(&count) }
            defer { count += 1 }
            return .parameter(count, storage)
        }
        switch self {
        case .comparison(let comparison, let left, let right):
            let left = side(left)
            return .comparison(comparison, left, side(right))
        default: return mapOperands { $0.replacingConstants(&count) }
        }
    }

    fileprivate func hasSameShape(as other: QueryExpression) -> Bool {
        func sides(_ left: QueryExpression, _ other: QueryExpression) -> Bool {
            if let storage = left.parameterStorage { return storage == other.parameterStorage }
            return other.parameterStorage == nil && left.hasSameShape(as: other)
        }
        func all(_ parts: [QueryExpression], _ others: [QueryExpression]) -> Bool {
            parts.count == others.count && zip(parts, others).allSatisfy { $0.hasSameShape(as: $1) }
        }
        switch (self, other) {
        case (.comparison(let comparison, let left, let right), .comparison(let other, let otherLeft, let otherRight)):
            return comparison == other && sides(left, otherLeft) && sides(right, otherRight)
        case (.and(let parts), .and(let others)), (.or(let parts), .or(let others)),
            (.coalesce(let parts), .coalesce(let others)):
            return all(parts, others)
        case (.function(let function, let parts), .function(let other, let others)):
            return function == other && all(parts, others)
        case (.not(let part), .not(let other)): return part.hasSameShape(as: other)
        case (.conditional(let test, let first, let second), .conditional(let other, let otherFirst, let otherSecond)):
            return all([test, first, second], [other, otherFirst, otherSecond])
        case (
            .quantified(let quantifier, let source, let variable, let condition),
            .quantified(let other, let otherSource, let otherVariable, let otherCondition)
        ):
            return quantifier == other && source == otherSource && variable == otherVariable
                && condition.hasSameShape(as: otherCondition)
        default:
            // Whatever else there is has few constants, or none, and counts as it is.
            return self == other
        }
    }

    fileprivate func hashShape(into hasher: inout Hasher) {
        func hashSide(_ side: QueryExpression) {
            if let storage = side.parameterStorage { hasher.combine(storage) } else { side.hashShape(into: &hasher) }
        }
        switch self {
        case .comparison(let comparison, let left, let right):
            hasher.combine(comparison)
            hashSide(left)
            hashSide(right)
        case .and(let parts), .or(let parts), .coalesce(let parts): for part in parts { part.hashShape(into: &hasher) }
        case .function(let function, let parts):
            hasher.combine(function)
            for part in parts { part.hashShape(into: &hasher) }
        case .not(let part): part.hashShape(into: &hasher)
        case .conditional(let test, let first, let second):
            for part in [test, first, second] { part.hashShape(into: &hasher) }
        case .quantified(let quantifier, let source, _, let condition):
            hasher.combine(quantifier)
            hasher.combine(source)
            condition.hashShape(into: &hasher)
        default: hasher.combine(self)
        }
    }
}
