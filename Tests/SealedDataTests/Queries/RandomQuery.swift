import Foundation

@testable import SealedData

/// Random values, and random expressions about an item and what it is related to.
struct RandomQuery {
    typealias Item = Stock.Item
    typealias Erased = ErasedExpression

    var random: SeededRandomNumbers
    /// The items that closures are about, the fetched one first.
    private var items: [Erased<Item>] = []
    private var depth = 0
    private static let largestDepth = 4

    init(_ random: SeededRandomNumbers) {
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

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func nested<R>(_ body: (inout RandomQuery) -> R) -> R {
        depth += 1
        defer { depth -= 1 }
        return body(&self)
    }

    private var isDeep: Bool { depth >= Self.largestDepth }

    private var item: Erased<Item> {
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

    private func value<T: Codable & Sendable>(_ value: T) -> Erased<T> { Erased(PredicateExpressions.build_Arg(value)) }

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

    private mutating func comparison() -> Erased<Bool> {
        switch pick(17) {
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
        default: shopComparison()
        }
    }

    /// Where values of a type come from.
    struct Values<T: Codable & Sendable & Equatable> {
        var required: [any KeyPath<Item, T> & Sendable] = []
        var optional: [any KeyPath<Item, T?> & Sendable] = []
        var constant: (inout RandomQuery) -> T
        var computed: ((inout RandomQuery) -> Erased<T>)?
        var optionalComputed: ((inout RandomQuery) -> Erased<T?>)?
    }

    private var ints: Values<Int> {
        Values(
            required: [\.int],
            optional: [\.optionalInt],
            constant: { $0.int() },
            computed: { $0.computedInt() },
            optionalComputed: { $0.optionalInt() }
        )
    }
    private var doubles: Values<Double> {
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
    private var texts: Values<String> {
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
    private var dates: Values<Date> {
        Values(required: [\.date], optional: [\.optionalDate], constant: { $0.date() })
    }
    private var decimals: Values<Decimal> {
        Values(
            required: [\.decimal],
            optional: [\.optionalDecimal],
            constant: { $0.decimal() },
            computed: { query in
                let (left, right) = (query.path(\.decimal), query.value(query.decimal()))
                return Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
            }
        )
    }
    private var smalls: Values<Int8> { Values(required: [\.small], constant: { $0.small() }) }
    private var unsigneds: Values<UInt64> { Values(required: [\.unsigned], constant: { $0.unsigned() }) }
    private var floats: Values<Float> {
        Values(
            required: [\.float],
            constant: { $0.float() },
            computed: { query in
                let (left, right) = (query.path(\.float), query.value(query.float()))
                return Erased(PredicateExpressions.build_Arithmetic(lhs: left, rhs: right, op: .add))
            }
        )
    }

    private mutating func path<T>(_ keyPath: any KeyPath<Item, T> & Sendable) -> Erased<T> {
        Erased(PredicateExpressions.build_KeyPath(root: item, keyPath: keyPath))
    }

    private mutating func expression<T>(_ values: Values<T>) -> Erased<T> {
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
        if choice < 5 || values.required.isEmpty {
            let (left, right) = (optional(values), value(values.constant(&self)))
            return Erased(PredicateExpressions.build_NilCoalesce(lhs: left, rhs: right))
        }
        return path(values.required[pick(values.required.count)])
    }

    private mutating func optional<T>(_ values: Values<T>) -> Erased<T?> {
        if pick(3) == 0, let computed = values.optionalComputed { return computed(&self) }
        guard !values.optional.isEmpty else {
            let constant: T? = pick(3) == 0 ? nil : values.constant(&self)
            return value(constant)
        }
        return path(values.optional[pick(values.optional.count)])
    }

    private mutating func ordering<T: Comparable>(_ values: Values<T>) -> Erased<Bool> {
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

    private mutating func equality<T>(_ values: Values<T>) -> Erased<Bool> {
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

    // MARK: Numbers

    private mutating func computedInt() -> Erased<Int> {
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
            // Numbers that do not overflow: what does is an error, and in Swift the end of the program.
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

    private var textsOnly: Values<String> {
        Values(required: [\.text], optional: [\.optionalText], constant: { $0.text() })
    }

    private mutating func optionalInt() -> Erased<Int?> {
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

    private mutating func computedDouble() -> Erased<Double> {
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

    // MARK: Texts

    private mutating func textSearch() -> Erased<Bool> {
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

    private mutating func membership() -> Erased<Bool> {
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

    private mutating func overElements() -> Erased<Bool> {
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

    private mutating func overMembers() -> Erased<Bool> {
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

    private mutating func condition(on part: Erased<Stock.Part>) -> Erased<Bool> {
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

    private mutating func unwrapped() -> Erased<Bool> {
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

    private mutating func shopComparison() -> Erased<Bool> {
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

/// Numbers that are the same for the same seed.
struct SeededRandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0xD1B5_4A32_D192_ED03
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
