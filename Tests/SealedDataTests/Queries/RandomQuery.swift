import Foundation

@testable import SealedData
import TestSupport

/// Random values, and random expressions about an item and its related objects.
struct RandomQuery {
    typealias Item = Stock.Item
    typealias Erased = ErasedExpression

    var random: SeededGenerator
    /// The items in scope: the fetched one first, then those of closures.
    var items: [Erased<Item>] = []
    var depth = 0
    static let largestDepth = 4

    init(_ random: SeededGenerator) {
        self.random = random
    }

    /// A predicate about items.
    mutating func predicate() -> Predicate<Item> {
        var query = self
        let predicate = Predicate<Item> { item in
            query.items = [Erased(item)]
            return query.condition()
        }
        random = query.random
        return predicate
    }

    mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func nested<R>(_ body: (inout RandomQuery) -> R) -> R {
        depth += 1
        defer { depth -= 1 }
        return body(&self)
    }

    var isDeep: Bool { depth >= Self.largestDepth }

    var item: Erased<Item> {
        mutating get { items[pick(items.count)] }
    }

    // MARK: Constants

    static let texts = [
        "", "a", "A", "b", "ab", "aB", "é", "e\u{301}", "E", "z", "zoë", "zoe\u{308}", "\u{212A}", "K", "k", "日本", "日",
        "ハ\u{3099}", "バ", "a\r\n", "\n", "x\u{0}y", "💡", "👨‍👩‍👧", "%", "_", "'", "\"", "10", "9", "ß", "ss", "SS", "İ",
    ]
    static let ints = [Int.min, -1000, -2, -1, 0, 1, 2, 3, 7, 1000, Int.max]
    static let doubles = [-Double.infinity, -1e300, -1.5, -0.0, 0, 0.1, 0.5, 1, 2, 3, 1e-300, 1e300, .infinity]

