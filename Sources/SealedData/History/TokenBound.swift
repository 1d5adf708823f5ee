import Foundation

/// A node of a predicate over transactions that may require a token after a constant.
private protocol TokenBounding {
    /// The constant; nil if transactions with any token may fulfil the node.
    var lowerBound: DefaultHistoryToken? { get }
}

/// A node that is the token of the transaction or a constant.
private protocol TokenOperand {
    /// Whether this is the token of the transaction.
    var isToken: Bool { get }
    /// The constant; nil if this is none.
    var constant: DefaultHistoryToken? { get }
}

extension DefaultHistoryToken {
    /// The position after which all transactions lie that fulfil a predicate; nil if the predicate requires none.
    static func lowerBound(of predicate: Predicate<DefaultHistoryTransaction>) -> DefaultHistoryToken? {
        (predicate.expression as? any TokenBounding)?.lowerBound
    }
}

extension PredicateExpressions.Conjunction: TokenBounding {
    fileprivate var lowerBound: DefaultHistoryToken? {
        let bounds = [(lhs as? any TokenBounding)?.lowerBound, (rhs as? any TokenBounding)?.lowerBound]
        return bounds.compactMap(\.self).max()
    }
}

extension PredicateExpressions.Comparison: TokenBounding {
    fileprivate var lowerBound: DefaultHistoryToken? {
        guard let left = lhs as? any TokenOperand, let right = rhs as? any TokenOperand else { return nil }
        return switch op {
        case .greaterThan where left.isToken: right.constant
        case .lessThan where right.isToken: left.constant
        default: nil
        }
    }
}

extension PredicateExpressions.KeyPath: TokenOperand {
    fileprivate var isToken: Bool { keyPath as AnyKeyPath == \DefaultHistoryTransaction.token }
    fileprivate var constant: DefaultHistoryToken? { nil }
}

extension PredicateExpressions.Value: TokenOperand {
    fileprivate var isToken: Bool { false }
    fileprivate var constant: DefaultHistoryToken? { value as? DefaultHistoryToken }
}
