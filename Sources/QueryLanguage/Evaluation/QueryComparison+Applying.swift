extension QueryExpression.Comparison {
    /// Returns whether the comparison holds for two values. Null equals null; NaN equals nothing; null and NaN have no
    /// order.
    func apply(_ left: Value, _ right: Value) -> Bool {
        if left.isNotANumber || right.isNotANumber { return self == .notEqual }
        switch self {
        case .equal: return left.compare(right) == 0
        case .notEqual: return left.compare(right) != 0
        case .less, .lessOrEqual, .greater, .greaterOrEqual: break
        }
        if left.isNull || right.isNull { return false }
        let order = left.compare(right)
        return switch self {
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        default: order >= 0
        }
    }
}
