/// A regular expression in the form in which it is matched.
///
/// Swift's `Regex` cannot be stopped while it matches, and the pattern that it prints of itself has another meaning than
/// the expression in some cases: groups are lost, and the `any` of a character class becomes a full stop. This tree is read
/// from the expression itself, see ``RegexTreeReader``.
indirect enum RegexTree: Hashable {
    case empty
    /// A character, or a scalar where the options say so.
    case literal(Character, RegexOptions)
    /// An atom that matches one character, or a character class, as the text that stands for it in a pattern.
    case element(String, RegexOptions)
    /// A condition on a position, as the text that stands for it in a pattern.
    case assertion(String, RegexOptions)
    case sequence([RegexTree])
    case choice([RegexTree])
    /// - maximum: nil for any number.
    case repetition(RegexTree, minimum: Int, maximum: Int?, RepetitionKind)
    /// - number: From 1 on, in the order in which captures begin.
    case capture(RegexTree, number: Int, name: String?)
    /// A group that is not tried again in another way once it has matched.
    case atomic(RegexTree)
    case lookahead(RegexTree, isNegative: Bool)
    /// The text of a capture: a number from 1 on, or a name.
    case backreference(String)

    /// Which number of repetitions is tried first, and whether others are tried at all.
    enum RepetitionKind: Hashable {
        case eager, reluctant, possessive
    }

    /// The trees that this one is directly made of.
    var children: [RegexTree] {
        switch self {
        case .empty, .literal, .element, .assertion, .backreference: []
        case .sequence(let children), .choice(let children): children
        case .repetition(let child, _, _, _), .capture(let child, _, _), .atomic(let child), .lookahead(let child, _):
            [child]
        }
    }

    /// The same expression without sequences in sequences and empty parts.
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

    /// Whether the order in which ways to match are tried decides what matches.
    var dependsOnOrder: Bool {
        switch self {
        case .atomic, .backreference, .repetition(_, _, _, .possessive): true
        default: children.contains(where: \.dependsOnOrder)
        }
    }
}

/// The options of a part of a regular expression that differ from the defaults.
struct RegexOptions: Hashable {
    /// Options by the letters that stand for them in a pattern.
    var values: [String: Bool] = [:]

    /// Whether scalars are matched instead of characters.
    var matchesScalars: Bool { values["u"] == true }
    /// Whether upper and lower case are the same.
    var ignoresCase: Bool { values["i"] == true }

    /// The options with another one.
    func setting(_ letter: String, to isOn: Bool) -> RegexOptions {
        var options = self
        options.values[letter] = isOn
        return options
    }

    /// A pattern with these options.
    func applied(to pattern: String) -> String {
        if values.isEmpty { return pattern }
        func letters(_ isOn: Bool) -> String { values.filter { $0.value == isOn }.keys.sorted().joined() }
        let removed = letters(false)
        return "(?\(letters(true))\(removed.isEmpty ? "" : "-\(removed)"):\(pattern))"
    }
}
