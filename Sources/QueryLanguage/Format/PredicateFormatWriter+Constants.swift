import Foundation

extension PredicateFormatWriter {
    /// Returns the text of a constant in the place of a value of a type.
    func literal(_ value: Value, as type: FormatType) -> (text: String, FormatParser.Precedence) {
        if value.isNull { return ("NIL", .primary) }
        guard showsValues else { return ("%@", .primary) }
        let text = text(of: value, as: type)
        return (text, text.hasPrefix("-") ? .sign : .primary)
    }

    /// Returns the text of a list of constants.
    func membershipList(_ values: [Value], as type: FormatType) -> String {
        guard showsValues else { return "%@" }
        return "{\(values.map { $0.isNull ? "NIL" : text(of: $0, as: type) }.joined(separator: ", "))}"
    }

    private func text(of value: Value, as type: FormatType) -> String {
        switch (value, type) {
        case (.integer(let key), .object(let entity)): "CAST(\(key), \(Self.quoted(entity.name)))"
        case (.integer(let bits), .attribute(.uint64)): String(UInt64(bitPattern: bits))
        case (.integer(let value), .attribute(.bool)): value == 0 ? "FALSE" : "TRUE"
        case (.integer(let value), .attribute(let type)) where type.form.isInteger && !type.isNumber:
            "CAST(\(value), '\(type.facts.castName ?? type.rawValue)')"
        case (.integer(let value), _): String(value)
        case (.real(let seconds), .attribute(.date)): "CAST(\(Self.number(seconds)), 'NSDate')"
        case (.real(let value), _): Self.number(value)
        case (.text(let text), _): Self.quoted(text)
        case (.uuid(let uuid), _): "CAST('\(uuid.uuidString)', 'NSUUID')"
        case (.blob, .attribute(.uuid)):
            UUID(storedValue: value).map { "CAST('\($0.uuidString)', 'NSUUID')" } ?? "NIL"
        case (.blob, .attribute(.decimal)):
            Decimal(storedValue: value).map { "CAST('\($0.description)', 'NSDecimalNumber')" } ?? "NIL"
        case (.blob(let data), _): "CAST('\(data.base64EncodedString())', 'NSData')"
        case (.null, _): "NIL"
        }
    }

    private static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : "CAST('\(value)', 'NSNumber')"
    }

    /// Returns a text literal.
    static func quoted(_ text: String) -> String {
        var result = "'"
        for scalar in text.unicodeScalars {
            switch scalar {
            case "'": result += "\\'"
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: result += numbered(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }

    /// Returns the escape sequence of a UTF-16 code unit.
    static func numbered(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension AttributeType.Form {
    fileprivate var isInteger: Bool { if case .integer = self { true } else { false } }
}
