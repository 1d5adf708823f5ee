/// The lexer of the text form of predicates.
struct FormatLexer {
    let format: String
    private var position: String.Index
    /// The number of specifiers without a position so far.
    private var argumentCount = 0
    private var hasNumberedArguments = false

    init(_ format: String) {
        self.format = format
        position = format.startIndex
    }

    // MARK: Scalars

    private var next: Unicode.Scalar? { position < format.endIndex ? format.unicodeScalars[position] : nil }

    /// The scalar after the next one.
    private var second: Unicode.Scalar? {
        guard position < format.endIndex else { return nil }
        let index = format.unicodeScalars.index(after: position)
        return index < format.endIndex ? format.unicodeScalars[index] : nil
    }

    private mutating func advance() { position = format.unicodeScalars.index(after: position) }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        advance()
        return true
    }

    /// Consumes scalars while a condition holds.
    private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
        let start = position
        while let scalar = next, condition(scalar) { advance() }
        return String(format.unicodeScalars[start..<position])
    }

    private func error(
        _ message: String,
        _ kind: PredicateFormatError.Kind = .syntax,
        from start: String.Index
    ) -> PredicateFormatError {
        PredicateFormatError(kind, message, in: format, at: start..<position)
    }

    // MARK: Tokens

    /// Returns the next token; ``FormatToken/Kind/end`` at the end of the text.
    mutating func token() throws(PredicateFormatError) -> FormatToken {
        while let scalar = next, scalar.properties.isWhitespace { advance() }
        let start = position
        let kind = try kind()
        return FormatToken(kind: kind, range: start..<position)
    }

    private mutating func kind() throws(PredicateFormatError) -> FormatToken.Kind {
        let start = position
        guard let scalar = next else { return .end }
        switch scalar {
        case "'", "\"": return .text(try text(quote: scalar))
        case "0"..."9": return .number(try number())
        case "." where second.map(Self.isDigit) ?? false: return .number(try number())
        case "%": return try specifier()
        case "$":
            advance()
            return .variable(try name(after: "$", from: start))
        case "@":
            advance()
            return .collectionOperator(try name(after: "@", from: start))
        case "#":
            advance()
            return .name(try name(after: "#", from: start))
        case _ where Self.startsName(scalar): return try word()
        default: return try symbol()
        }
    }

    private mutating func symbol() throws(PredicateFormatError) -> FormatToken.Kind {
        let start = position
        guard let scalar = next else { return .end }
        advance()
        switch scalar {
        case "=":
            if take("<") { return .symbol(.lessOrEqual) }
            if take(">") { return .symbol(.greaterOrEqual) }
            _ = take("=")
            return .symbol(.equal)
        case "!": return take("=") ? .symbol(.notEqual) : .keyword(.not)
        case "<":
            if take("=") { return .symbol(.lessOrEqual) }
            if next == "<" { break }
            return .symbol(take(">") ? .notEqual : .less)
        case ">":
            if next == ">" { break }
            return .symbol(take("=") ? .greaterOrEqual : .greater)
        case "&": if take("&") { return .keyword(.and) }
        case "|": if take("|") { return .keyword(.or) }
        case "*": return .symbol(take("*") ? .power : .multiply)
        case ":":
            if take("=") { throw error("a predicate assigns no values with ':='", .unsupported, from: start) }
            throw error("unexpected ':'", from: start)
        case "^", "~": break
        default:
            if let symbol = FormatSymbol(rawValue: String(scalar)) { return .symbol(symbol) }
            throw error("unexpected '\(scalar)'", from: start)
        }
        throw error("there are no operations on the bits of numbers", .unsupported, from: start)
    }

    // MARK: Names

    private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "_", "\\": true
        default: scalar.value >= 0x80 && !scalar.properties.isWhitespace
        }
    }

    private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || startsName(scalar)
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { "0"..."9" ~= scalar }

    /// Returns a name, a keyword, or the name of a function with colons.
    private mutating func word() throws(PredicateFormatError) -> FormatToken.Kind {
        let start = position
        var name = try name()
        let isEscaped = name.unicodeScalars.count != format.unicodeScalars[start..<position].count
        guard next == ":", second != "=" else {
            return isEscaped ? .name(name) : FormatKeyword(text: name).map { .keyword($0) } ?? .name(name)
        }
        while take(":") {
            name += ":"
            if let scalar = next, Self.startsName(scalar) {
                name += try self.name()
                guard next == ":" else { throw error("expected ':' at the end of a function's name", from: start) }
            }
        }
        return .selector(name)
    }

    private mutating func name(
        after sign: Character,
        from start: String.Index
    ) throws(PredicateFormatError) -> String {
        guard let scalar = next, Self.startsName(scalar) else {
            throw error("expected a name after '\(sign)'", from: start)
        }
        return try name()
    }

    /// Returns a name, in which any character can be written as `\` and its number.
    private mutating func name() throws(PredicateFormatError) -> String {
        var name = ""
        while let scalar = next, Self.continuesName(scalar) {
            if scalar == "\\" {
                let start = position
                advance()
                guard let scalar = try numberedScalar(from: start) else {
                    throw error("expected the number of a character after '\\' in a name", from: start)
                }
                name.unicodeScalars.append(scalar)
            } else {
                name.unicodeScalars.append(scalar)
                advance()
            }
        }
        return name
    }

    // MARK: Text

    private mutating func text(quote: Unicode.Scalar) throws(PredicateFormatError) -> String {
        let start = position
        advance()
        var text = ""
        while let scalar = next {
            if scalar == quote {
                advance()
                return text
            }
            if scalar == "\\" {
                text.unicodeScalars.append(try escape())
            } else {
                text.unicodeScalars.append(scalar)
                advance()
            }
        }
        throw error("unterminated text", from: start)
    }

    private mutating func escape() throws(PredicateFormatError) -> Unicode.Scalar {
        let start = position
        advance()
        if let scalar = try numberedScalar(from: start) { return scalar }
        guard let scalar = next else { throw error("unterminated text", from: start) }
        advance()
        switch scalar {
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "\\", "'", "\"": return scalar
        default:
            throw error(
                "unknown escape sequence; a backslash is written as '\\\\'",
                from: start
            )
        }
    }

    /// Returns the character of a numeric escape sequence: three octal digits, `x` and two hexadecimal digits, or `u`
    /// and four hexadecimal digits; nil for other sequences.
    private mutating func numberedScalar(from start: String.Index) throws(PredicateFormatError) -> Unicode.Scalar? {
        let (radix, count): (Int, Int)
        switch next {
        case "x"?, "X"?: (radix, count) = (16, 2)
        case "u"?, "U"?: (radix, count) = (16, 4)
        case let scalar? where Self.isDigit(scalar): (radix, count) = (8, 3)
        default: return nil
        }
        if radix == 16 { advance() }
        var digits = ""
        while digits.count < count, let scalar = next, scalar.properties.isASCIIHexDigit {
            digits.unicodeScalars.append(scalar)
            advance()
        }
        guard digits.count == count, let number = UInt32(digits, radix: radix), let scalar = Unicode.Scalar(number)
        else { throw error("expected the number of a character, with \(count) digits", from: start) }
        return scalar
    }

    // MARK: Numbers

    private mutating func number() throws(PredicateFormatError) -> FormatNumber {
        let start = position
        if next == "0", let radix = Self.radix(of: second) {
            advance()
            advance()
            let digits = take(while: Self.continuesName)
            guard let value = UInt64(digits, radix: radix) else {
                throw error("expected a whole number in the base \(radix), up to \(UInt64.max)", from: start)
            }
            return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
        }
        var digits = take(while: Self.isDigit)
        let whole = digits
        if next == ".", second.map(Self.isDigit) ?? false {
            advance()
            digits = (digits.isEmpty ? "0" : digits) + "." + take(while: Self.isDigit)
        }
        if next == "e" || next == "E" {
            advance()
            digits += "e"
            if take("-") { digits += "-" } else { _ = take("+") }
            let exponent = take(while: Self.isDigit)
            if exponent.isEmpty { throw error("expected the digits of an exponent", from: start) }
            digits += exponent
        }
        if let scalar = next, Self.startsName(scalar) {
            advance()
            throw error("a number cannot contain '\(scalar)'; a name cannot begin with a digit", from: start)
        }
        if digits == whole {
            if let value = Int64(digits) { return .integer(value) }
            if let value = UInt64(digits) { return .unsigned(value) }
        }
        guard let value = Double(digits), value.isFinite else {
            throw error("the number is too large", from: start)
        }
        return .digits(digits)
    }

    private static func radix(of scalar: Unicode.Scalar?) -> Int? {
        switch scalar {
        case "x"?, "X"?: 16
        case "o"?, "O"?: 8
        case "b"?, "B"?: 2
        default: nil
        }
    }

    // MARK: Specifiers

    /// Returns a placeholder, or the operator `%%`.
    private mutating func specifier() throws(PredicateFormatError) -> FormatToken.Kind {
        let start = position
        advance()
        if take("%") { return .symbol(.remainder) }
        let number = take(while: Self.isDigit)
        if !number.isEmpty {
            guard take("$") else { throw error("expected '$' after the position of an argument", from: start) }
        }
        let length = take { "hlqzjtL".unicodeScalars.contains($0) }
        guard let scalar = next else { throw error("expected a specifier such as %@ or %K", from: start) }
        advance()
        let kind: FormatPlaceholder.Kind
        switch scalar {
        case "@" where length.isEmpty: kind = .value
        case "K" where length.isEmpty: kind = .keyPath
        case "d", "D", "i", "u", "U", "x", "X", "o", "O": kind = .integer
        case "f", "F", "e", "E", "g", "G", "a", "A": kind = .real
        case "s", "S": kind = .text
        default:
            throw error("there is no such specifier; an argument's place is %@, %K, %d or %f", from: start)
        }
        return .placeholder(
            FormatPlaceholder(
                specifier: "%\(length)\(scalar)",
                kind: kind,
                position: try argumentPosition(number, from: start)
            )
        )
    }

    private mutating func argumentPosition(
        _ number: String,
        from start: String.Index
    ) throws(PredicateFormatError) -> Int {
        guard number.isEmpty ? !hasNumberedArguments : argumentCount == 0 else {
            throw error("either all arguments have a position, or none", from: start)
        }
        if number.isEmpty {
            argumentCount += 1
            return argumentCount - 1
        }
        hasNumberedArguments = true
        guard let position = Int(number), position > 0 else {
            throw error("the position of an argument is 1 or more", from: start)
        }
        return position - 1
    }
}
