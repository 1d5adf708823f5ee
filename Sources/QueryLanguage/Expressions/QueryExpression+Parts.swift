extension QueryExpression {
    /// The direct subexpressions.
    package var operands: [QueryExpression] {
        switch self {
        case .literal, .parameter, .variable, .element, .path, .isKind: []
        case .comparison(_, let left, let right), .arithmetic(_, let left, let right): [left, right]
        case .and(let parts), .or(let parts), .coalesce(let parts), .function(_, let parts): parts
        case .not(let part), .isMember(let part, _), .aggregate(_, let part), .component(_, let part, _): [part]
        case .conditional(let test, let first, let second): [test, first, second]
        case .quantified(_, let source, _, let condition): source.operands + [condition]
        case .aggregated(_, let source, _, let value, let condition): source.operands + [value, condition]
        }
    }

    /// Returns the expression with its ``operands`` replaced, which are passed in their order.
    package func mapOperands(_ transform: (QueryExpression) throws -> QueryExpression) rethrows -> QueryExpression {
        switch self {
        case .literal, .parameter, .variable, .element, .path, .isKind: return self
        case .comparison(let comparison, let left, let right):
            let left = try transform(left)
            return .comparison(comparison, left, try transform(right))
        case .arithmetic(let operation, let left, let right):
            let left = try transform(left)
            return .arithmetic(operation, left, try transform(right))
        case .and(let parts): return try .and(parts.map(transform))
        case .or(let parts): return try .or(parts.map(transform))
        case .coalesce(let parts): return try .coalesce(parts.map(transform))
        case .function(let function, let parts): return try .function(function, parts.map(transform))
        case .not(let part): return try .not(transform(part))
        case .isMember(let part, let values): return try .isMember(transform(part), of: values)
        case .aggregate(let aggregate, let part): return .aggregate(aggregate, of: try transform(part))
        case .component(let keys, let whole, let type): return .component(keys, of: try transform(whole), type: type)
        case .conditional(let test, let first, let second):
            let (test, first) = (try transform(test), try transform(first))
            return .conditional(test, first, try transform(second))
        case .quantified(let quantifier, let source, let variable, let condition):
            let source = try source.mapOperands(transform)
            return .quantified(quantifier, source, variable: variable, condition: try transform(condition))
        case .aggregated(let aggregate, let source, let variable, let value, let condition):
            let source = try source.mapOperands(transform)
            let value = try transform(value)
            return .aggregated(aggregate, source, variable: variable, value: value, condition: try transform(condition))
        }
    }

    /// Calls `body` with each relationship that the expression reads.
    package func forEachRelationship(_ body: (Relationship) -> Void) {
        switch self {
        case .path(_, let path), .isKind(_, let path, _), .quantified(_, .members(_, let path), _, _),
            .aggregated(_, .members(_, let path), _, _, _):
            for case .relationship(let relationship) in path { body(relationship) }
        default: break
        }
        for operand in operands { operand.forEachRelationship(body) }
    }

    /// Whether the value depends on a group of objects.
    package var containsAggregate: Bool {
        if case .aggregate = self { true } else { operands.contains(where: \.containsAggregate) }
    }

    /// Whether the value depends on no object.
    package var isConstant: Bool {
        switch self {
        case .literal: true
        case .parameter, .variable, .element, .path, .isKind, .quantified, .aggregated, .aggregate: false
        default: operands.allSatisfy(\.isConstant)
        }
    }

    /// Whether computing the value can fail, so that short-circuit evaluation must be preserved.
    package var mayFail: Bool {
        switch self {
        case .arithmetic(_, let left, let right):
            Self.numberKind(of: left, right) != .double || left.mayFail || right.mayFail
        case .function(let function, let arguments):
            function.mayFail || arguments.contains(where: \.mayFail)
        case .aggregated(.sum, _, _, _, _), .aggregated(.average, _, _, _, _): true
        default: operands.contains(where: \.mayFail)
        }
    }
}

// NaN is not null, but SQL represents both as NULL.
extension QueryExpression {
    /// Whether the value is calculated with floating-point numbers, so that it can be NaN, as the sum of positive and
    /// negative infinity is.
    package var mayBeNotANumber: Bool {
        switch self {
        case .arithmetic(_, let left, let right): Self.numberKind(of: left, right) == .double
        case .function(.squareRoot, _), .function(.power, _): true
        case .aggregate(.sum, let argument), .aggregate(.average, let argument),
            .aggregated(.sum, _, _, let argument, _), .aggregated(.average, _, _, let argument, _):
            argument.resultType?.storage == .real
        case .function(_, let parts), .coalesce(let parts): parts.contains(where: \.mayBeNotANumber)
        case .conditional(_, let first, let second): first.mayBeNotANumber || second.mayBeNotANumber
        default: false
        }
    }

    /// The condition that the value is null, and not NaN.
    package var nullTest: QueryExpression {
        guard mayBeNotANumber else { return .comparing(.equal, self, .literal(.null)) }
        switch self {
        case .arithmetic(_, let left, let right): return .disjunction([left.nullTest, right.nullTest])
        case .function(_, let parts): return .disjunction(parts.map(\.nullTest))
        case .coalesce(let parts): return .conjunction(parts.map(\.nullTest))
        case .conditional(let test, let first, let second): return .choice(test, first.nullTest, second.nullTest)
        case .aggregate(_, let argument):
            return .comparison(.equal, .aggregate(.count, of: argument), .literal(.integer(0)))
        case .aggregated(_, let source, let variable, let value, let condition):
            let count = QueryExpression.aggregated(
                .count,
                source,
                variable: variable,
                value: value,
                condition: condition
            )
            return .comparison(.equal, .coalesce([count, .literal(.integer(0))]), .literal(.integer(0)))
        default: return .bool(false)
        }
    }
}

extension CollectionSource {
    /// The subexpressions of the source.
    var operands: [QueryExpression] {
        switch self {
        case .members: []
        case .elements(let value, _): [value]
        }
    }

    fileprivate func mapOperands(
        _ transform: (QueryExpression) throws -> QueryExpression
    ) rethrows -> CollectionSource {
        switch self {
        case .members: self
        case .elements(let value, let type): .elements(of: try transform(value), type: type)
        }
    }
}
