// Whether expressions are null, as far as their form determines it. `false` means that it is unknown.

extension QueryExpression {
    /// Whether the value is never null.
    package var isNeverNull: Bool {
        switch self {
        case .literal(let value): !value.isNull
        case .parameter, .variable, .comparison, .and, .or, .not, .isMember, .quantified, .isKind: true
        case .element, .path, .component, .arithmetic, .aggregated, .aggregate: false
        case .conditional(_, let first, let second): first.isNeverNull && second.isNeverNull
        case .coalesce(let values): values.contains(where: \.isNeverNull)
        case .function(_, let arguments): arguments.allSatisfy(\.isNeverNull)
        }
    }

    /// Returns whether the value is null if `other` is null.
    package func isNull(whereNull other: QueryExpression) -> Bool {
        if self == other { return true }
        switch self {
        case .literal(let value): return value.isNull
        case .path(let start, let path): return Self.path(path, from: start, extends: other)
        case .arithmetic(_, let left, let right):
            return left.isNull(whereNull: other) || right.isNull(whereNull: other)
        case .function(_, let arguments): return arguments.contains { $0.isNull(whereNull: other) }
        case .component(_, let whole, _): return whole.isNull(whereNull: other)
        case .aggregated(_, let source, _, _, _): return source.isMissing(whereNull: other)
        case .coalesce(let values): return values.allSatisfy { $0.isNull(whereNull: other) }
        case .conditional(let test, let first, let second):
            return (first.isNull(whereNull: other) || test.isFalse(whereNull: other)) && second.isNull(whereNull: other)
        case .parameter, .variable, .element, .comparison, .and, .or, .not, .isMember, .quantified, .isKind,
            .aggregate:
            return false
        }
    }

    /// Returns whether the expression, as a condition, is false if `other` is null.
    func isFalse(whereNull other: QueryExpression) -> Bool {
        switch self {
        case .comparison(.notEqual, let left, .literal(.null)): return left.isNull(whereNull: other)
        case .comparison(.equal, let left, let right):
            return (left.isNull(whereNull: other) && right.isNeverNull)
                || (right.isNull(whereNull: other) && left.isNeverNull)
        case .comparison(.notEqual, _, _): return false
        case .comparison(_, let left, let right):
            return left.isNull(whereNull: other) || right.isNull(whereNull: other)
        case .and(let conditions): return conditions.contains { $0.isFalse(whereNull: other) }
        case .or(let conditions): return conditions.allSatisfy { $0.isFalse(whereNull: other) }
        case .isMember(let element, let values):
            return element.isNull(whereNull: other) && !values.contains(where: \.isNull)
        case .quantified(.any, let source, _, _): return source.isMissing(whereNull: other)
        case .quantified, .not, .isKind, .parameter, .variable, .aggregate: return false
        case .literal, .element, .path, .component, .arithmetic, .conditional, .coalesce, .function, .aggregated:
            return isNull(whereNull: other)
        }
    }

    /// The value that the condition tests for being non-null; nil for other conditions.
    package var requiredValue: QueryExpression? {
        if case .comparison(.notEqual, let value, .literal(.null)) = self { value } else { nil }
    }

    fileprivate static func path(
        _ path: some Collection<Property>,
        from start: Int,
        extends other: QueryExpression
    ) -> Bool {
        guard case .path(start, let prefix) = other else { return false }
        return path.starts(with: prefix)
    }
}

extension CollectionSource {
    /// Returns whether the collection is missing or empty if a value is null.
    func isMissing(whereNull other: QueryExpression) -> Bool {
        switch self {
        case .members(let start, let path): QueryExpression.path(path.dropLast(), from: start, extends: other)
        case .elements(let whole, _): whole.isNull(whereNull: other)
        }
    }
}
