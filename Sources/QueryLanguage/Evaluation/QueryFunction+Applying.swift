import Foundation

extension QueryExpression.Function {
    /// Returns the function's value, which is the same in every store.
    ///
    /// - Throws: ``QueryError`` if the function has no value for the arguments.
    package func apply(_ arguments: [Value]) throws(QueryError) -> Value {
        switch (self, arguments.first, arguments.dropFirst().first) {
        case (.asUInt64, let value?, nil), (.asDecimal, let value?, nil): value
        case (.minimum, _, _): Self.extreme(of: arguments) { $0.min { $0.compare($1) < 0 } }
        case (.maximum, _, _): Self.extreme(of: arguments) { $0.max { $0.compare($1) < 0 } }
        case (.slice, .text(let text)?, .integer(let lower)?):
            if arguments.count == 3, case .integer(let upper) = arguments[2] {
                JSONText(text).slice(from: lower, to: upper).map(Value.text) ?? .null
            } else {
                .null
            }
        case (_, .text(let text)?, .text(let other)?): try apply(text, other)
        case (_, .text(let text)?, nil): apply(text)
        case (.length, .blob(let data)?, nil): .integer(Int64(data.count))
        case (.power, let base?, let exponent?): try Self.power(base, exponent)
        case (_, .integer(let integer)?, nil): try apply(integer)
        case (_, .real(let real)?, nil): try apply(real)
        case (.squareRoot, .blob?, nil), (.roundToFloat, .blob?, nil):
            if let number = arguments[0].double { try apply(number) } else { .null }
        case (_, .blob(let data)?, nil):
            Decimal(storedValue: .blob(data)).flatMap(apply).map { .blob(SortableDecimal.encode($0)) } ?? .null
        default: .null
        }
    }

    /// The extreme of the arguments: null if an argument is null, NaN if an argument is NaN.
    private static func extreme(of arguments: [Value], _ choose: ([Value]) -> Value?) -> Value {
        if arguments.contains(.null) { return .null }
        return arguments.first(where: \.isNotANumber) ?? choose(arguments) ?? .null
    }

    // MARK: Texts

    private func apply(_ text: String, _ other: String) throws(QueryError) -> Value {
        switch self {
        case .contains: .bool(TextSearch.contains(text, other))
        case .startsWith: .bool(TextSearch.starts(text, with: other))
        case .endsWith: .bool(TextSearch.ends(text, with: other))
        case .localizedContains: .bool(text.localizedStandardContains(other))
        case .caseInsensitiveCompare: .integer(Int64(text.caseInsensitiveCompare(other).rawValue))
        case .localizedStandardCompare: .integer(Int64(TextOrder.localizedStandard.compare(text, other)))
        case .localizedCompare: .integer(Int64(TextOrder.localized.compare(text, other)))
        case .like: .bool(TextPattern(other).matches(text))
        case .equalsJSON: .bool(JSONText(text).isEqual(to: JSONText(other)))
        case .matches: .bool(try RegularExpressions.matches(text, other))
        case .containsMatch: .bool(try RegularExpressions.contains(text, other))
        default: .null
        }
    }

    private func apply(_ text: String) -> Value {
        switch self {
        case .length: .integer(Int64(text.count))
        case .foldCase: .text(text.folding(options: .caseInsensitive, locale: nil))
        case .foldDiacritics: .text(text.folding(options: .diacriticInsensitive, locale: nil))
        case .foldCaseAndDiacritics:
            .text(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
        case .uppercase: .text(text.uppercased())
        case .lowercase: .text(text.lowercased())
        default: .null
        }
    }

    // MARK: Numbers

    private func apply(_ integer: Int64) throws(QueryError) -> Value {
        if let type = checkedType {
            guard type.contains(integer) else { throw .arithmeticOverflow }
            return .integer(integer)
        }
        switch self {
        case .negate: return try QueryExpression.Arithmetic.subtract.apply(.integer(0), .integer(integer), as: .int64)
        case .absolute: return integer < 0 ? try Self.negate.apply(integer) : .integer(integer)
        case .ceiling, .floor, .truncate: return .integer(integer)
        case .squareRoot: return .real(Double(integer).squareRoot())
        default: return .null
        }
    }

    private func apply(_ real: Double) throws(QueryError) -> Value {
        switch self {
        // Zero minus the number, as SQLite computes it: the negative of zero is zero, not negative zero.
        case .negate: .real(0 - real)
        case .absolute: .real(real.magnitude)
        case .ceiling: .real(real.rounded(.up))
        case .floor: .real(real.rounded(.down))
        case .truncate: .real(real.rounded(.towardZero))
        case .squareRoot: .real(real.squareRoot())
        case .roundToFloat: .real(Double(Float(real)))
        default: .null
        }
    }

    /// Returns a decimal number; nil for a function that has no decimal result.
    private func apply(_ decimal: Decimal) -> Decimal? {
        switch self {
        case .negate: -decimal
        case .absolute: decimal.magnitude
        case .ceiling: decimal.rounded(.up)
        case .floor: decimal.rounded(.down)
        case .truncate: decimal.truncated
        default: nil
        }
    }

    private static func power(_ base: Value, _ exponent: Value) throws(QueryError) -> Value {
        guard case .integer(var factor) = base, case .integer(var exponent) = exponent, exponent >= 0 else {
            guard let base = base.double, let exponent = exponent.double else { return .null }
            return .real(pow(base, exponent))
        }
        var result: Int64 = 1
        while exponent > 0 {
            if exponent & 1 == 1 {
                let (product, overflow) = result.multipliedReportingOverflow(by: factor)
                if overflow { throw .arithmeticOverflow }
                result = product
            }
            exponent >>= 1
            guard exponent > 0 else { break }
            let (square, overflow) = factor.multipliedReportingOverflow(by: factor)
            if overflow { throw .arithmeticOverflow }
            factor = square
        }
        return .integer(result)
    }
}

extension FixedWidthInteger {
    fileprivate static func contains(_ integer: Int64) -> Bool { Self(exactly: integer) != nil }
}

extension Value {
    static func bool(_ value: Bool) -> Value { .integer(value ? 1 : 0) }
}
