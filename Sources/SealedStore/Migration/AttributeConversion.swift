import Foundation
import ObjectGraph

/// The exact conversion of attribute values from one type to another.
///
/// A value converts only without loss: the conversion back returns the same value or an equal number.
///
/// - Integers convert to every integer type that holds them, to floating-point numbers up to 2^53 (2^24 for `float`),
///   to decimals and to text. 0 and 1 convert to Boolean values.
/// - Floating-point numbers and decimals convert to each other by their shortest decimal digits, and to integers if
///   they have no fraction.
/// - Text converts to a number if it is the text of the number, without superfluous leading zeros and with no more
///   digits than the type holds; to Boolean values if it is `true` or `false`; to UUIDs and URLs if they have the same
///   text; to data as UTF-8.
/// - Every value converts to the JSON text that `JSONEncoder` creates from it, and back from the same text.
/// - Dates, and other integers than numbers, convert only to JSON: a number has no unit and no origin, and a text has no
///   time zone.
struct AttributeConversion: Hashable, Sendable {
    let from: AttributeType
    let to: AttributeType

    /// - Returns: Nil if no value converts.
    init?(from: AttributeType, to: AttributeType) {
        self.from = from
        self.to = to
        guard from == to || from == .composite || to == .composite || Self.convert(from, to) || Self.convert(to, from)
        else { return nil }
    }

    /// Whether values of two types convert to each other. Each pair of types is listed in one order only: the caller
    /// tries both.
    private static func convert(_ one: AttributeType, _ other: AttributeType) -> Bool {
        switch one {
        case .bool: other.isInteger
        case .string: other.isNumber || [.bool, .uuid, .url, .data].contains(other)
        case .data: other == .uuid
        default: one.isNumber && other.isNumber
        }
    }

    /// The value in the stored form of the new type; nil if it does not convert without loss.
    ///
    /// - Parameter value: A value in the stored form of the old type, not null.
    func convert(_ value: Value) -> Value? {
        if from == to { return value }
        if from == .decimal, Decimal(storedValue: value)?.isNaN ?? true { return nil }
        if to == .composite { return from.facts.swiftType.flatMap { JSONForm.text(of: value, as: $0) }.map(Value.text) }
        if from == .composite {
            guard case .text(let text) = value else { return nil }
            return to.facts.swiftType.flatMap { JSONForm.value(of: text, as: $0) }
        }
        switch (value, to) {
        case (.integer(let integer), _) where to.isInteger || to == .bool:
            return integers.contains(integer) ? value : nil
        case (.integer(let integer), .float), (.integer(let integer), .double):
            return integers.contains(integer) ? .real(Double(integer)) : nil
        case (.real(let real), _) where to.isInteger: return Self.integer(real, as: to)
        case (.real(let real), .float):
            return Double(Float(real)).bitPattern == real.bitPattern ? value : nil
        case (.real, .double), (.text, .string): return value
        case (_, .data): return data(of: value)
        case (.blob(let data), .uuid): return data.count == 16 ? value : nil
        case (.blob(let data), .string) where from == .data:
            return String(validating: data, as: UTF8.self).map(Value.text)
        default: return text(of: value).flatMap { Self.value(of: $0, as: to) }
        }
    }

    private static func integer(_ real: Double, as type: AttributeType) -> Value? {
        if type == .uint64 { return UInt64(exactly: real).map { .integer(Int64(bitPattern: $0)) } }
        return Int64(exactly: real).flatMap { type.columnRange.contains($0) ? .integer($0) : nil }
    }

    private func data(of value: Value) -> Value? {
        switch value {
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { .blob(Data($0)) }
        case .blob: value
        case .text(let text): .blob(Data(text.utf8))
        case .null, .integer, .real: nil
        }
    }

    // MARK: Text

    /// The text of a value; nil for a decimal NaN.
    private func text(of value: Value) -> String? {
        switch from.form {
        case .boolean: value == .integer(0) ? "false" : "true"
        case .unsigned: UInt64(storedValue: value)?.description
        case .float: Float(storedValue: value)?.description
        case .double: Double(storedValue: value)?.description
        case .decimal: Decimal(storedValue: value).flatMap { $0.isNaN ? nil : $0.description }
        case .uuid: UUID(storedValue: value)?.uuidString
        case .text, .url: String(storedValue: value)
        case .integer: Int64(storedValue: value)?.description
        case .date, .bytes, .json: nil
        }
    }

