import Foundation
import ObjectGraph

/// A part of the history of one store that contains all of its transactions that fulfil a predicate.
struct TransactionBounds {
    /// The position before the first transaction; nil for the beginning of the history.
    var after: PersistentHistoryPosition?
    /// The number of the last transaction; nil for the end of the history.
    var through: Int64?
    /// The first time; nil for any.
    var earliest: Date?
    /// The last time; nil for any.
    var latest: Date?
    /// The transactions that the caller knows.
    var known: [PersistentHistoryPosition] = []
    /// Whether all transactions of the part fulfil the predicate.
    var isExact = false

    /// Whether the predicate requires times.
    var hasTimes: Bool { earliest != nil || latest != nil }

    /// Whether no transaction can be in the part.
    var isEmpty: Bool {
        if let after, let through, through <= after.number { return true }
        if let earliest, let latest { return earliest > latest }
        return false
    }

    /// Whether the part is one transaction, which the predicate names.
    var isOneTransaction: Bool {
        guard let after, let through else { return false }
        return through == after.number + 1
    }

    /// The whole history.
    static let all = TransactionBounds(isExact: true)
    /// The bounds by a node of which nothing is known.
    fileprivate static let unknown = TransactionBounds()

    /// The bounds by a predicate in a store; nil selects all transactions.
    static func bounds(of predicate: Predicate<DefaultHistoryTransaction>?, in store: String) -> TransactionBounds {
        guard let predicate else { return all }
        return bounds(of: predicate.expression, in: store, isNegated: false)
    }

    fileprivate static func bounds(of node: Any, in store: String, isNegated: Bool) -> TransactionBounds {
        (node as? any TransactionBounding)?.bounds(in: store, isNegated: isNegated) ?? unknown
    }

    /// The transactions in both parts.
    fileprivate func intersection(_ other: TransactionBounds) -> TransactionBounds {
        TransactionBounds(
            after: [after, other.after].compactMap(\.self).max { $0.number < $1.number },
            through: [through, other.through].compactMap(\.self).min(),
            earliest: [earliest, other.earliest].compactMap(\.self).max(),
            latest: [latest, other.latest].compactMap(\.self).min(),
            known: known + other.known,
            isExact: isExact && other.isExact
        )
    }

    /// A part that contains both parts.
    fileprivate func union(_ other: TransactionBounds) -> TransactionBounds {
        if isEmpty { return other }
        if other.isEmpty { return self }
        var bounds = TransactionBounds()
        if let after, let otherAfter = other.after {
            bounds.after = after.number < otherAfter.number ? after : otherAfter
        }
        if let through, let otherThrough = other.through { bounds.through = max(through, otherThrough) }
        if let earliest, let otherEarliest = other.earliest { bounds.earliest = min(earliest, otherEarliest) }
        if let latest, let otherLatest = other.latest { bounds.latest = max(latest, otherLatest) }
        if bounds.after != nil || bounds.through != nil { bounds.known = known + other.known }
        return bounds
    }

    /// The transactions whose tokens are in a relation to a constant.
    fileprivate init(_ relation: TransactionRelation, _ token: DefaultHistoryToken, in store: String) {
        self.init(known: [token.position(in: store)], isExact: true)
        let position = token.position(in: store)
        // The constant belongs to the last transaction that it includes in its own store, and follows the last
        // transaction that it includes in each other store.
        let isOwn = token.storeIdentifier == store
        let before = PersistentHistoryPosition(number: position.number - 1, timestamp: nil)
        switch relation {
        case .less: through = isOwn ? position.number - 1 : position.number
        case .lessOrEqual: through = position.number
        case .equal:
            after = isOwn && position.number > 0 ? before : position
            through = position.number
        case .notEqual: self = .unknown
        case .greaterOrEqual: after = isOwn && position.number > 0 ? before : position
        case .greater: after = position
        }
    }

    /// The transactions whose times are in a relation to a constant.
    fileprivate init(_ relation: TransactionRelation, _ time: Date) {
        self.init()
        guard time.timeIntervalSinceReferenceDate.isFinite else { return }
        switch relation {
        case .less, .lessOrEqual: latest = time
        case .equal: (earliest, latest) = (time, time)
        case .notEqual: break
        case .greaterOrEqual, .greater: earliest = time
        }
    }