    mutating func text() -> String {
        let first = Self.texts[pick(Self.texts.count)]
        // Swift does not order texts of different forms that begin with the same characters.
        return first.utf8.allSatisfy { $0 < 0x80 } && first != "K" && pick(4) == 0
            ? first + Self.texts[pick(Self.texts.count)] : first
    }
    mutating func int() -> Int { pick(4) == 0 ? Self.ints[pick(Self.ints.count)] : pick(6) - 2 }
    mutating func double() -> Double { pick(3) == 0 ? Self.doubles[pick(Self.doubles.count)] : Double(pick(6) - 2) / 2 }
    mutating func date() -> Date { Date(timeIntervalSinceReferenceDate: Double(pick(5)) / 10) }
    mutating func decimal() -> Decimal { Decimal(pick(9) - 4) / Decimal(pick(2) == 0 ? 1 : 8) }
    mutating func small() -> Int8 { [.min, -1, 0, 1, 5, .max][pick(6)] }
    mutating func short() -> Int16 { [.min, -1, 0, 1, 5, .max][pick(6)] }
    mutating func unsigned() -> UInt64 { [0, 1, 2, 1 << 62, 1 << 63, .max][pick(6)] }
    mutating func word() -> UInt { UInt(unsigned()) }
    mutating func float() -> Float { [-1, 0, 0.1, 0.5, 16_777_216, .infinity][pick(6)] }
    mutating func uuid() -> UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(pick(4)))) }
    mutating func bool() -> Bool { pick(2) == 0 }
    mutating func url() -> URL { URL(string: "https://example.org/\(pick(3))")! }
    mutating func data() -> Data { Data(repeating: 7, count: pick(3)) }
    mutating func kind() -> Stock.Kind { Stock.Kind.allCases[pick(3)] }
    mutating func rank() -> Stock.Rank { Stock.Rank.allCases[pick(2)] }

    mutating func list<T>(_ element: (inout RandomQuery) -> T) -> [T] {
        (0..<pick(4)).map { _ in element(&self) }
    }
    mutating func maybe<T>(_ value: (inout RandomQuery) -> T) -> T? { pick(3) == 0 ? nil : value(&self) }

    func value<T: Codable & Sendable>(_ value: T) -> Erased<T> { Erased(PredicateExpressions.build_Arg(value)) }

    // MARK: Conditions

    mutating func condition() -> Erased<Bool> {
        if isDeep { return comparison() }
        return nested { query in
            switch query.pick(16) {
            case 0, 1:
                let (left, right) = (query.condition(), query.condition())
                return Erased(PredicateExpressions.build_Conjunction(lhs: left, rhs: right))
            case 2, 3:
                let (left, right) = (query.condition(), query.condition())
                return Erased(PredicateExpressions.build_Disjunction(lhs: left, rhs: right))
            case 4: return Erased(PredicateExpressions.build_Negation(query.condition()))
            case 5:
                let (test, first, second) = (query.condition(), query.condition(), query.condition())
                return Erased(PredicateExpressions.build_Conditional(test, first, second))
            case 6, 7: return query.overMembers()
            case 8: return query.overElements()
            case 9: return query.unwrapped()
            case 10: return query.membership()
            default: return query.comparison()
            }
        }
    }

    mutating func comparison() -> Erased<Bool> {
        switch pick(18) {
        case 0: ordering(ints)
        case 1: ordering(doubles)
        case 2: ordering(texts)
        case 3: ordering(dates)
        case 4: ordering(decimals)
        case 5: ordering(smalls)
        case 6: ordering(unsigneds)
        case 7: ordering(floats)
        case 8: equality(ints)
        case 9: equality(texts)
        case 10: equality(Values(required: [\.uuid], constant: { $0.uuid() }))
        case 11: equality(Values(optional: [\.url], constant: { $0.url() }))
        case 12: equality(Values(optional: [\.data], constant: { $0.data() }))
        case 13: equality(Values(required: [\.kind], constant: { $0.kind() }))
        case 14: equality(Values(required: [\.flag], optional: [\.maybe], constant: { $0.bool() }))
        case 15: textSearch()
        case 16: ordering(words)
        default: shopComparison()
        }
    }

    /// The sources of values of a type.
    struct Values<T: Codable & Sendable & Equatable> {
        var required: [any KeyPath<Item, T> & Sendable] = []
        var optional: [any KeyPath<Item, T?> & Sendable] = []
        var constant: (inout RandomQuery) -> T
        var computed: ((inout RandomQuery) -> Erased<T>)?
        var optionalComputed: ((inout RandomQuery) -> Erased<T?>)?
    }

    var ints: Values<Int> {
        Values(
            required: [\.int],
            optional: [\.optionalInt],
            constant: { $0.int() },
            computed: { $0.computedInt() },
            optionalComputed: { $0.optionalInt() }
        )
    }
    var doubles: Values<Double> {
        Values(
            required: [\.double],
            optional: [\.optionalDouble],
            constant: { $0.double() },
            computed: { $0.computedDouble() },
            optionalComputed: { query in
                let reals = query.path(\.reals)
                return query.bool()
                    ? Erased(PredicateExpressions.build_max(reals)) : Erased(PredicateExpressions.build_min(reals))
            }
        )
    }
    var texts: Values<String> {
        Values(
            required: [\.text],
            optional: [\.optionalText],
            constant: { $0.text() },
            computed: { query in
                Erased(PredicateExpressions.build_KeyPath(root: query.path(\.place), keyPath: \.name))
            },
            optionalComputed: { query in
                Erased(
                    PredicateExpressions.build_flatMap(query.path(\.shop)) { shop in
                        PredicateExpressions.build_KeyPath(root: shop, keyPath: \.name)
                    }
                )
            }
        )
    }
    var dates: Values<Date> {
        Values(required: [\.date], optional: [\.optionalDate], constant: { $0.date() })
    }
    var decimals: Values<Decimal> {
        Values(
            required: [\.decimal],
            optional: [\.optionalDecimal],
            constant: { $0.decimal() },
            computed: { $0.calculated($0.decimals) },
            optionalComputed: { query in
                let amounts = query.path(\.amounts)
                return query.bool()
                    ? Erased(PredicateExpressions.build_max(amounts)) : Erased(PredicateExpressions.build_min(amounts))
            }
        )
    }
    var smalls: Values<Int8> { Values(required: [\.small], constant: { $0.small() }) }
    var unsigneds: Values<UInt64> {
        Values(
            required: [\.unsigned],
            optional: [\.optionalUnsigned],
            constant: { $0.unsigned() },
            computed: { $0.calculated($0.unsigneds) },
            optionalComputed: { query in
                let codes = query.path(\.codes)
                return query.bool()
                    ? Erased(PredicateExpressions.build_max(codes)) : Erased(PredicateExpressions.build_min(codes))
            }
        )
    }
    var words: Values<UInt> {
        Values(
            required: [\.word],
            optional: [\.optionalWord],
            constant: { $0.word() },
            computed: { $0.calculated($0.words) }
        )
    }
    var floats: Values<Float> {
        Values(
            required: [\.float],
            constant: { $0.float() },
            computed: { query in
                let (left, right) = (query.path(\.float), query.value(query.float()))
                return Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
            }
        )
    }

    mutating func path<T>(_ keyPath: any KeyPath<Item, T> & Sendable) -> Erased<T> {
        Erased(PredicateExpressions.build_KeyPath(root: item, keyPath: keyPath))
    }

    mutating func expression<T>(_ values: Values<T>) -> Erased<T> {
        let choice = pick(8)
        if choice == 0 || (values.required.isEmpty && values.optional.isEmpty) { return value(values.constant(&self)) }
        if choice == 1, let computed = values.computed { return computed(&self) }
        if choice == 2, !isDeep {
            return nested { query in
                let (test, first, second) = (
                    query.condition(), query.expression(values), query.expression(values)
                )
                return Erased(PredicateExpressions.build_Conditional(test, first, second))
            }
        }
        if choice == 3, !isDeep, !values.optional.isEmpty {
            let otherwise = value(values.constant(&self))
            return Erased(PredicateExpressions.build_NilCoalesce(lhs: unwrapped(values), rhs: otherwise))
        }
        if choice < 5 || values.required.isEmpty {
            let (left, right) = (optional(values), value(values.constant(&self)))
            return Erased(PredicateExpressions.build_NilCoalesce(lhs: left, rhs: right))
        }
        return path(values.required[pick(values.required.count)])
    }

    /// A value that `if let` computes from an optional one.
    private mutating func unwrapped<T>(_ values: Values<T>) -> Erased<T?> {
        var query = self
        defer { random = query.random }
        return Erased(
            PredicateExpressions.build_flatMap(query.optional(values)) { value in
                query.nested { query in
                    let (test, other) = (query.condition(), query.expression(values))
                    return Erased<T>(PredicateExpressions.build_Conditional(test, Erased<T>(value), other))
                }
            }
        )
    }

    mutating func optional<T>(_ values: Values<T>) -> Erased<T?> {
        if pick(3) == 0, let computed = values.optionalComputed { return computed(&self) }
        guard !values.optional.isEmpty else {
            let constant: T? = pick(3) == 0 ? nil : values.constant(&self)
            return value(constant)
        }
        return path(values.optional[pick(values.optional.count)])
    }

    mutating func ordering<T: Comparable>(_ values: Values<T>) -> Erased<Bool> {
        let (left, right) = (expression(values), expression(values))
        return switch pick(6) {
        case 0: Erased(PredicateExpressions.build_Equal(lhs: left, rhs: right))
        case 1: Erased(PredicateExpressions.build_NotEqual(lhs: left, rhs: right))
        case 2: Erased(PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: .lessThan))
        case 3: Erased(PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: .lessThanOrEqual))
        case 4: Erased(PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: .greaterThan))
        default: Erased(PredicateExpressions.build_Comparison(lhs: left, rhs: right, op: .greaterThanOrEqual))
        }
    }

    mutating func equality<T>(_ values: Values<T>) -> Erased<Bool> {
        let left = optional(values)
        let right: Erased<T?> =
            switch pick(3) {
            case 0: Erased(PredicateExpressions.build_NilLiteral())
            case 1: value(Optional(values.constant(&self)))
            default: optional(values)
            }
        return bool()
            ? Erased(PredicateExpressions.build_Equal(lhs: left, rhs: right))
            : Erased(PredicateExpressions.build_NotEqual(lhs: left, rhs: right))
    }
}
