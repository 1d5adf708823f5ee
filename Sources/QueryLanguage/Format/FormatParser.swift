/// The parser of the text form of predicates.
///
/// The grammar is the grammar of the format strings of `NSPredicate` and `NSExpression` in Apple's Predicate
/// Programming Guide. The operators by precedence, the lowest first: OR, AND, NOT, comparisons, `+ -`, `* / %%`, the
/// sign, `**`.
struct FormatParser {
    private var lexer: FormatLexer
    private(set) var token: FormatToken
    /// The end of the last consumed token.
    private(set) var end: String.Index
    /// The nesting depth of the current expression.
    private var depth = 0

    var format: String { lexer.format }

    /// The limit of the nesting depth: evaluation, here and in SQLite, recurses for each level.
    static let depthLimit = 50

    /// - Throws: ``PredicateFormatError`` if the text does not begin with a token.
    init(_ format: String) throws(PredicateFormatError) {
        lexer = FormatLexer(format)
        end = format.startIndex
        token = try lexer.token()
    }

    /// Returns the syntax tree of a text.
    ///
    /// - Throws: ``PredicateFormatError``
    static func parse(_ format: String) throws(PredicateFormatError) -> FormatSyntax {
        var parser = try FormatParser(format)
        let syntax = try parser.expression()
        guard parser.token.kind == .end else { throw parser.unexpected(expecting: "AND, OR or the end") }
        return syntax
    }

    // MARK: Tokens

    mutating func advance() throws(PredicateFormatError) {
        end = token.range.upperBound
        token = try lexer.token()
    }