    private init(
        after: PersistentHistoryPosition? = nil,
        through: Int64? = nil,
        earliest: Date? = nil,
        latest: Date? = nil,
        known: [PersistentHistoryPosition] = [],
        isExact: Bool = false
    ) {
        self.after = after
        self.through = through
        self.earliest = earliest
        self.latest = latest
        self.known = known
        self.isExact = isExact
    }
}

/// A relation of a property of a transaction to a constant.
private enum TransactionRelation {
    case less, lessOrEqual, equal, notEqual, greaterOrEqual, greater

    /// The relation of the pairs that do not have this relation.
    var negated: TransactionRelation {
        switch self {
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .equal: .notEqual
        case .notEqual: .equal
        case .greaterOrEqual: .less
        case .greater: .lessOrEqual
        }
    }

    /// The relation with its sides exchanged.
    var mirrored: TransactionRelation {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .equal: .equal
        case .notEqual: .notEqual
        case .greaterOrEqual: .lessOrEqual
        case .greater: .less
        }
    }
}

/// A node of a predicate over transactions that may bound them.
private protocol TransactionBounding {
    /// The bounds in a store of the transactions that fulfil the node, or that do not if it is negated.
    func bounds(in store: String, isNegated: Bool) -> TransactionBounds
}

/// A node that is a property of the transaction or a constant.
private protocol TransactionOperand {
    /// The property; nil for a constant.
    var property: AnyKeyPath? { get }
    /// The constant; nil for a property.
    var constant: Any? { get }
}

extension PredicateExpressions.Conjunction: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        let left = TransactionBounds.bounds(of: lhs, in: store, isNegated: isNegated)
        let right = TransactionBounds.bounds(of: rhs, in: store, isNegated: isNegated)
        return isNegated ? left.union(right) : left.intersection(right)
    }
}

extension PredicateExpressions.Disjunction: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        let left = TransactionBounds.bounds(of: lhs, in: store, isNegated: isNegated)
        let right = TransactionBounds.bounds(of: rhs, in: store, isNegated: isNegated)
        return isNegated ? left.intersection(right) : left.union(right)
    }
}

extension PredicateExpressions.Negation: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        TransactionBounds.bounds(of: wrapped, in: store, isNegated: !isNegated)
    }
}

extension PredicateExpressions.Comparison: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        let relation: TransactionRelation =
            switch op {
            case .lessThan: .less
            case .lessThanOrEqual: .lessOrEqual
            case .greaterThan: .greater
            case .greaterThanOrEqual: .greaterOrEqual
            @unknown default: .notEqual
            }
        return transactionBounds(lhs, isNegated ? relation.negated : relation, rhs, in: store)
    }
}

extension PredicateExpressions.Equal: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        transactionBounds(lhs, isNegated ? .notEqual : .equal, rhs, in: store)
    }
}

extension PredicateExpressions.NotEqual: TransactionBounding {
    fileprivate func bounds(in store: String, isNegated: Bool) -> TransactionBounds {
        transactionBounds(lhs, isNegated ? .equal : .notEqual, rhs, in: store)
    }
}

/// The bounds by a comparison of two operands.
private func transactionBounds(
    _ left: Any,
    _ relation: TransactionRelation,
    _ right: Any,
    in store: String
) -> TransactionBounds {
    guard let left = left as? any TransactionOperand, let right = right as? any TransactionOperand else {
        return .unknown
    }
    let (property, constant, relation) =
        left.property == nil
        ? (right.property, left.constant, relation.mirrored) : (left.property, right.constant, relation)
    if property == \DefaultHistoryTransaction.token, let token = constant as? DefaultHistoryToken {
        return TransactionBounds(relation, token, in: store)
    }
    if property == \DefaultHistoryTransaction.timestamp, let time = constant as? Date {
        return TransactionBounds(relation, time)
    }
    return .unknown
}

extension PredicateExpressions.KeyPath: TransactionOperand {
    fileprivate var property: AnyKeyPath? { keyPath }
    fileprivate var constant: Any? { nil }
}

extension PredicateExpressions.Value: TransactionOperand {
    fileprivate var property: AnyKeyPath? { nil }
    fileprivate var constant: Any? { value }
}
