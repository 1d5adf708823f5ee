import ObjectGraph

/// Ways to put expressions together that leave out what has no effect.
extension QueryExpression {
    // MARK: Logic

    /// Whether all are true. Tests for null go where another condition is false for null anyway, so that an index can
    /// serve what is left.
    static func conjunction(_ conditions: [QueryExpression]) -> QueryExpression {
        var parts: [QueryExpression] = []
        for condition in conditions {
            switch condition {
            case .and(let nested): parts += nested
            case .literal(let value): if !value.isTrue { return .bool(false) }
            default: parts.append(condition)
            }
        }
        if parts.count > 1 { parts = droppingNullTests(parts) }
        return parts.isEmpty ? .bool(true) : parts.count == 1 ? parts[0] : .and(parts)
    }

    private static func droppingNullTests(_ parts: [QueryExpression]) -> [QueryExpression] {
        var kept = parts
        for part in parts {
            guard let required = part.requiredValue, let index = kept.firstIndex(of: part) else { continue }
            let isImplied = kept.indices.contains { $0 != index && kept[$0].isFalse(whereNull: required) }
            if isImplied { kept.remove(at: index) }
        }
        return kept
    }

    /// Whether one is true. Comparisons of one value with several constants become one list.
    static func disjunction(_ conditions: [QueryExpression]) -> QueryExpression {
        var parts: [QueryExpression] = []
        for condition in conditions {
            switch condition {
            case .or(let nested): for part in nested { addAlternative(part, to: &parts) }
            case .literal(let value): if value.isTrue { return .bool(true) }
            default: addAlternative(condition, to: &parts)
            }
        }
        return parts.isEmpty ? .bool(false) : parts.count == 1 ? parts[0] : .or(parts)
    }

    private static func addAlternative(_ condition: QueryExpression, to parts: inout [QueryExpression]) {
        guard let (value, constants) = condition.membership, let last = parts.last,
            let (lastValue, lastConstants) = last.membership, value == lastValue
        else { return parts.append(condition) }
        parts[parts.count - 1] = .isMember(value, of: lastConstants + constants)
    }

    /// The value and the constants of a test whether the one is among the others.
    private var membership: (value: QueryExpression, constants: [Value])? {
        switch self {
        case .isMember(let value, let constants): (value, constants)
        case .comparison(.equal, let value, .literal(let constant)): (value, [constant])
        default: nil
        }
    }

    /// Whether it is false.
    static func negation(_ condition: QueryExpression) -> QueryExpression {
        switch condition {
        case .literal(let value): .bool(!value.isTrue)
        case .not(let inner): inner
        case .comparison(.equal, let left, let right): .comparison(.notEqual, left, right)
        case .comparison(.notEqual, let left, let right): .comparison(.equal, left, right)
        default: .not(condition)
        }
    }

    /// The expression as a condition: null is false.
    var asCondition: QueryExpression {
        switch self {
        case .literal(let value): return .bool(value.isTrue)
        case .comparison, .and, .or, .not, .isMember, .quantified, .isKind, .function: return self
        case .conditional(let test, let first, let second):
            return .choice(test, first.asCondition, second.asCondition)
        case .coalesce(let values):
            guard values.count == 2, case .literal(let otherwise) = values[1] else { break }
            return otherwise.isTrue ? .comparing(.notEqual, values[0], .bool(false)) : values[0].asCondition
        case .parameter, .path, .variable, .element, .component, .arithmetic, .aggregated, .aggregate: break
        }
        return .comparison(.equal, self, .bool(true))
    }

    /// The first condition where `test` is true, else the second. Neither is ever null.
    static func choice(_ test: QueryExpression, _ first: QueryExpression, _ second: QueryExpression) -> QueryExpression
    {
        switch (test, first, second) {
        case (.literal(let value), _, _): value.isTrue ? first : second
        case (_, _, .literal(let value)):
            value.isTrue ? .disjunction([.negation(test), first]) : .conjunction([test, first])
        case (_, .literal(let value), _):
            value.isTrue ? .disjunction([test, second]) : .conjunction([.negation(test), second])
        default: .conditional(test, first, second)
        }
    }

    // MARK: Values

    /// The first of two values that is not null.
    static func coalescing(_ first: QueryExpression, _ second: QueryExpression) -> QueryExpression {
        if first.isNeverNull { return first }
        switch (first, second) {
        case (.literal, _): return second
        case (.conditional(let test, let value, .literal(.null)), _) where value.isNeverNull:
            return value.isCondition && second.isCondition
                ? .choice(test, value, second) : .conditional(test, value, second)
        case (.coalesce(let values), .coalesce(let more)): return .coalesce(values + more)
        case (.coalesce(let values), _): return .coalesce(values + [second])
        case (_, .coalesce(let more)): return .coalesce([first] + more)
        default: return .coalesce([first, second])
        }
    }

    private var isCondition: Bool {
        switch self {
        case .comparison, .and, .or, .not, .isMember, .quantified, .isKind: true
        case .literal(.integer(let value)): value == 0 || value == 1
        default: false
        }
    }

    // MARK: Comparisons

    /// A comparison, with a constant on the right where there is one.
    static func comparing(
        _ comparison: Comparison,
        _ left: QueryExpression,
        _ right: QueryExpression
    ) -> QueryExpression {
        guard case .literal(let constant) = right else {
            if case .literal = left { return comparing(comparison.mirrored, right, left) }
            return .comparison(comparison, left, right)
        }
        // Nothing equals a value that is not a number, nor is it ordered.
        if case .real(let real) = constant, real.isNaN { return .bool(comparison == .notEqual) }
        if let simpler = comparing(comparison, left, with: constant) { return simpler }
        return .comparison(comparison, left, right)
    }

    private static func comparing(
        _ comparison: Comparison,
        _ left: QueryExpression,
        with constant: Value
    ) -> QueryExpression? {
        switch (comparison, left, constant) {
        case (.equal, .conditional(let test, let value, .literal(.null)), _) where !constant.isNull:
            .conjunction([test, comparing(.equal, value, .literal(constant))])
        case (.notEqual, .conditional(let test, let value, .literal(.null)), _) where !constant.isNull:
            .disjunction([.negation(test), comparing(.notEqual, value, .literal(constant))])
        case (.equal, _, .integer(1)) where left.isCondition, (.notEqual, _, .integer(0)) where left.isCondition: left
        case (.equal, _, .integer(0)) where left.isCondition, (.notEqual, _, .integer(1)) where left.isCondition:
            .negation(left)
        case (.greater, .aggregated(.count, let source, let variable, let value, let condition), .integer(0)),
            (.greaterOrEqual, .aggregated(.count, let source, let variable, let value, let condition), .integer(1)):
            value == source.member(variable)
                ? .quantified(.any, source, variable: variable, condition: condition) : nil
        case (.notEqual, .aggregated(.count, let source, let variable, let value, let condition), .integer(0)):
            source.isAlwaysThere && value == source.member(variable)
                ? .quantified(.any, source, variable: variable, condition: condition) : nil
        case (.equal, .aggregated(.count, let source, let variable, let value, let condition), .integer(0)),
            (.less, .aggregated(.count, let source, let variable, let value, let condition), .integer(1)):
            source.isAlwaysThere && value == source.member(variable)
                ? .not(.quantified(.any, source, variable: variable, condition: condition)) : nil
        default: nil
        }
    }
}

extension CollectionSource {
    /// Whether the collection is that of an object that there always is.
    fileprivate var isAlwaysThere: Bool {
        if case .members(_, let path) = self { path.count == 1 } else { false }
    }
}
