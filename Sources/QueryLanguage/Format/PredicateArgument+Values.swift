import Foundation

extension PredicateArgument {
    // MARK: As an attribute's value

    /// Returns the stored form of the constant for an attribute type; nil if it has none.
    ///
    /// Numbers stay exact: a number out of the range of the type has a form that compares correctly.
    func value(as type: AttributeType) -> Value? {
        switch self {
        case .null: return .null
        case .stored(let value): return value.fits(type) ? value : nil
        case .typed(let value, type): return value
        default: break
        }
        return switch type.form {
        case .integer: type.isNumber ? integerValue : nil
        case .unsigned: unsignedValue
        case .boolean: boolValue
        case .float: realValue { Float($0).map(Double.init) }
        case .double: realValue { Double($0) }
        case .decimal: decimalValue
        case .text: if case .text(let text) = self { .text(text) } else { nil }
        case .date: dateValue
        case .uuid: if case .text(let text) = self { UUID(uuidString: text).map { .uuid($0) } } else { nil }
        case .url: if case .text(let text) = self { URL(string: text)?.storedValue } else { nil }
        case .bytes, .json: nil
        }
    }

    private var integerValue: Value? {
        switch self {
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value): .integer(value)
        // Greater than all integers of the attribute, as a real too.
        case .unsigned(let value): .real(Double(value))
        default:
            number.flatMap { digits in
                Self.decimal(digits).flatMap { Int64($0.description) }.map { .integer($0) }
                    ?? Double(digits).map { .real($0) }
            }
        }
    }

    private var unsignedValue: Value? {
        switch self {
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value): value >= 0 ? .integer(value) : nil
        case .unsigned(let value): value.storedValue
        default: number.flatMap(Self.decimal).flatMap { UInt64($0.description) }?.storedValue
        }
    }

    private var boolValue: Value? {
        switch self {
        case .boolean(let value): .integer(value ? 1 : 0)
        case .integer(let value) where value == 0 || value == 1: .integer(value)
        default: nil
        }
    }

    private func realValue(_ read: (String) -> Double?) -> Value? {
        switch self {
        case .boolean(let value): .real(value ? 1 : 0)
        case .integer(let value): Double(exactly: value).map { .real($0) } ?? .integer(value)
        case .real(let value) where !value.isFinite: .real(value)
        default: number.flatMap(read).map { .real($0) }
        }
    }

    private var decimalValue: Value? { number.flatMap(Self.decimal)?.storedValue }

    private var dateValue: Value? {
        switch self {
        case .date(let date): date.storedValue
        case .text(let text): Self.date(text)?.storedValue
        default: nil
        }
    }

    // MARK: Without context

    /// The type of the constant without context; nil if it is not a value.
    var naturalType: AttributeType? {
        switch self {
        case .boolean: .bool
        case .integer: .int64
        case .unsigned: .uint64
        case .digits, .real: .double
        case .decimal: .decimal
        case .text: .string
        case .date: .date
        case .typed(_, let type): type
        case .stored(let value): value.attributeType
        case .null, .object, .list, .range, .unsupported, .unstorable: nil
        }
    }

    /// The digits of a finite number, in the form that `Double` and `Decimal` read.
    private var number: String? {
        switch self {
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .digits(let digits): digits
        case .real(let value): value.isFinite ? "\(value)" : nil
        case .decimal(let value): value.isNaN ? nil : value.description
        default: nil
        }
    }

    /// Returns the number as a `Decimal`; nil if it has too many digits, or is out of range.
    private static func decimal(_ digits: String) -> Decimal? {
        guard let decimal = Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")), !decimal.isNaN else {
            return nil
        }
        return decimal
    }

    /// The negative of a number; nil for other constants.
    var negative: PredicateArgument? {
        switch self {
        case .integer(let value): value == .min ? nil : .integer(-value)
        case .unsigned(let value): value == 1 << 63 ? .integer(.min) : .digits("-\(value)")
        case .digits(let digits): .digits(digits.hasPrefix("-") ? String(digits.dropFirst()) : "-" + digits)
        default: nil
        }
    }

    // MARK: Conversions

    /// Returns the constant converted by `CAST`; nil if it cannot be converted.
    func converted(to type: AttributeType) -> PredicateArgument? {
        switch (type.form, self) {
        case (_, .null), (.text, .text), (_, .typed(_, type)): self
        case (.date, _): number.flatMap(Double.init).map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? dated
        case (.decimal, .text(let text)): Self.decimal(text).map { .decimal($0) }
        case (.decimal, _): number.flatMap(Self.decimal).map { .decimal($0) }
        case (.double, .date(let date)): .real(date.timeIntervalSinceReferenceDate)
        case (.double, .text(let text)): Double(text).map { .real($0) }
        case (.double, _): number.flatMap(Double.init).map { .real($0) }
        case (.unsigned, _): unsignedValue.flatMap { UInt64(storedValue: $0) }.map { .unsigned($0) }
        case (.uuid, _), (.url, _): value(as: type).map { .typed($0, type) }
        case (.bytes, .text(let text)): Data(base64Encoded: text).map { .typed(.blob($0), type) }
        case (.text, .typed(.text(let text), _)): .text(text)
        case (.text, .typed(.uuid(let uuid), _)): .text(uuid.uuidString)
        case (.text, _): number.map { .text($0) }
        // Other integers than numbers are written in their stored form.
        case (.integer(let range), .integer(let integer)) where !type.isNumber && range.contains(integer):
            .typed(.integer(integer), type)
        case (.integer, _), (.boolean, _), (.float, _), (.bytes, _), (.json, _): nil
        }
    }

    private var dated: PredicateArgument? {
        dateValue.flatMap { Date(storedValue: $0) }.map { .date($0) }
    }

    /// Returns the date of a text in ISO 8601: a day, or a day and a time with a time zone.
    private static func date(_ text: String) -> Date? {
        let time = Date.ISO8601FormatStyle()
        let fraction = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        return (try? time.parse(text)) ?? (try? fraction.parse(text)) ?? (try? time.year().month().day().parse(text))
    }

    // MARK: Descriptions

    /// The description of the constant, without its value.
    var kindDescription: String {
        switch self {
        case .null: "nil"
        case .object(let object): "an object of entity '\(object.predicateEntityName)'"
        case .list: "a list"
        case .range: "a range"
        case .unsupported(let type): "a value of type '\(type)'"
        case .unstorable(let type): "a value that its type '\(type)' cannot store"
        case .integer(let value) where value < 0: "a negative number"
        default: naturalType?.facts.description ?? "a value"
        }
    }
}
