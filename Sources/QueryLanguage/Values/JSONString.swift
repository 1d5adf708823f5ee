/// Strings of JSON (RFC 8259, section 7).
///
/// Characters that a terminal acts on, or does not show, are written as `\u` and their number, see
/// ``Swift/Unicode/Scalar/isVisible``.
package enum JSONString {
    /// A text between quotes, on one line of visible characters.
    package static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a text between quotes.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        if isVisible(text) {
            for byte in text.utf8 {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
        } else {
            for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(scalar.value)]
        case "\n": bytes += "\\n".utf8
        case "\r": bytes += "\\r".utf8
        case "\t": bytes += "\\t".utf8
        case _ where scalar.isVisible: bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        default: bytes += escape(scalar)
        }
    }

    /// The escapes of the UTF-16 code units of a character.
    private static func escape(_ scalar: Unicode.Scalar) -> [UInt8] {
        String(scalar).utf16.flatMap { unit in
            Array("\\u".utf8) + [12, 8, 4, 0].map { digit(UInt8(unit >> $0 & 15)) }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 48 + value : 87 + value }

    /// Whether a text has no character that is escaped because a terminal acts on it, or does not show it.
    package static func isVisible(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } || text.unicodeScalars.allSatisfy(\.isVisible)
    }

    /// JSON of the same meaning in which such characters are escaped. In JSON, they stand in strings only, except for
    /// space between values, which stays.
    package static func visible(_ json: String) -> String {
        guard !isVisible(json) else { return json }
        var bytes: [UInt8] = []
        for scalar in json.unicodeScalars {
            if scalar.isVisible || scalar.value < 0x20 {
                bytes += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            } else {
                bytes += escape(scalar)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text of a string between quotes, whose syntax has been checked; nil if it contains a lone surrogate.
    package static func text(of bytes: ArraySlice<UInt8>) -> String? {
        let content = bytes.dropFirst().dropLast()
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var rest = content
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                result.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(&rest) else { return nil }
                result += String(scalar).utf8
            default: result.append(escape)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The character of one or two `\u` escapes, the first of which has lost its beginning.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar? {
        guard let first = unit(&rest) else { return nil }
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) }
        guard rest.popFirst() == UInt8(ascii: "\\"), rest.popFirst() == UInt8(ascii: "u"), let second = unit(&rest),
            second & 0xFC00 == 0xDC00
        else { return nil }
        return Unicode.Scalar(0x10000 + (first & 0x3FF) << 10 + second & 0x3FF)
    }

    private static func unit(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = rest.popFirst(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                return nil
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
