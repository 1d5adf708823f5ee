import Foundation

/// The JSON text of a composite value, from which single parts are read without parsing the rest.
///
/// A text that is not JSON has no parts. Outside the requested part, only the ends of values are parsed.
///
/// JSON has no numbers that are not finite: they are texts. NaN has no value, as in a column.
package struct JSONText {
    /// The texts that stand for numbers that are not finite.
    package static let (infinity, negativeInfinity, notANumber) = ("inf", "-inf", "nan")

    private let bytes: [UInt8]

    /// Creates the JSON text of a text.
    package init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// Creates the JSON text of a text.
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = Array(bytes)
    }

    // MARK: Parts

    /// Returns the part at a path of keys as a value of a type; null if there is no such part, or it has another type.
    package func value(at keys: [ComponentKey], as type: AttributeType) -> Value {
        part(at: keys).map { value(in: $0, as: type) } ?? .null
    }

    /// Returns the elements of a list, or the values of an object; nil for other texts.
    package func elements(as type: AttributeType) -> [Value]? {
        guard let whole = part(at: []), isList(whole) || isObject(whole) else { return nil }
        var elements: [Value] = []
        forEachElement(of: whole) { _, element in
            elements.append(value(in: element, as: type))
            return true
        }
        return elements
    }

    /// Returns the range of the part at a path of keys.
    private func part(at keys: [ComponentKey]) -> Range<Int>? {
        let start = skipSpace(from: 0)
        guard let end = endOfValue(from: start) else { return nil }
        var part = start..<end
        for key in keys {
            var found: Range<Int>?
            switch key {
            case .name(let name) where isObject(part):
                forEachElement(of: part) { key, element in
                    if string(in: key) == name { found = element }
                    return true
                }
            case .index(let wanted) where isList(part): found = element(at: wanted, of: part)
            case .name, .index: break
            }
            guard let found else { return nil }
            part = found
        }
        return part
    }

    private func element(at wanted: Int, of list: Range<Int>) -> Range<Int>? {
        var index = 0
        if wanted < 0 {
            forEachElement(of: list) { _, _ in
                index -= 1
                return true
            }
        }
        var found: Range<Int>?
        forEachElement(of: list) { _, element in
            if index == wanted { found = element }
            index += 1
            return found == nil
        }
        return found
    }

    private func isObject(_ part: Range<Int>) -> Bool { bytes[part.lowerBound] == UInt8(ascii: "{") }
    private func isList(_ part: Range<Int>) -> Bool { bytes[part.lowerBound] == UInt8(ascii: "[") }

    /// Calls `body` with each element of a list or object and its key, until `body` returns false.
    private func forEachElement(of whole: Range<Int>, _ body: (_ key: Range<Int>, _ element: Range<Int>) -> Bool) {
        let hasKeys = isObject(whole)
        let end = whole.upperBound - 1
        var position = skipSpace(from: whole.lowerBound + 1)
        while position < end {
            var key = position..<position
            if hasKeys {
                guard let keyEnd = endOfValue(from: position) else { return }
                key = position..<keyEnd
                let colon = skipSpace(from: keyEnd)
                guard colon < end, bytes[colon] == UInt8(ascii: ":") else { return }
                position = skipSpace(from: colon + 1)
            }
            guard position < end, let elementEnd = endOfValue(from: position), elementEnd <= end else { return }
            guard body(key, position..<elementEnd) else { return }
            position = skipSpace(from: elementEnd)
            guard position < end, bytes[position] == UInt8(ascii: ",") else { return }
            position = skipSpace(from: position + 1)
        }
    }

    private func skipSpace(from start: Int) -> Int {
        var position = start
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
        return position
    }

    /// Returns the end of the value that starts at a position; nil if the text ends before it.
    private func endOfValue(from start: Int) -> Int? {
        var position = start
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard let end = endOfString(from: position) else { return nil }
                position = end
                if depth == 0 { return end }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position > start ? position : nil }
                depth -= 1
                if depth == 0 { return position + 1 }
            case UInt8(ascii: ","), UInt8(ascii: ":"), 0x20, 0x09, 0x0A, 0x0D:
                if depth == 0 { return position > start ? position : nil }
            default: break
            }
            position += 1
        }
        return depth == 0 && position > start ? position : nil
    }

    private func endOfString(from start: Int) -> Int? {
        var position = start + 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position + 1
            default: position += 1
            }
        }
        return nil
    }

    /// Returns the list of the elements of a list in a range of indexes; nil if it has fewer.
    package func slice(from lower: Int64, to upper: Int64) -> String? {
        guard let whole = part(at: []), isList(whole) else { return nil }
        let elements = elements(of: whole)
        guard lower >= 0, lower <= upper, upper <= elements.count else { return nil }
        let texts = elements[Int(lower)..<Int(upper)].map { text(of: $0.element) }
        return "[\(texts.joined(separator: ","))]"
    }

    // MARK: Equality

    /// Returns whether two texts represent equal values.
    package func isEqual(to other: JSONText) -> Bool {
        guard let part = part(at: []), let otherPart = other.part(at: []) else { return false }
        return isEqual(part, otherPart, of: other)
    }

    private func isEqual(_ part: Range<Int>, _ otherPart: Range<Int>, of other: JSONText) -> Bool {
        if bytes[part].elementsEqual(other.bytes[otherPart]) { return true }
        if let text = string(in: part) { return other.string(in: otherPart) == text }
        if isList(part) {
            guard other.isList(otherPart) else { return false }
            let (elements, others) = (self.elements(of: part), other.elements(of: otherPart))
            return elements.count == others.count
                && zip(elements, others).allSatisfy { isEqual($0.element, $1.element, of: other) }
        }
        if isObject(part) {
            guard other.isObject(otherPart) else { return false }
            let (elements, others) = (self.elements(of: part), other.elements(of: otherPart))
            // Canonically equivalent keys are the same key.
            let otherElements = Dictionary(others.map { (other.string(in: $0.key), $0.element) }) { first, _ in first }
            return elements.count == others.count
                && elements.allSatisfy { key, element in
                    otherElements[string(in: key)].map { isEqual(element, $0, of: other) } ?? false
                }
        }
        return isEqualNumber(text(of: part), other.text(of: otherPart))
    }

    private func elements(of whole: Range<Int>) -> [(key: Range<Int>, element: Range<Int>)] {
        var elements: [(key: Range<Int>, element: Range<Int>)] = []
        forEachElement(of: whole) { key, element in
            elements.append((key, element))
            return true
        }
        return elements
    }

    /// Compares two number texts, as decimals if they have more digits than a `Double`.
    private func isEqualNumber(_ left: String, _ right: String) -> Bool {
        guard let leftReal = Double(left), let rightReal = Double(right), leftReal == rightReal else { return false }
        let locale = Locale(identifier: "en_US_POSIX")
        guard let left = Decimal(string: left, locale: locale), let right = Decimal(string: right, locale: locale)
        else {
            return true
        }
        return left == right
    }

    // MARK: Values

    private func value(in part: Range<Int>, as type: AttributeType) -> Value {
        let facts = type.facts
        if !facts.isPlainInJSON, let type = facts.swiftType { return decoded(part, as: type) }
        return switch facts.form {
        case .boolean:
            switch text(of: part) {
            case "true": .bool(true)
            case "false": .bool(false)
            default: .null
            }
        case .integer: Int64(text(of: part)).map(Value.integer) ?? .null
        case .unsigned: UInt64(text(of: part)).map { .integer(Int64(bitPattern: $0)) } ?? .null
        case .float: realText(in: part).flatMap { Float($0) }.map { .real(Double($0)) } ?? .null
        case .double, .date: realText(in: part).flatMap { Double($0) }.map(Value.real) ?? .null
        case .decimal: decimal(in: part).map(\.storedValue) ?? .null
        case .text, .url: string(in: part).map(Value.text) ?? .null
        case .uuid: string(in: part).flatMap(UUID.init).map(Value.uuid) ?? .null
        case .bytes: string(in: part).flatMap { Data(base64Encoded: $0) }.map(Value.blob) ?? .null
        case .json: text(of: part) == "null" ? .null : .text(text(of: part))
        }
    }

    /// Decodes a value of a type that is not written as a number, a text or a Boolean.
    private func decoded<T: StorableValue>(_ part: Range<Int>, as type: T.Type) -> Value {
        (try? JSONDecoder().decode(type, from: Data(bytes[part])).storedValue) ?? .null
    }

    private func text(of part: Range<Int>) -> String { String(decoding: bytes[part], as: UTF8.self) }

    /// The digits of a number, or the text that stands for an infinity; nil for other texts.
    private func realText(in part: Range<Int>) -> String? {
        guard bytes[part.lowerBound] == UInt8(ascii: "\"") else { return text(of: part) }
        let text = string(in: part)
        return text == Self.infinity || text == Self.negativeInfinity ? text : nil
    }

    private func decimal(in part: Range<Int>) -> Decimal? {
        // Decimal accepts any text that begins with a digit and ignores the rest.
        guard Double(text(of: part)) != nil else { return nil }
        return Decimal(string: text(of: part), locale: Locale(identifier: "en_US_POSIX"))
    }

    private func string(in part: Range<Int>) -> String? {
        guard part.count >= 2, bytes[part.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let inner = bytes[(part.lowerBound + 1)..<(part.upperBound - 1)]
        if !inner.contains(UInt8(ascii: "\\")) { return String(decoding: inner, as: UTF8.self) }
        return try? JSONDecoder().decode(String.self, from: Data(bytes[part]))
    }
}