    private static func value(of text: String, as type: AttributeType) -> Value? {
        switch type.form {
        case .text: .text(text)
        case .boolean: text == "true" ? .integer(1) : text == "false" ? .integer(0) : nil
        case .uuid:
            UUID(uuidString: text).flatMap { $0.uuidString == text.uppercased() ? .uuid($0) : nil }
        case .url: URL(string: text).flatMap { $0.absoluteString == text ? .text(text) : nil }
        case .unsigned:
            UInt64(text).flatMap { $0.description == text ? .integer(Int64(bitPattern: $0)) : nil }
        case .float: number(text, { Float($0) }, \.description) { .real(Double($0)) }
        case .double: number(text, { Double($0) }, \.description) { .real($0) }
        case .decimal: number(text, { DecimalDigits.decimal($0) }, \.description) { $0.storedValue }
        case .integer:
            Int64(text).flatMap {
                $0.description == text && type.columnRange.contains($0) ? .integer($0) : nil
            }
        case .date, .bytes, .json: nil
        }
    }

    /// The number that a text denotes; nil if the text of this number has other digits.
    private static func number<Number>(
        _ text: String,
        _ read: (String) -> Number?,
        _ write: (Number) -> String,
        _ store: (Number) -> Value
    ) -> Value? {
        guard let number = read(text) else { return nil }
        let written = write(number)
        guard written == text || DecimalDigits(text).map({ $0 == DecimalDigits(written) }) ?? false, written != "nan",
            written != "NaN"
        else { return nil }
        return store(number)
    }

    // MARK: SQL

    /// The name of the function that converts a value. Its result is NULL for a value that does not convert without
    /// loss.
    static let functionName = "migration_value"
    /// The name of the function that returns whether the converted value is negative zero.
    static let signFunctionName = "migration_negative_zero"

    /// Whether the new type has the same stored form as the old type.
    var keepsStoredForm: Bool {
        if from == to { return true }
        if from.storage == .integer, to.storage == .integer { return true }
        return [[.float, .double], [.uuid, .data], [.url, .string]].contains { $0.contains(from) && $0.contains(to) }
    }

    /// Whether every value of the old type converts.
    var isTotal: Bool {
        if from == to { return true }
        switch (from, to) {
        case (.float, .double), (.uuid, .data), (.uuid, .string), (.url, .string), (.string, .data), (.bool, .string):
            return true
        default:
            if from == .bool { return to.isInteger }
            guard from.isInteger, from != .uint64 else { return from == .uint64 && [.string, .decimal].contains(to) }
            if to.isInteger, to != .uint64 {
                return to.columnRange.contains(from.columnRange.lowerBound)
                    && to.columnRange.contains(from.columnRange.upperBound)
            }
            if to == .uint64 { return from.columnRange.lowerBound == 0 }
            if [.float, .double].contains(to) {
                return integers.contains(from.columnRange.lowerBound)
                    && integers.contains(from.columnRange.upperBound)
            }
            return [.string, .decimal].contains(to)
        }
    }

    /// Whether a converted value can be negative zero without a sign bit of the stored value.
    var mayMakeNegativeZero: Bool { to.storage == .real && from.storage == .text }

    /// The expression of the converted value.
    ///
    /// - Parameters:
    ///   - column: The expression of the stored value.
    ///   - negativeZero: The condition that the stored value is negative zero; nil if it cannot be negative zero.
    func expression(_ column: String, negativeZero: String?) -> String {
        if keepsStoredForm { return column }
        if (from, to) == (.string, .data) { return "CAST(\(column) AS BLOB)" }
        if from.isInteger, [.float, .double].contains(to) { return "CAST(\(column) AS REAL)" }
        if let negativeZero, to == .string || to == .composite {
            let arguments = "'\(from.rawValue)', '\(to.rawValue)'"
            let negative = convert(.real(-0.0)).flatMap { if case .text(let text) = $0 { text } else { nil } } ?? "-0.0"
            return """
                CASE WHEN \(negativeZero) THEN '\(negative)' ELSE \
                \(Self.functionName)(\(column), \(arguments)) END
                """
        }
        return "\(Self.functionName)(\(column), '\(from.rawValue)', '\(to.rawValue)')"
    }

