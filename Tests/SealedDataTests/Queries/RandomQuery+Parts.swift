import Foundation

@testable import SealedData

// The operands of the random conditions.

extension RandomQuery {
    // MARK: Numbers

    mutating func computedInt() -> Erased<Int> {
        switch pick(7) {
        case 0: return Erased(PredicateExpressions.build_KeyPath(root: expression(textsOnly), keyPath: \.count))
        case 1: return Erased(PredicateExpressions.build_KeyPath(root: path(\.tags), keyPath: \.count))
        case 2: return Erased(PredicateExpressions.build_KeyPath(root: path(\.parts), keyPath: \.count))
        case 3: return Erased(PredicateExpressions.build_KeyPath(root: path(\.place), keyPath: \.shelf))
        case 4:
            let numbers: Erased<[Int]> = Erased(
                PredicateExpressions.build_NilCoalesce(lhs: path(\.numbers), rhs: value([Int]()))
            )
            return Erased(PredicateExpressions.build_KeyPath(root: numbers, keyPath: \.count))
        default:
            // Numbers that do not overflow: an overflow is an error in a store, and a trap in Swift.
            let left = Erased(PredicateExpressions.build_KeyPath(root: path(\.tags), keyPath: \.count))
            let right = value(pick(5) + 1)
            return switch pick(5) {
            case 0: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
            case 1: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .subtract))
            case 2: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .multiply))
            case 3: Erased(PredicateExpressions.build_Division(lhs: path(\.int), rhs: right))
            default: Erased(PredicateExpressions.build_Remainder(lhs: path(\.int), rhs: right))
            }
        }
    }

    var textsOnly: Values<String> {
        Values(required: [\.text], optional: [\.optionalText], constant: { $0.text() })
    }

    mutating func optionalInt() -> Erased<Int?> {
        switch pick(5) {
        case 0:
            return Erased(
                PredicateExpressions.build_flatMap(path(\.shop)) { shop in
                    PredicateExpressions.build_KeyPath(root: shop, keyPath: \.size)
                }
            )
        case 1:
            return Erased(
                PredicateExpressions.build_flatMap(path(\.optionalPlace)) { place in
                    PredicateExpressions.build_KeyPath(root: place, keyPath: \.shelf)
                }
            )
        case 2:
            return Erased(PredicateExpressions.build_subscript(path(\.scores), value(["a", "é", ""][pick(3)])))
        case 3:
            return Erased(
                PredicateExpressions.build_flatMap(path(\.optionalText)) { text in
                    PredicateExpressions.build_KeyPath(root: text, keyPath: \.count)
                }
            )
        default:
            let numbers: Erased<[Int]> = Erased(
                PredicateExpressions.build_NilCoalesce(lhs: path(\.numbers), rhs: value([Int]()))
            )
            return Erased(PredicateExpressions.build_max(numbers))
        }
    }

    mutating func computedDouble() -> Erased<Double> {
        let (left, right) = (path(\.double), value(double()))
        return switch pick(6) {
        case 0: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
        case 1: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .subtract))
        case 2: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .multiply))
        case 3: Erased(PredicateExpressions.build_Division(lhs: left, rhs: right))
        case 4: Erased(PredicateExpressions.build_UnaryMinus(left))
        default: Erased(PredicateExpressions.build_KeyPath(root: path(\.place), keyPath: \.height))
        }
    }

    /// A calculation with decimals, which are small enough not to overflow.
    mutating func calculated(_ values: Values<Decimal>) -> Erased<Decimal> {
        if isDeep { return path(\.decimal) }
        return nested { query in
            let (left, right) = (query.expression(values), query.expression(values))
            return switch query.pick(4) {
            case 0: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
            case 1: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .subtract))
            case 2: Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .multiply))
            default: Erased(PredicateExpressions.build_UnaryMinus(left))
            }
        }
    }

    /// A calculation with unsigned integers that does not overflow.
    mutating func calculated<T: UnsignedInteger & FixedWidthInteger & Codable & Sendable>(
        _ values: Values<T>
    ) -> Erased<T> {
        if isDeep { return expression(Values(required: values.required, constant: values.constant)) }
        return nested { query in
            let (left, right) = (query.expression(values), query.expression(values))
            let (first, second) = (query.value(T(query.pick(3) + 2)), query.value(T(query.pick(3) + 2)))
            let divisor = Erased<T>(PredicateExpressions.build_Conditional(query.condition(), first, second))
            let (half, otherHalf) = (
                PredicateExpressions.build_Division(lhs: left, rhs: divisor),
                PredicateExpressions.build_Division(lhs: right, rhs: first)
            )
            switch query.pick(5) {
            case 0: return Erased(half)
            case 1: return Erased(PredicateExpressions.build_Remainder(lhs: left, rhs: divisor))
            case 2: return Erased(PredicateExpressions.build_Arithmetic(lhs: half, rhs: otherHalf, op: .add))
            case 3: return Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: half, op: .subtract))
            default:
                let remainder = PredicateExpressions.build_Remainder(lhs: left, rhs: divisor)
                return Erased(PredicateExpressions.build_Arithmetic(lhs: remainder, rhs: divisor, op: .multiply))
            }
        }
    }

    // MARK: Texts

    mutating func textSearch() -> Erased<Bool> {
        let (text, part) = (expression(texts), expression(texts))
        switch pick(6) {
        case 0, 1: return Erased(PredicateExpressions.build_contains(text, part))
        case 2: return Erased(PredicateExpressions.build_starts(text, with: part))
        case 3: return Erased(PredicateExpressions.build_localizedStandardContains(text, part))
        case 4: return Erased(PredicateExpressions.build_KeyPath(root: text, keyPath: \.isEmpty))
        default:
            let order = PredicateExpressions.build_caseInsensitiveCompare(text, part)
            let same = value([ComparisonResult.orderedSame.rawValue, 1][pick(2)])
            return Erased(
                PredicateExpressions.build_Equal(
                    lhs: PredicateExpressions.build_KeyPath(root: order, keyPath: \.rawValue),
                    rhs: same
                )
            )
        }
    }

    // MARK: Collections

    mutating func membership() -> Erased<Bool> {
        switch pick(7) {
        case 0: return Erased(PredicateExpressions.build_contains(value(list { $0.int() }), expression(ints)))
        case 1: return Erased(PredicateExpressions.build_contains(value(list { $0.text() }), expression(texts)))
        case 2: return Erased(PredicateExpressions.build_contains(value(list { $0.double() }), expression(doubles)))
        case 3:
            let elements = list { $0.maybe { $0.text() } }
            return Erased(PredicateExpressions.build_contains(value(elements), path(\.optionalText)))
        case 4:
            let (first, second) = (int(), int())
            let range = min(first, second)...max(first, second)
            return Erased(PredicateExpressions.build_contains(value(range), expression(ints)))
        case 5:
            let (first, second) = (text(), text())
            let range = min(first, second)..<max(first, second)
            return Erased(PredicateExpressions.build_contains(value(range), expression(texts)))
        default: return Erased(PredicateExpressions.build_contains(path(\.tags), expression(texts)))
        }
    }

    mutating func overElements() -> Erased<Bool> {
        var query = self
        defer { random = query.random }
        switch pick(4) {
        case 0:
            let tags = query.path(\.tags)
            return Erased(
                PredicateExpressions.build_contains(tags) { tag in
                    let part = query.value(query.text())
                    return Erased<Bool>(PredicateExpressions.build_starts(Erased<String>(tag), with: part))
                }
            )
        case 1:
            let tags = query.path(\.tags)
            return Erased(
                PredicateExpressions.build_allSatisfy(tags) { tag in
                    let other = query.expression(query.textsOnly)
                    return Erased<Bool>(
                        PredicateExpressions.build_Comparison(lhs: Erased<String>(tag), rhs: other, op: .lessThan)
                    )
                }
            )
        case 2:
            let reals = query.path(\.reals)
            let filtered = PredicateExpressions.build_filter(reals) { real in
                let other = query.value(query.double())
                return Erased<Bool>(PredicateExpressions.build_Equal(lhs: Erased<Double>(real), rhs: other))
            }
            let count = PredicateExpressions.build_KeyPath(root: filtered, keyPath: \.count)
            return Erased(
                PredicateExpressions.build_Comparison(lhs: count, rhs: query.value(query.pick(3)), op: .lessThan)
            )
        default:
            return Erased(PredicateExpressions.build_KeyPath(root: query.path(\.reals), keyPath: \.isEmpty))
        }
    }

    mutating func overMembers() -> Erased<Bool> {
        var query = self
        defer { random = query.random }
        switch pick(4) {
        case 0:
            let parts = query.path(\.parts)
            return Erased(
                PredicateExpressions.build_contains(parts) { part in query.condition(on: Erased(part)) }
            )
        case 1:
            let parts = query.path(\.parts)
            return Erased(
                PredicateExpressions.build_allSatisfy(parts) { part in query.condition(on: Erased(part)) }
            )
        case 2:
            let others = query.bool() ? query.path(\.leads) : query.path(\.follows)
            return Erased(
                PredicateExpressions.build_contains(others) { other in
                    query.items.append(Erased(other))
                    defer { query.items.removeLast() }
                    return query.nested { $0.condition() }
                }
            )
        default:
            let others = query.path(\.follows)
            let filtered = PredicateExpressions.build_filter(others) { other in
                query.items.append(Erased(other))
                defer { query.items.removeLast() }
                return query.nested { $0.condition() }
            }
            let count = PredicateExpressions.build_KeyPath(root: filtered, keyPath: \.count)
            return Erased(
                PredicateExpressions.build_Comparison(lhs: count, rhs: query.value(query.pick(3)), op: .greaterThan)
            )
        }
    }

    mutating func condition(on part: Erased<Stock.Part>) -> Erased<Bool> {
        let weight: Erased<Int> = Erased(PredicateExpressions.build_KeyPath(root: part, keyPath: \.weight))
        let label: Erased<String?> = Erased(PredicateExpressions.build_KeyPath(root: part, keyPath: \.label))
        switch pick(4) {
        case 0:
            return Erased(PredicateExpressions.build_Comparison(lhs: weight, rhs: expression(ints), op: .lessThan))
        case 1: return Erased(PredicateExpressions.build_Equal(lhs: label, rhs: optional(texts)))
        case 2: return Erased(PredicateExpressions.build_NotEqual(lhs: label, rhs: optional(texts)))
        default:
            return Erased(PredicateExpressions.build_Disjunction(lhs: condition(on: part), rhs: comparison()))
        }
    }

    mutating func unwrapped() -> Erased<Bool> {
        var query = self
        defer { random = query.random }
        let inner: Erased<Bool?> = Erased(
            PredicateExpressions.build_flatMap(query.path(\.optionalText)) { text in
                let other = query.expression(query.textsOnly)
                return Erased<Bool>(PredicateExpressions.build_contains(Erased<String>(text), other))
            }
        )
        return Erased(PredicateExpressions.build_NilCoalesce(lhs: inner, rhs: query.value(query.bool())))
    }

    mutating func shopComparison() -> Erased<Bool> {
        let shop = path(\.shop)
        if bool() {
            let none: Erased<Stock.Shop?> = Erased(PredicateExpressions.build_NilLiteral())
            return Erased(PredicateExpressions.build_Equal(lhs: shop, rhs: none))
        }
        let name: Erased<String?> = Erased(
            PredicateExpressions.build_flatMap(shop) { shop in
                PredicateExpressions.build_flatMap(PredicateExpressions.build_KeyPath(root: shop, keyPath: \.parent)) {
                    PredicateExpressions.build_KeyPath(root: $0, keyPath: \.name)
                }
            }
        )
        return Erased(PredicateExpressions.build_NotEqual(lhs: name, rhs: optional(texts)))
    }
}
