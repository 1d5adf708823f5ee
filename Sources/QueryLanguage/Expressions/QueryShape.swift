/// A condition without the constants of its comparisons: conditions of the same shape become the same statement with
/// other parameters.
///
/// All other constants are part of the shape, since the statement can depend on them: null, constants in lists, and
/// arguments of functions and calculations.
package struct QueryShape: Hashable, Sendable {
    private let expression: QueryExpression

    /// Creates the shape of a condition.
    package init(_ expression: QueryExpression) {
        self.expression = expression
    }

    /// The constants that are not part of the shape, in the order of their numbers in ``template``.
    package var constants: [Value] {
        var constants: [Value] = []
        expression.collectConstants(into: &constants)
        return constants
    }

    /// The condition with numbered parameters instead of these constants.
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
    /// The storage class of a constant that is not part of the shape; nil for other expressions.
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
            left.collectConstants(ofSideInto: &constants)
            right.collectConstants(ofSideInto: &constants)
        case .literal, .parameter, .variable, .element, .path, .isKind: break
        default: for operand in operands { operand.collectConstants(into: &constants) }
        }
    }

    /// Collects the constants of a side of a comparison, which can itself be a constant.
    private func collectConstants(ofSideInto constants: inout [Value]) {
        if parameterStorage != nil, case .literal(let value) = self {
            constants.append(value)
        } else {
            collectConstants(into: &constants)
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
        case (.literal(let value), .literal(let other)): return value.isIdentical(to: other)
        case (.isMember(let part, let values), .isMember(let other, let others)):
            return values.count == others.count && zip(values, others).allSatisfy { $0.isIdentical(to: $1) }
                && part.hasSameShape(as: other)
        case (.component(let keys, let whole, let type), .component(let otherKeys, let other, let otherType)):
            return keys == otherKeys && type == otherType && whole.hasSameShape(as: other)
        case (
            .quantified(let quantifier, let source, let variable, let condition),
            .quantified(let other, let otherSource, let otherVariable, let otherCondition)
        ):
            return quantifier == other && source.hasSameShape(as: otherSource) && variable == otherVariable
                && condition.hasSameShape(as: otherCondition)
        case (
            .aggregated(let aggregate, let source, let variable, let value, let condition),
            .aggregated(let other, let otherSource, let otherVariable, let otherValue, let otherCondition)
        ):
            return aggregate == other && source.hasSameShape(as: otherSource) && variable == otherVariable
                && all([value, condition], [otherValue, otherCondition])
        case (.arithmetic(let operation, let left, let right), .arithmetic(let other, let otherLeft, let otherRight)):
            return operation == other && all([left, right], [otherLeft, otherRight])
        default:
            // No other expression contains constants.
            return self == other
        }
    }

    /// Hashes a part of the shape. Operators are omitted, since hashing them takes as long as hashing the rest.
    fileprivate func hashShape(into hasher: inout Hasher) {
        switch self {
        case .path(_, let properties):
            for property in properties { hasher.combine(property.slot) }
            return
        case .literal, .parameter, .variable, .element, .isKind: return hasher.combine(self)
        case .comparison(_, let left, let right):
            left.hashShape(ofSideInto: &hasher)
            right.hashShape(ofSideInto: &hasher)
            return
        case .isMember(_, let values): hasher.combine(values.count)
        case .arithmetic, .function, .quantified, .aggregate, .aggregated, .and, .or, .not, .conditional, .coalesce,
            .component:
            break
        }
        for operand in operands { operand.hashShape(into: &hasher) }
    }

    /// Hashes a side of a comparison, which can be a constant.
    private func hashShape(ofSideInto hasher: inout Hasher) {
        if parameterStorage == nil { hashShape(into: &hasher) }
    }
}

extension CollectionSource {
    fileprivate func hasSameShape(as other: CollectionSource) -> Bool {
        switch (self, other) {
        case (.elements(let whole, let type), .elements(let other, let otherType)):
            type == otherType && whole.hasSameShape(as: other)
        default: self == other
        }
    }
}

extension Value {
    /// Returns whether both values have the same bytes: equal texts can have different bytes, and some functions
    /// distinguish them.
    fileprivate func isIdentical(to other: Value) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        default: self == other
        }
    }
}
