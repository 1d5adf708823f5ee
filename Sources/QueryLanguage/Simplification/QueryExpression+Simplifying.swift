// The reader of `#Predicate` and the reader of the text form both build conditions with these functions: a condition
// that is written in both forms gives equal expressions, and so the same statement.

extension QueryExpression {
    // MARK: Logic

    /// Returns whether all conditions are true. Drops tests for null that another condition implies, so that an index
    /// can serve the remaining conditions.
    package static func conjunction(_ conditions: [QueryExpression]) -> QueryExpression {
        var parts: [QueryExpression] = []
        for condition in conditions {
            switch condition {
            case .and(let nested) where condition.unsignedComparison == nil: parts += nested
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

    /// Returns whether one condition is true. Comparisons of one value with several constants become one list.
    package static func disjunction(_ conditions: [QueryExpression]) -> QueryExpression {
        var alternatives: [QueryExpression] = []
        for condition in conditions {
            switch condition {
            case .or(let nested) where condition.unsignedComparison == nil: alternatives += nested
            case .literal(let value): if value.isTrue { return .bool(true) }
            default: alternatives.append(condition)
            }
        }
        let parts = mergingMemberships(alternatives)
        return parts.isEmpty ? .bool(false) : parts.count == 1 ? parts[0] : .or(parts)
    }

    private static func mergingMemberships(_ alternatives: [QueryExpression]) -> [QueryExpression] {
        var parts: [QueryExpression] = []
        var start = 0
        while start < alternatives.count {
            var end = start + 1
            if let (value, constants) = alternatives[start].membership {
                var constants = constants
                while end < alternatives.count, let (other, more) = alternatives[end].membership, other == value {
                    constants += more
                    end += 1
                }
                parts.append(end == start + 1 ? alternatives[start] : .isMember(value, of: constants))
            } else {
                parts.append(alternatives[start])
            }
            start = end
        }
        return parts
    }

    /// The value and the constants of a membership test.
    private var membership: (value: QueryExpression, constants: [Value])? {
        switch self {
        case .isMember(let value, let constants): (value, constants)
        case .comparison(.equal, let value, .literal(let constant)): (value, [constant])
        default: nil
        }
    }

    /// Returns whether a condition is false.
    package static func negation(_ condition: QueryExpression) -> QueryExpression {
        switch condition {
        case .literal(let value): .bool(!value.isTrue)
        case .not(let inner): inner
        case .comparison(.equal, let left, let right): .comparison(.notEqual, left, right)
        case .comparison(.notEqual, let left, let right): .comparison(.equal, left, right)
        case .quantified(.any, let source, let variable, .not(let inner)):
            .quantified(.all, source, variable: variable, condition: inner)
        case .quantified(.any, let source, let variable, .comparison(.notEqual, let left, let right)):
            .quantified(.all, source, variable: variable, condition: .comparison(.equal, left, right))
        case .quantified(.all, let source, let variable, let inner):
            .quantified(.any, source, variable: variable, condition: .negation(inner))
        default: .not(condition)
        }
    }

    /// The expression as a condition: null is false.
    package var asCondition: QueryExpression {
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

    /// The condition of a request, which selects the objects for which it is true, neither false nor null. A test of a
    /// text, which may be null, then needs no comparison with true.
    package var asFilter: QueryExpression {
        switch self {
        case .and(let conditions) where unsignedComparison == nil: .and(conditions.map(\.asFilter))
        case .comparison(.equal, .function(let function, let arguments), .literal(.integer(1)))
        where QueryExpression.function(function, arguments).resultType == .bool:
            .function(function, arguments)
        default: self
        }
    }

    /// Returns the first condition if `test` is true, otherwise the second. Neither may be null.
    package static func choice(
        _ test: QueryExpression,
        _ first: QueryExpression,
        _ second: QueryExpression
    ) -> QueryExpression {
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

    /// Returns the first of two values that is not null.
    package static func coalescing(_ first: QueryExpression, _ second: QueryExpression) -> QueryExpression {
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

    /// Returns a comparison, with the constant on the right if one side is a constant.
    package static func comparing(
        _ comparison: Comparison,
        _ left: QueryExpression,
        _ right: QueryExpression
    ) -> QueryExpression {
        guard case .literal(let constant) = right else {
            if case .literal = left { return comparing(comparison.mirrored, right, left) }
            return .comparison(comparison, left, right)
        }
        if case .literal(let other) = left { return .bool(comparison.apply(other, constant)) }
        // Nothing equals NaN, and NaN has no order.
        if constant.isNotANumber { return .bool(comparison == .notEqual) }
        return comparing(comparison, left, with: constant) ?? .comparison(comparison, left, right)
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
        case (_, .aggregated(.count, let source, let variable, let value, let condition), .integer(let number))
        where value == source.member(variable):
            existence(comparison, number, of: source, variable, condition)
        default: nil
        }
    }

    /// Returns whether members exist, if that determines a comparison of their count: a store looks for one member
    /// instead of counting all of them. If the owner of the members can be missing, the count can be null, which is
    /// neither 0 nor less than 1.
    private static func existence(
        _ comparison: Comparison,
        _ number: Int64,
        of source: CollectionSource,
        _ variable: Int,
        _ condition: QueryExpression
    ) -> QueryExpression? {
        let exists = quantifying(.any, source, variable: variable, condition: condition)
        switch (comparison, number) {
        case (.greater, 0), (.greaterOrEqual, 1): return exists
        case (.notEqual, 0): return source.owner == nil ? exists : nil
        case (.equal, 0), (.less, 1), (.lessOrEqual, 0): return source.owner == nil ? .negation(exists) : nil
        default: return nil
        }
    }

    // MARK: Collections

    /// Returns whether a condition holds for a member of a collection, or for all of them.
    ///
    /// A negated condition on all members becomes the negation of the condition on any member.
    package static func quantifying(
        _ quantifier: Quantifier,
        _ source: CollectionSource,
        variable: Int,
        condition: QueryExpression
    ) -> QueryExpression {
        switch (quantifier, condition) {
        case (.any, .literal(let value)) where !value.isTrue: return .bool(false)
        case (.all, .literal(let value)) where value.isTrue: return .bool(true)
        case (.all, .literal), (.all, .not), (.all, .comparison(.notEqual, _, _)):
            return .not(.quantified(.any, source, variable: variable, condition: .negation(condition)))
        default: return .quantified(quantifier, source, variable: variable, condition: condition)
        }
    }
}
