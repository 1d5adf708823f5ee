extension FormatParser {
    /// Parses a primary expression with the key path after it.
    mutating func operand() throws(PredicateFormatError) -> FormatSyntax {
        let start = token.range.lowerBound
        var operand = try primary()
        var steps: [FormatSyntax.Step] = []
        while try take(.dot) { steps.append(try step()) }
        if !steps.isEmpty {
            if case .path(let base, let first) = operand.kind {
                operand = try node(.path(base, first + steps), from: start)
            } else {
                operand = try node(.path(operand, steps), from: start)
            }
        }
        if token.kind == .symbol(.openBracket) { throw unexpected(expecting: "an operator") }
        return operand
    }

    private mutating func primary() throws(PredicateFormatError) -> FormatSyntax {
        let current = token
        let start = current.range.lowerBound
        switch current.kind {
        case .text(let text): return try constant(.text(text))
        case .number(let number): return try constant(PredicateArgument(number))
        case .keyword(let keyword): return try word(keyword)
        case .variable(let name):
            try advance()
            return try node(.variable(name), from: start)
        case .placeholder(let placeholder):
            try advance()
            let isPath = placeholder.kind == .keyPath
            let step = FormatSyntax.Step(kind: .argument(placeholder), range: current.range)
            return try node(isPath ? .path(nil, [step]) : .argument(placeholder), from: start)
        case .name(let name):
            try advance()
            if token.kind == .symbol(.openParenthesis) { return try call(name, from: start) }
            return try node(.path(nil, [.init(kind: .name(name), range: current.range)]), from: start)
        case .selector(let name):
            try advance()
            guard token.kind == .symbol(.openParenthesis) else {
                throw unexpected(expecting: "'(' after the name of a function")
            }
            return try call(name, from: start)
        case .collectionOperator:
            let step = try step()
            return try node(.path(nil, [step]), from: start)
        case .symbol(.openParenthesis):
            try advance()
            let inner = try expression()
            try expect(.closeParenthesis, "at the end of the parentheses")
            return inner
        case .symbol(.openBrace):
            try advance()
            let elements = try operands(until: .closeBrace, "at the end of the list")
            return try node(.list(elements), from: start)
        case .symbol, .end: throw unexpected(expecting: "a property, a value or a condition")
        }
    }

    private mutating func constant(_ value: PredicateArgument) throws(PredicateFormatError) -> FormatSyntax {
        let range = token.range
        try advance()
        return FormatSyntax(.constant(value), range)
    }

    private mutating func word(_ keyword: FormatKeyword) throws(PredicateFormatError) -> FormatSyntax {
        switch keyword {
        case .true, .yes, .truepredicate: return try constant(.boolean(true))
        case .false, .no, .falsepredicate: return try constant(.boolean(false))
        case .null, .nil: return try constant(.null)
        case .self:
            let start = token.range.lowerBound
            try advance()
            return try node(.path(nil, []), from: start)
        case .not: throw error("a negation inside an expression needs parentheses", at: token.range)
        default: throw unexpected(expecting: "a property, a value or a condition")
        }
    }

    /// Parses a name, a collection operator or `%K` in a key path. After a dot no word is reserved.
    private mutating func step() throws(PredicateFormatError) -> FormatSyntax.Step {
        let current = token
        let kind: FormatSyntax.Step.Kind
        switch current.kind {
        case .name(let name): kind = .name(name)
        case .keyword(let keyword) where keyword != .not: kind = .name(String(format[current.range]))
        case .collectionOperator(let name): kind = .collectionOperator(name)
        case .placeholder(let placeholder) where placeholder.kind == .keyPath: kind = .argument(placeholder)
        default: throw unexpected(expecting: "the name of a property")
        }
        try advance()
        return FormatSyntax.Step(kind: kind, range: current.range)
    }

    // MARK: Functions

    /// Parses the operands of a list or function after the opening token.
    private mutating func operands(
        until closing: FormatSymbol,
        _ place: String
    ) throws(PredicateFormatError) -> [FormatSyntax] {
        var operands: [FormatSyntax] = []
        if try take(closing) { return operands }
        repeat { operands.append(try expression()) } while try take(.comma)
        guard try take(closing) else { throw unexpected(expecting: "',' or '\(closing.rawValue)' \(place)") }
        return operands
    }

    private mutating func call(_ name: String, from start: String.Index) throws(PredicateFormatError) -> FormatSyntax {
        let nameRange = start..<end
        try expect(.openParenthesis, "after the name of a function")
        switch name.lowercased() {
        case "subquery": return try subquery(from: start)
        case "fetch": throw error("a predicate cannot contain a fetch", .unsupported, at: nameRange)
        default: break
        }
        let arguments = try operands(until: .closeParenthesis, "after the arguments of \(name)")
        switch (name.lowercased(), arguments.count) {
        case ("cast", 2): return try node(.cast(arguments[0], to: arguments[1]), from: start)
        case ("ternary", 3):
            return try node(.conditional(arguments[0], arguments[1], arguments[2]), from: start)
        case ("cast", _), ("ternary", _):
            let count = name.lowercased() == "cast" ? "a value and the name of a type" : "a condition and two values"
            throw error("\(name.uppercased()) takes \(count)", at: start..<end)
        default: return try node(.call(name, arguments), from: start)
        }
    }

    /// Parses SUBQUERY(collection, $variable, condition) after the opening parenthesis.
    private mutating func subquery(from start: String.Index) throws(PredicateFormatError) -> FormatSyntax {
        let collection = try expression(.sum)
        try expect(.comma, "after the collection of a SUBQUERY")
        guard case .variable(let variable) = token.kind else {
            throw unexpected(expecting: "the variable of the SUBQUERY, such as $x")
        }
        try advance()
        try expect(.comma, "after the variable of a SUBQUERY")
        let condition = try expression()
        try expect(.closeParenthesis, "at the end of the SUBQUERY")
        return try node(.subquery(collection, variable: variable, condition), from: start)
    }
}
