/// A value in a JSON text whose syntax has been checked: its kind and the range of its bytes. Its parts are read when
/// they are asked for.
package struct JSONSlice {
    /// The kinds of values.
    package enum Kind {
        case null, bool, number, string, array, object
    }

    /// A violation of the syntax of JSON (RFC 8259), at a position in the text.
    package struct SyntaxError: Error {
        package let position: Int
        package let reason: String
    }

    package let kind: Kind
    package let range: Range<Int>
    private let bytes: [UInt8]

    /// The deepest nesting of arrays and objects.
    private static let depthLimit = 512

    /// Checks the syntax of a text that is one value.
    ///
    /// - Throws: ``SyntaxError``.
    package init(_ bytes: [UInt8]) throws(SyntaxError) {
        if let position = Self.positionOfInvalidUTF8(bytes) {
            throw SyntaxError(position: position, reason: "the text is not UTF-8")
        }
        var scanner = Scanner(bytes: bytes)
        scanner.skipSpace()
        let kind = try scanner.kind()
        let start = scanner.position
        try scanner.skipValue(depth: 0)
        let end = scanner.position
        scanner.skipSpace()
        guard scanner.position == bytes.count else { throw scanner.error("a line has one value") }
        self.init(kind: kind, range: start..<end, bytes: bytes)
    }

    /// Checks a text; nil if it is not a JSON value.
    package init?(validating text: String) {
        guard let slice = try? JSONSlice(Array(text.utf8)) else { return nil }
        self = slice
    }

    private init(kind: Kind, range: Range<Int>, bytes: [UInt8]) {
        self.kind = kind
        self.range = range
        self.bytes = bytes
    }

    private static func positionOfInvalidUTF8(_ bytes: [UInt8]) -> Int? {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        guard bytes.contains(where: { $0 >= 0x80 }) else { return nil }
        var position = 0
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): position += UTF8.width(scalar)
            case .emptyInput: return nil
            case .error: return position
            }
        }
    }

    package var isNull: Bool { kind == .null }
    package var isObject: Bool { kind == .object }

    /// The text of the value as it stands.
    package var literal: String { String(decoding: bytes[range], as: UTF8.self) }

    /// The text of a string; nil for other values, and for a string with a lone surrogate.
    package var string: String? { kind == .string ? JSONString.text(of: bytes[range]) : nil }

    /// The members of an object, in their order; empty for other values.
    package var members: [(name: JSONSlice, value: JSONSlice)] {
        guard kind == .object else { return [] }
        var members: [(name: JSONSlice, value: JSONSlice)] = []
        forEachElement { scanner in
            let name = scanner.next(of: bytes)
            scanner.skipSpace()
            scanner.position += 1
            members.append((name, scanner.next(of: bytes)))
        }
        return members
    }

    /// The elements of an array; empty for other values.
    package var elements: [JSONSlice] {
        guard kind == .array else { return [] }
        var elements: [JSONSlice] = []
        forEachElement { elements.append($0.next(of: bytes)) }
        return elements
    }

    private func forEachElement(_ body: (inout Scanner) -> Void) {
        var scanner = Scanner(bytes: bytes)
        scanner.position = range.lowerBound + 1
        scanner.skipSpace()
        while scanner.position < range.upperBound - 1 {
            body(&scanner)
            scanner.skipSpace()
            // The comma.
            scanner.position += 1
        }
    }

    /// Reads over the values of a text.
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        func error(_ reason: String) -> SyntaxError { SyntaxError(position: position, reason: reason) }

        mutating func skipSpace() {
            while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
        }

        /// The next value of a text whose syntax has been checked.
        mutating func next(of bytes: [UInt8]) -> JSONSlice {
            skipSpace()
            let start = position
            let kind = (try? kind()) ?? .null
            try? skipValue(depth: 0)
            return JSONSlice(kind: kind, range: start..<position, bytes: bytes)
        }

        func kind() throws(SyntaxError) -> Kind {
            switch current {
            case UInt8(ascii: "{"): return .object
            case UInt8(ascii: "["): return .array
            case UInt8(ascii: "\""): return .string
            case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
            case UInt8(ascii: "n"): return .null
            case UInt8(ascii: "-"): return .number
            case let byte? where byte >= 48 && byte <= 57: return .number
            case nil: throw error("the text ends where a value is expected")
            default: throw error("a value is expected")
            }
        }

        mutating func skipValue(depth: Int) throws(SyntaxError) {
            guard depth < JSONSlice.depthLimit else {
                throw error("the nesting is deeper than \(JSONSlice.depthLimit)")
            }
            switch try kind() {
            case .object:
                try skipElements(until: UInt8(ascii: "}")) { (scanner) throws(SyntaxError) in
                    guard scanner.current == UInt8(ascii: "\"") else { throw scanner.error("a name is expected") }
                    try scanner.skipString()
                    scanner.skipSpace()
                    try scanner.take(UInt8(ascii: ":"), "a colon is expected")
                    scanner.skipSpace()
                    try scanner.skipValue(depth: depth + 1)
                }
            case .array:
                try skipElements(until: UInt8(ascii: "]")) { (scanner) throws(SyntaxError) in
                    try scanner.skipValue(depth: depth + 1)
                }
            case .string: try skipString()
            case .number: try skipNumber()
            case .bool: try skipWord(current == UInt8(ascii: "t") ? "true" : "false")
            case .null: try skipWord("null")
            }
        }

        private mutating func skipElements(
            until end: UInt8,
            _ skipElement: (inout Scanner) throws(SyntaxError) -> Void
        ) throws(SyntaxError) {
            position += 1
            skipSpace()
            if current == end {
                position += 1
                return
            }
            while true {
                try skipElement(&self)
                skipSpace()
                if current == end {
                    position += 1
                    return
                }
                try take(UInt8(ascii: ","), "a comma or the end of the list is expected")
                skipSpace()
            }
        }

        private mutating func take(_ byte: UInt8, _ reason: String) throws(SyntaxError) {
            guard current == byte else { throw error(reason) }
            position += 1
        }

        private mutating func skipWord(_ word: String) throws(SyntaxError) {
            guard bytes[position...].starts(with: word.utf8) else { throw error("a value is expected") }
            position += word.utf8.count
        }

        private mutating func skipString() throws(SyntaxError) {
            position += 1
            while let byte = current {
                switch byte {
                case UInt8(ascii: "\""):
                    position += 1
                    return
                case 0..<0x20: throw error("a control character in a string is not escaped")
                case UInt8(ascii: "\\"):
                    position += 1
                    try skipEscape()
                default: position += 1
                }
            }
            throw error("the text ends within a string")
        }

        private mutating func skipEscape() throws(SyntaxError) {
            guard let byte = current, "\"\\/bfnrtu".utf8.contains(byte) else { throw error("an unknown escape") }
            position += 1
            guard byte == UInt8(ascii: "u") else { return }
            for _ in 0..<4 {
                guard let digit = current, Character(Unicode.Scalar(digit)).isHexDigit, digit < 0x80 else {
                    throw error("an unknown escape")
                }
                position += 1
            }
        }

        private mutating func skipNumber() throws(SyntaxError) {
            if current == UInt8(ascii: "-") { position += 1 }
            if current == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
            if current == UInt8(ascii: ".") {
                position += 1
                try skipDigits()
            }
            if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
                position += 1
                if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
                try skipDigits()
            }
        }

        private mutating func skipDigits() throws(SyntaxError) {
            guard let byte = current, byte >= 48, byte <= 57 else { throw error("a digit is expected") }
            while let byte = current, byte >= 48, byte <= 57 { position += 1 }
        }
    }
}