    /// The condition that a value does not convert without loss, or is missing; nil if every value converts.
    func failure(_ column: String) -> String? {
        if isTotal { return nil }
        if from.storage == .integer, to.storage == .integer || [.float, .double].contains(to) {
            return "\(column) NOT BETWEEN \(integers.lowerBound) AND \(integers.upperBound)"
        }
        if from == .data, to == .uuid { return "length(\(column)) <> 16" }
        return "\(Self.functionName)(\(column), '\(from.rawValue)', '\(to.rawValue)') IS NULL"
    }

    /// The stored integers that the new type holds. Values of `uint64` above the largest signed integer are stored as
    /// negative integers.
    private var integers: ClosedRange<Int64> {
        let range: ClosedRange<Int64> =
            switch to {
            case .float: -(1 << 24)...(1 << 24)
            case .double: -(1 << 53)...(1 << 53)
            default: to.columnRange
            }
        return from == .uint64 && to != .uint64 ? max(0, range.lowerBound)...range.upperBound : range
    }
}

/// Values as the JSON text of a `Codable` attribute.
private enum JSONForm {
    static func text<T: StorableValue>(of value: Value, as type: T.Type) -> String? {
        T(storedValue: value).flatMap(text)
    }

    /// - Returns: Nil if the text is not the canonical text of the value, since a value of another type then wrote it.
    static func value<T: StorableValue>(of text: String, as type: T.Type) -> Value? {
        let decoder = JSONDecoder()
        decoder.convertNonFiniteNumbers()
        guard let value = try? decoder.decode(T.self, from: Data(text.utf8)), Self.text(of: value) == text else {
            return nil
        }
        // A column cannot hold NaN.
        guard let stored = try? value.storedValue, !stored.isNotANumber else { return nil }
        return stored
    }

    private static func text(of value: some StorableValue) -> String? {
        (try? JSONEncoder.forCompositeValues().encode(value)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// A number in decimal digits, without zeros that do not change it.
private struct DecimalDigits: Equatable {
    private var isNegative = false
    private var digits: [UInt8] = []
    /// The power of ten of the last digit.
    private var power = 0

    /// The exponents of ten that are read; far more than any type holds.
    private static let exponents = -99_999...99_999

    /// - Returns: Nil for a text that is not a number, has superfluous leading zeros or a leading plus sign.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        if rest.first == UInt8(ascii: "-") {
            isNegative = true
            rest.removeFirst()
        }
        let whole = Self.takeDigits(&rest)
        guard !whole.isEmpty, whole.count == 1 || whole[0] != 0 else { return nil }
        digits = whole
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = Self.takeDigits(&rest)
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            power = -fraction.count
        }
        if let first = rest.first, [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(first) {
            guard let exponent = Int(String(decoding: rest.dropFirst(), as: UTF8.self)),
                Self.exponents.contains(exponent)
            else { return nil }
            power += exponent
            rest = []
        }
        guard rest.isEmpty else { return nil }
        while digits.last == 0 {
            digits.removeLast()
            power += 1
        }
        digits = Array(digits.drop { $0 == 0 })
        if digits.isEmpty { (isNegative, power) = (false, 0) }
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return digits.map { $0 - UInt8(ascii: "0") }
    }

    static func decimal(_ text: String) -> Decimal? {
        guard let number = DecimalDigits(text) else { return nil }
        if number.digits.isEmpty { return 0 }
        return SortableDecimal.decimal(isNegative: number.isNegative, digits: number.digits, power: number.power)
    }
}

extension AttributeType {
    /// The integers that a column of the type holds.
    fileprivate var columnRange: ClosedRange<Int64> {
        integerRange ?? (form == .unsigned ? 0 : .min)...Int64.max
    }
}
