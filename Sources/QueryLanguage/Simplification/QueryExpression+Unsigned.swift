extension QueryExpression {
    /// Returns an order comparison of unsigned 64-bit integers, which are stored as signed integers with the same bits:
    /// integers from 2^63 on are stored as negative integers.
    package static func comparingUnsigned(
        _ comparison: Comparison,
        _ left: QueryExpression,
        _ right: QueryExpression
    ) -> QueryExpression {
        if case .literal = left {
            guard case .literal = right else { return comparingUnsigned(comparison.mirrored, right, left) }
        }
        let zero = QueryExpression.literal(.integer(0))
        func isLarge(_ value: QueryExpression) -> QueryExpression { .comparison(.less, value, zero) }
        func isSmall(_ value: QueryExpression) -> QueryExpression { .comparison(.greaterOrEqual, value, zero) }
        let signed = QueryExpression.comparison(comparison, left, right)
        let isAscending = comparison == .less || comparison == .lessOrEqual
        guard case .literal(.integer(let constant)) = right else {
            let (smaller, larger) = isAscending ? (left, right) : (right, left)
            let haveSameSize = QueryExpression.comparison(.equal, isLarge(left), isLarge(right))
            return .or([.and([isSmall(smaller), isLarge(larger)]), .and([haveSameSize, signed])])
        }
        return switch (isAscending, constant >= 0) {
        case (true, true): .and([isSmall(left), signed])
        case (true, false): .or([isSmall(left), signed])
        case (false, true): .or([isLarge(left), signed])
        case (false, false): .and([isLarge(left), signed])
        }
    }

    /// The order comparison from which ``comparingUnsigned(_:_:_:)`` created the expression; nil for other expressions.
    var unsignedComparison: QueryExpression? {
        let inner: QueryExpression?
        switch self {
        case .and(let parts) where parts.count == 2: inner = parts[1]
        case .or(let parts) where parts.count == 2:
            if case .and(let last) = parts[1], last.count == 2 { inner = last[1] } else { inner = parts[1] }
        default: inner = nil
        }
        guard case .comparison(let operation, let left, let right)? = inner,
            left.resultType == .uint64 || right.resultType == .uint64,
            self == .comparingUnsigned(operation, left, right)
        else { return nil }
        return inner
    }

    /// A signed integer with the order of the unsigned 64-bit integer: the integer minus 2^63, computed without
    /// overflow.
    package var unsignedRank: QueryExpression {
        let half = QueryExpression.literal(.integer(.min))
        return .conditional(
            .comparison(.less, self, .literal(.integer(0))),
            .arithmetic(.subtract, self, half),
            .arithmetic(.add, self, half)
        )
    }
}

extension QueryExpression.Comparison {
    /// The comparison with its sides swapped.
    package var mirrored: QueryExpression.Comparison {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }
}
