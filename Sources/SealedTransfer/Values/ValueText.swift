import Foundation
package import ObjectGraph

/// The text of an attribute's value in JSON lines and CSV. Reading the text gives the same value, bit for bit.
package enum ValueText {
    /// A number, `true`, `false`, or the JSON text of a composite value.
    case literal(String)
    /// A text, which is a string in JSON.
    case string(String)

    /// The text of a value; nil for null.
    package init?(_ value: Value, as type: AttributeType) {
        switch (value, type.form) {
        case (.null, _): return nil
        case (.integer(let integer), .boolean) where integer == 0 || integer == 1:
            self = .literal(integer == 1 ? "true" : "false")
        case (.integer(let integer), .unsigned): self = .literal(String(UInt64(bitPattern: integer)))
        case (.integer(let integer), _): self = .literal(String(integer))
        case (.real(let real), .date): self = Self.date(real)
        case (.real(let real), .float) where Double(Float(real)) == real: self = Self.real("\(Float(real))")
        case (.real(let real), _): self = Self.real("\(real)")
        case (.text(let text), .json): self = Self.composite(text)
        case (.text(let text), _): self = .string(text)
        case (.blob(let data), .decimal):
            self = .string(Decimal(storedValue: .blob(data)).map { $0.isNaN ? "NaN" : $0.description } ?? "")
        case (.blob(let data), .uuid):
            self = .string(UUID(storedValue: .blob(data))?.uuidString ?? data.base64EncodedString())
        case (.blob(let data), _): self = .string(data.base64EncodedString())
        case (.uuid(let uuid), _): self = .string(uuid.uuidString)
        }
    }

    private static func real(_ text: String) -> ValueText {
        switch text {
        case "inf", "-inf", "nan": .string(text)
        default: .literal(text)
        }
    }

    private static func date(_ seconds: Double) -> ValueText {
        DateText.text(secondsSince2001: seconds).map(ValueText.string) ?? real("\(seconds)")
    }

    /// The member of the object that holds the text of a composite value which cannot stand in a line as it is.
    static let composedTextMember = "_json"

    /// A composite value stands in the line as it is, so that other programs can read its parts. A text that contains a
    /// line break or another character that ``JSONString`` escapes, or that another program has stored and is not JSON,
    /// is a string in an object with the one member `_json`.
    private static func composite(_ text: String) -> ValueText {
        if let slice = lineOfJSON(text), !slice.isNull, !(slice.isObject && text.contains(composedTextMember)),
            // Space in front or behind it would be lost.
            slice.range.count == text.utf8.count, JSONString.isVisible(text)
        {
            return .literal(text)
        }
        return .literal("{\"\(composedTextMember)\":" + JSONString.quoted(text) + "}")
    }

    /// The value of a text that is JSON in one line; nil for another text.
    private static func lineOfJSON(_ text: String) -> JSONSlice? {
        guard !text.utf8.contains(0x0A), !text.utf8.contains(0x0D) else { return nil }
        return JSONSlice(validating: text)
    }

    /// Whether a text is one value of JSON in one line, and so can stand in a line of JSON as it is.
    package static func isLineOfJSON(_ text: String) -> Bool { lineOfJSON(text) != nil }

    /// The text without quotes.
    var plain: String {
        switch self {
        case .literal(let text), .string(let text): text
        }
    }
}

/// Reads the texts of ``ValueText``.
enum ValueReading {
    /// Why a text is not a value of a type.
    struct Unfit: Error {
        let reason: String
    }

    /// The value of a text.
    ///
    /// - Throws: ``Unfit``.
    static func value(of text: String, as type: AttributeType) throws(Unfit) -> Value {
        let value: Value? =
            switch type.form {
            case .boolean: ["true": .integer(1), "false": .integer(0), "1": .integer(1), "0": .integer(0)][text]
            case .integer(let range): integer(text).flatMap { range.contains($0) ? .integer($0) : nil }
            case .unsigned: isInteger(text) ? UInt64(text).map { .integer(Int64(bitPattern: $0)) } : nil
            case .float: real(text).flatMap { real in Float(text).flatMap { float($0, nearestTo: real) } }
            case .double: real(text).map(Value.real)
            case .decimal: decimal(text)
            case .text: .text(text)
            case .date: (DateText.seconds(text) ?? real(text)).map(Value.real)
            case .uuid: UUID(uuidString: text).map(Value.uuid)
            case .url: URL(string: text) == nil ? nil : .text(text)
            case .bytes: Data(base64Encoded: text).map(Value.blob)
            case .json: .text(text)
            }
        guard let value else { throw Unfit(reason: "the value is not of type \(type.rawValue)") }
        return value
    }

    /// The stored form of the float that is nearest to a number; nil for a finite number beyond the range of floats,
    /// which would become infinite.
    static func float(_ float: Float, nearestTo real: Double) -> Value? {
        float.isInfinite && real.isFinite ? nil : .real(Double(float))
    }

    private static func isInteger(_ text: String) -> Bool {
        let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
        return !digits.isEmpty && digits.allSatisfy { $0 >= 48 && $0 <= 57 }
    }

    private static func integer(_ text: String) -> Int64? { isInteger(text) ? Int64(text) : nil }

    private static func real(_ text: String) -> Double? {
        switch text {
        case "inf": return .infinity
        case "-inf": return -.infinity
        case "nan": return .nan
        default:
            // Double also reads hexadecimal numbers and names.
            let isDecimal = text.utf8.allSatisfy { ($0 >= 48 && $0 <= 57) || "+-.eE".utf8.contains($0) }
            guard isDecimal, let real = Double(text), real.isFinite else { return nil }
            return real
        }
    }

    /// A decimal number; nil for a text that has no exact form.
    static func decimal(_ text: String) -> Value? {
        if text == "NaN" { return Decimal.nan.storedValue }
        guard real(text) != nil, let decimal = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")) else {
            return nil
        }
        guard significantDigits(of: text) == significantDigits(of: decimal.description) else { return nil }
        return decimal.storedValue
    }

    /// The digits of a number without zeros at the beginning and the end.
    private static func significantDigits(of text: String) -> [UInt8] {
        var digits = text.utf8.prefix { $0 != UInt8(ascii: "e") && $0 != UInt8(ascii: "E") }
            .filter { $0 >= 48 && $0 <= 57 }
        while digits.last == 48 { digits.removeLast() }
        return Array(digits.drop { $0 == 48 })
    }
}