    mutating func take(_ symbol: FormatSymbol) throws(PredicateFormatError) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        try advance()
        return true
    }

    mutating func expect(_ symbol: FormatSymbol, _ place: String) throws(PredicateFormatError) {
        guard try take(symbol) else { throw unexpected(expecting: "'\(symbol.rawValue)' \(place)") }
    }

    func error(
        _ message: String,
        _ kind: PredicateFormatError.Kind = .syntax,
        at range: Range<String.Index>
    ) -> PredicateFormatError {
        PredicateFormatError(kind, message, in: format, at: range)
    }

    /// Returns the error for an unexpected token.
    func unexpected(expecting expected: String) -> PredicateFormatError {
        switch token.kind {
        case .end: return error("expected \(expected), but the predicate ends", at: token.range)
        case .symbol(.openBracket):
            return error("elements of collections cannot be reached by their index", .unsupported, at: token.range)
        case .keyword(let keyword):
            let text = keyword == .not ? "'\(format[token.range])'" : keyword.rawValue.uppercased()
            let advice = keyword == .not ? "" : "; a property of this name is written #\(format[token.range])"
            return error("expected \(expected), not \(text)\(advice)", at: token.range)
        case .name(let name) where name.lowercased() == "uti":
            return error("type identifiers cannot be compared in a store", .unsupported, at: token.range)
        default: return error("expected \(expected), not \(name(of: token))", at: token.range)
        }
    }

    /// Returns the name of a token in errors: a token that can contain a value is named by its kind.
    private func name(of token: FormatToken) -> String {
        switch token.kind {
        case .text: "text in quotes"
        case .number: "a number"
        case .end: "the end"
        case .name, .keyword, .selector, .collectionOperator, .variable, .placeholder, .symbol:
            "'\(format[token.range].prefix(40))'"
        }
    }

    /// Returns a node from a position to the end of the last consumed token.
    func node(_ kind: FormatSyntax.Kind, from start: String.Index) throws(PredicateFormatError) -> FormatSyntax {
        let syntax = FormatSyntax(kind, start..<max(start, end))
        if syntax.height > Self.depthLimit { throw tooComplex(at: syntax.range) }
        return syntax
    }

    private func tooComplex(at range: Range<String.Index>) -> PredicateFormatError {
        error("the predicate is nested more than \(Self.depthLimit) levels deep", .tooComplex, at: range)
    }

    // MARK: Operators

    enum Precedence: Int, Comparable {
        case or, and, not, comparison, sum, product, sign, power, primary

        static func < (left: Precedence, right: Precedence) -> Bool { left.rawValue < right.rawValue }

        /// The precedence above this one.
        fileprivate var tighter: Precedence { Precedence(rawValue: rawValue + 1) ?? .primary }
    }

    /// Parses an expression whose operators have at least the given precedence.
    mutating func expression(_ precedence: Precedence = .or) throws(PredicateFormatError) -> FormatSyntax {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.depthLimit { throw tooComplex(at: token.range) }
        let start = token.range.lowerBound
        var left = try prefixed(precedence)
        while let found = infix, found >= precedence {
            switch found {
            case .or:
                let parts = try list(left, of: .or, .and)
                left = try node(.or(parts), from: start)
            case .and:
                let parts = try list(left, of: .and, .not)
                left = try node(.and(parts), from: start)
            case .comparison:
                left = try comparison(left, from: start)
                if infix == .comparison {
                    throw error("comparisons cannot be chained; combine them with AND", at: token.range)
                }
            default: left = try calculation(left, found, from: start)
            }
        }
        return left
    }

    /// The precedence of the current token as a binary operator; nil for other tokens.
    private var infix: Precedence? {
        switch token.kind {
        case .keyword(let keyword):
            switch keyword {
            case .or: .or
            case .and: .and
            case .in, .between, .contains, .beginswith, .endswith, .like, .matches: .comparison
            default: nil
            }
        case .symbol(let symbol):
            switch symbol {
            case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: .comparison
            case .add, .subtract: .sum
            case .multiply, .divide, .remainder: .product
            case .power: .power
            default: nil
            }
        default: nil
        }
    }

    /// Parses an operand with its prefix operators.
    private mutating func prefixed(_ precedence: Precedence) throws(PredicateFormatError) -> FormatSyntax {
        let start = token.range.lowerBound
        switch token.kind {
        case .keyword(.not) where precedence <= .not:
            try advance()
            let operand = try expression(.not)
            return try node(.not(operand), from: start)
        case .keyword(let keyword) where precedence <= .comparison:
            guard let quantifier = FormatQuantifier(keyword) else { break }
            try advance()
            return try quantified(quantifier, from: start)
        case .symbol(.subtract):
            try advance()
            let operand = try expression(.power)
            if case .constant(let constant) = operand.kind, let negative = constant.negative {
                return try node(.constant(negative), from: start)
            }
            return try node(.negative(operand), from: start)
        default: break
        }
        return try operand()
    }

    private mutating func quantified(
        _ quantifier: FormatQuantifier,
        from start: String.Index
    ) throws(PredicateFormatError) -> FormatSyntax {
        let comparison = try expression(.comparison)
        guard case .comparison = comparison.kind else {
            throw error("expected a comparison after \(quantifier.rawValue)", at: comparison.range)
        }
        return try node(.quantified(quantifier, comparison), from: start)
    }

    private mutating func list(
        _ first: FormatSyntax,
        of keyword: FormatKeyword,
        _ precedence: Precedence
    ) throws(PredicateFormatError) -> [FormatSyntax] {
        var operands = [first]
        while token.kind == .keyword(keyword) {
            try advance()
            operands.append(try expression(precedence))
        }
        return operands
    }

    private mutating func calculation(
        _ left: FormatSyntax,
        _ precedence: Precedence,
        from start: String.Index
    ) throws(PredicateFormatError) -> FormatSyntax {
        let symbol = token.kind
        try advance()
        // Powers are right-associative: 2 ** 3 ** 2 is 2 ** 9.
        let right = try expression(precedence == .power ? .power : precedence.tighter)
        switch symbol {
        case .symbol(.add): return try node(.arithmetic(.add, left, right), from: start)
        case .symbol(.subtract): return try node(.arithmetic(.subtract, left, right), from: start)
        case .symbol(.multiply): return try node(.arithmetic(.multiply, left, right), from: start)
        case .symbol(.divide): return try node(.arithmetic(.divide, left, right), from: start)
        case .symbol(.remainder): return try node(.arithmetic(.remainder, left, right), from: start)
        default: return try node(.power(left, right), from: start)
        }
    }

    // MARK: Comparisons

    private mutating func comparison(
        _ left: FormatSyntax,
        from start: String.Index
    ) throws(PredicateFormatError) -> FormatSyntax {
        let place = token.range.lowerBound
        guard let kind = FormatOperator.Kind(token.kind) else { throw unexpected(expecting: "a comparison") }
        try advance()
        let options = try options()
        let comparison = FormatOperator(kind: kind, options: options, range: place..<end)
        let right = try expression(.sum)
        return try node(.comparison(comparison, left, right), from: start)
    }

    /// Parses the options in brackets after an operator.
    private mutating func options() throws(PredicateFormatError) -> FormatOperator.Options {
        guard try take(.openBracket) else { return [] }
        let range = token.range
        guard case .name(let letters) = token.kind else {
            throw error("expected the options c, d, l or n; lists are written in braces", at: range)
        }
        try advance()
        var options: FormatOperator.Options = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "l": options.insert(.localeSensitive)
            // `n` declares the texts as normalized. Stores compare texts in any normalization form.
            case "n": break
            default: throw error("there is no option '\(letter)', only c, d, l and n", at: range)
            }
        }
        try expect(.closeBracket, "after the options")
        return options
    }
}

extension FormatQuantifier {
    fileprivate init?(_ keyword: FormatKeyword) {
        switch keyword {
        case .any, .some: self = .any
        case .all: self = .all
        case .none: self = .none
        default: return nil
        }
    }
}

extension FormatOperator.Kind {
    fileprivate init?(_ token: FormatToken.Kind) {
        switch token {
        case .symbol(let symbol): self.init(rawValue: symbol.rawValue)
        case .keyword(let keyword): self.init(rawValue: keyword.rawValue.uppercased())
        default: return nil
        }
    }
}
