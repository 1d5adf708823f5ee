extension RegexTree {
    /// A pattern that Swift parses as this expression.
    var pattern: String {
        switch self {
        case .empty: ""
        case .literal(let character, let options): options.applied(to: Self.escaped(character))
        case .element(let text, let options), .assertion(let text, let options): options.applied(to: text)
        case .sequence(let children):
            children.map { if case .choice = $0 { $0.group } else { $0.pattern } }.joined()
        case .choice(let children): children.map(\.pattern).joined(separator: "|")
        case .repetition(let child, let minimum, let maximum, let kind):
            "\(child.repeatable){\(minimum),\(maximum.map(String.init) ?? "")}\(kind.suffix)"
        case .capture(let child, _, nil): "(\(child.pattern))"
        case .capture(let child, _, let name?): "(?<\(name)>\(child.pattern))"
        case .atomic(let child): "(?>\(child.pattern))"
        case .lookahead(let child, let isNegative): "(?\(isNegative ? "!" : "=")\(child.pattern))"
        case .backreference(let reference): Int(reference) == nil ? "\\k<\(reference)>" : "\\g{\(reference)}"
        }
    }

    private var group: String { "(?:\(pattern))" }

    private var repeatable: String {
        switch self {
        case .literal, .element, .capture, .atomic: pattern
        default: group
        }
    }

    /// Returns the text of a character in a pattern.
    static func escaped(_ character: Character) -> String {
        if #"\[](){}|+*?^$.-&~#/"#.contains(character) { return "\\\(character)" }
        let scalars = character.unicodeScalars
        guard let scalar = scalars.first, scalars.count == 1 else { return String(character) }
        return scalar.properties.isAlphabetic || (0x20..<0x7F).contains(scalar.value)
            ? String(character) : escaped(scalar)
    }

    /// Returns the text of a scalar in a pattern.
    static func escaped(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }
}

extension RegexTree.RepetitionKind {
    fileprivate var suffix: String {
        switch self {
        case .eager: ""
        case .reluctant: "?"
        case .possessive: "+"
        }
    }
}
