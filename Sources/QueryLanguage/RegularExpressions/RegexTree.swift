/// The syntax tree of a regular expression.
///
/// Swift's `Regex` cannot be interrupted, and the pattern that it prints differs in meaning from the expression in some
/// cases: groups are lost, and the `any` of a character class becomes a full stop. ``RegexTreeReader`` reads the tree
/// from the expression itself.
indirect enum RegexTree: Hashable {
    case empty
    /// A character, or a scalar, depending on the options.
    case literal(Character, RegexOptions)
    /// An atom that matches one character, or a character class, by its text in a pattern.
    case element(String, RegexOptions)
    /// A condition on a position, by its text in a pattern.
    case assertion(String, RegexOptions)
    case sequence([RegexTree])
    case choice([RegexTree])
    /// - maximum: nil for no limit.
    case repetition(RegexTree, minimum: Int, maximum: Int?, RepetitionKind)
    /// - number: From 1, in the order of the beginnings of captures.
    case capture(RegexTree, number: Int, name: String?)
    /// An atomic group.
    case atomic(RegexTree)
    case lookahead(RegexTree, isNegative: Bool)
    /// A backreference to a capture, by a number from 1 or a name.
    case backreference(String)

    /// A kind of repetition.
    enum RepetitionKind: Hashable {
        case eager, reluctant, possessive
    }

    /// The direct subtrees.
    var children: [RegexTree] {
        switch self {
        case .empty, .literal, .element, .assertion, .backreference: []
        case .sequence(let children), .choice(let children): children
        case .repetition(let child, _, _, _), .capture(let child, _, _), .atomic(let child), .lookahead(let child, _):
            [child]
        }
    }

    /// The same expression without nested sequences and empty parts.
    var normalized: RegexTree {
        switch self {
        case .empty, .literal, .element, .assertion, .backreference: return self
        case .sequence(let children):
            let parts = children.map(\.normalized).flatMap { child in
                if case .sequence(let parts) = child { parts } else { child == .empty ? [] : [child] }
            }
            return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
        case .choice(let children): return .choice(children.map(\.normalized))
        case .repetition(let child, let minimum, let maximum, let kind):
            return .repetition(child.normalized, minimum: minimum, maximum: maximum, kind)
        case .capture(let child, let number, let name): return .capture(child.normalized, number: number, name: name)
        case .atomic(let child): return .atomic(child.normalized)
        case .lookahead(let child, let isNegative): return .lookahead(child.normalized, isNegative: isNegative)
        }
    }

    /// Whether the order of alternatives is significant.
    var dependsOnOrder: Bool {
        switch self {
        case .atomic, .backreference, .repetition(_, _, _, .possessive): true
        // An empty iteration ends the repetition, also before the minimum.
        case .repetition(let child, let minimum, nil, _) where minimum > 1 && child.mayBeEmpty: true
        default: children.contains(where: \.dependsOnOrder)
        }
    }

    /// Whether the expression may match the empty text.
    private var mayBeEmpty: Bool {
        switch self {
        case .literal, .element: false
        case .empty, .assertion, .lookahead, .backreference: true
        case .sequence(let children): children.allSatisfy(\.mayBeEmpty)
        case .choice(let children): children.contains(where: \.mayBeEmpty)
        case .repetition(let child, let minimum, _, _): minimum == 0 || child.mayBeEmpty
        case .capture(let child, _, _), .atomic(let child): child.mayBeEmpty
        }
    }
}

/// The options of a part of a regular expression that differ from the defaults.
struct RegexOptions: Hashable {
    /// Options by their letters in a pattern.
    var values: [String: Bool] = [:]

    /// Whether scalars are matched instead of characters.
    var matchesScalars: Bool { values["u"] == true }
    /// Whether case is ignored.
    var ignoresCase: Bool { values["i"] == true }

    /// Returns the options with one option changed.
    func setting(_ letter: String, to isOn: Bool) -> RegexOptions {
        var options = self
        options.values[letter] = isOn
        return options
    }

    /// Returns a pattern with these options.
    func applied(to pattern: String) -> String {
        if values.isEmpty { return pattern }
        func letters(_ isOn: Bool) -> String { values.filter { $0.value == isOn }.keys.sorted().joined() }
        let removed = letters(false)
        return "(?\(letters(true))\(removed.isEmpty ? "" : "-\(removed)"):\(pattern))"
    }
}
