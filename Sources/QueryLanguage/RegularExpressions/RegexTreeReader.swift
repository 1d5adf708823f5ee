/// Translates a Swift `Regex` into a ``RegexTree``.
///
/// Swift has no public interface to the parts of a `Regex`. They are read by reflection, by the case names of the
/// library `_StringProcessing` since Swift 5.7. An expression with an unknown part throws.
struct RegexTreeReader {
    /// An unknown part of an expression.
    struct UnknownPart: Error {}

    private var options = RegexOptions()
    /// The default kind of repetitions.
    private var hasOtherRepetition = false
    private var hasOrderedRepetition = false
    private var captureCount = 0

    /// - Throws: ``UnknownPart``.
    static func tree(of regex: Regex<AnyRegexOutput>) throws(UnknownPart) -> RegexTree {
        guard let program = Mirror(reflecting: regex).children.first?.value,
            let tree = Mirror(reflecting: program).descendant("tree", "root")
        else { throw UnknownPart() }
        var reader = RegexTreeReader()
        let result = try reader.node(tree).normalized
        // The order of alternatives is significant there, and unknown.
        if reader.hasOrderedRepetition, result.dependsOnOrder { throw UnknownPart() }
        return result
    }

    // MARK: Nodes

    private mutating func node(_ value: Any) throws(UnknownPart) -> RegexTree {
        let node = ReflectedCase(value)
        switch node.name {
        case "empty", "trivia": return .empty
        case "convertedRegexLiteral": return try self.node(node.part(0))
        case "ignoreCapturesInTypedOutput", "limitCaptureNesting": return try self.node(node.value)
        case "concatenation": return try sequence(node.elements)
        case "orderedChoice":
            var choices: [RegexTree] = []
            for element in node.elements { choices.append(try self.node(element)) }
            return .choice(choices)
        case "capture":
            let outer = options
            defer { options = outer }
            captureCount += 1
            let number = captureCount
            return .capture(try self.node(node.part(2)), number: number, name: try node.part(0) as? String)
        case "nonCapturingGroup": return try group(ReflectedCase(node.part(0)).inner, node.part(1))
        case "quantification": return try repetition(node)
        case "customCharacterClass": return try characterClass(node.value)
        case "atom", "quotedLiteral": return try sequence([value])
        default: throw UnknownPart()
        }
    }

    /// Returns a sequence, with adjacent literals as one text: their scalars can be parts of one character.
    private mutating func sequence(_ values: [Any]) throws(UnknownPart) -> RegexTree {
        var children: [RegexTree] = []
        var text = ""
        func flush(_ options: RegexOptions, _ children: inout [RegexTree], _ text: inout String) {
            children +=
                options.matchesScalars
                ? text.unicodeScalars.map { .literal(Character($0), options) }
                : text.map { .literal($0, options) }
            text = ""
        }
        for value in values {
            var node = ReflectedCase(value)
            while node.name == "convertedRegexLiteral" { node = ReflectedCase(try node.part(0)) }
            if node.name == "trivia" { continue }
            if let literal = literal(of: node) {
                text += literal
                continue
            }
            flush(options, &children, &text)
            if node.name == "atom" {
                if let atom = try atom(ReflectedCase(node.value)) { children.append(atom) }
            } else {
                children.append(try self.node(node.whole))
            }
        }
        flush(options, &children, &text)
        return children.count == 1 ? children[0] : children.isEmpty ? .empty : .sequence(children)
    }

    private func literal(of node: ReflectedCase) -> String? {
        if node.name == "quotedLiteral" { return node.value as? String }
        guard node.name == "atom" else { return nil }
        switch ReflectedCase(node.value).value {
        case let character as Character: return String(character)
        case let scalar as Unicode.Scalar: return String(Character(scalar))
        default: return nil
        }
    }

    private mutating func group(_ kind: ReflectedCase, _ child: Any) throws(UnknownPart) -> RegexTree {
        let outer = options
        defer { options = outer }
        if kind.name == "changeMatchingOptions" { try change(kind.value) }
        let child = try node(child)
        switch kind.name {
        case "nonCapture", "changeMatchingOptions": return child
        case "atomicNonCapturing": return .atomic(child)
        case "lookahead": return .lookahead(child, isNegative: false)
        case "negativeLookahead": return .lookahead(child, isNegative: true)
        default: throw UnknownPart()
        }
    }

    private mutating func repetition(_ node: ReflectedCase) throws(UnknownPart) -> RegexTree {
        let amount = ReflectedCase(try node.part(0)).inner
        let kind = ReflectedCase(try node.part(1))
        let child = try self.node(node.part(2))
        let (minimum, maximum): (Int?, Int?) =
            switch amount.name {
            case "zeroOrMore": (0, nil)
            case "oneOrMore": (1, nil)
            case "zeroOrOne": (0, 1)
            case "exactly": (Self.number(amount.value), Self.number(amount.value))
            case "nOrMore": (Self.number(amount.value), nil)
            case "upToN": (0, Self.number(amount.value))
            case "range": (Self.number(try amount.part(0)), Self.number(try amount.part(1)))
            default: (nil, nil)
            }
        guard let minimum, minimum <= maximum ?? minimum else { throw UnknownPart() }
        if hasOtherRepetition { hasOrderedRepetition = true }
        let kindName = kind.name == "default" ? "eager" : ReflectedCase(kind.value).inner.name
        let repetitionKind: RegexTree.RepetitionKind =
            switch kindName {
            case "eager": .eager
            case "reluctant": .reluctant
            case "possessive": .possessive
            default: throw UnknownPart()
            }
        return .repetition(child, minimum: minimum, maximum: maximum, repetitionKind)
    }

    private static func number(_ value: Any) -> Int? { Mirror(reflecting: value).descendant("value", "some") as? Int }

    // MARK: Options

    private static let letters = [
        "caseInsensitive": "i", "multiline": "m", "singleLine": "s", "unicodeWordBoundaries": "w",
        "asciiOnlyDigit": "D", "asciiOnlyPOSIXProps": "P", "asciiOnlySpace": "S", "asciiOnlyWord": "W",
    ]
    /// Options with effect only on parsing.
    private static let parserOptions: Set = [
        "allowDuplicateGroupNames", "namedCapturesOnly", "extended", "extraExtended",
    ]

    private mutating func change(_ sequence: Any) throws(UnknownPart) {
        let sequence = Mirror(reflecting: sequence).descendant("ast") ?? sequence
        let mirror = Mirror(reflecting: sequence)
        guard let adding = mirror.descendant("adding") as? [Any],
            let removing = mirror.descendant("removing") as? [Any],
            let caret = mirror.descendant("caretLoc"), Mirror(reflecting: caret).children.isEmpty
        else { throw UnknownPart() }
        for option in adding { try set(option, to: true) }
        for option in removing { try set(option, to: false) }
    }

    private mutating func set(_ option: Any, to isOn: Bool) throws(UnknownPart) {
        guard let kind = Mirror(reflecting: option).descendant("kind") else { throw UnknownPart() }
        let name = ReflectedCase(kind).name
        if let letter = Self.letters[name] {
            options.values[letter] = isOn
        } else if name == "unicodeScalarSemantics" || name == "graphemeClusterSemantics" {
            options.values["u"] = (name == "unicodeScalarSemantics") == isOn ? true : nil
        } else if name == "reluctantByDefault" {
            hasOtherRepetition = true
        } else if !Self.parserOptions.contains(name) {
            throw UnknownPart()
        }
    }

    // MARK: Atoms

    /// - Returns: nil for an atom that changes options.
    private mutating func atom(_ atom: ReflectedCase) throws(UnknownPart) -> RegexTree? {
        switch atom.name {
        case "changeMatchingOptions":
            try change(atom.value)
            return nil
        case "any": return .element(".", options.setting("s", to: true))
        case "anyNonNewline": return .element(".", options.setting("s", to: false))
        case "dot": return .element(".", options)
        case "characterClass": return .element(try Self.className(of: atom), options)
        case "assertion": return try assertion(ReflectedCase(atom.value).name)
        case "backreference":
            guard let kind = Mirror(reflecting: atom.value).descendant("ast", "kind") else { throw UnknownPart() }
            let reference = ReflectedCase(kind)
            if reference.name == "absolute", let number = Self.number(reference.value) {
                return .backreference(String(number))
            }
            guard reference.name == "named", let name = reference.value as? String else { throw UnknownPart() }
            return .backreference(name)
        case "unconverted": return .element(try Self.property(of: atom), options)
        default: throw UnknownPart()
        }
    }

    private static let assertions = [
        "startOfSubject": #"\A"#, "endOfSubject": #"\z"#, "endOfSubjectBeforeNewline": #"\Z"#, "caretAnchor": "^",
        "dollarAnchor": "$", "wordBoundary": #"\b"#, "notWordBoundary": #"\B"#, "textSegment": #"\y"#,
        "notTextSegment": #"\Y"#,
    ]

    private func assertion(_ name: String) throws(UnknownPart) -> RegexTree {
        switch name {
        case "startOfLine": return .assertion("^", options.setting("m", to: true))
        case "endOfLine": return .assertion("$", options.setting("m", to: true))
        default:
            guard let text = Self.assertions[name] else { throw UnknownPart() }
            return .assertion(text, options)
        }
    }

    private static let classNames = [
        "digit": #"\d"#, "notDigit": #"\D"#, "horizontalWhitespace": #"\h"#, "notHorizontalWhitespace": #"\H"#,
        "newlineSequence": #"\R"#, "notNewline": #"\N"#, "whitespace": #"\s"#, "notWhitespace": #"\S"#,
        "verticalWhitespace": #"\v"#, "notVerticalWhitespace": #"\V"#, "word": #"\w"#, "notWord": #"\W"#,
        "anyGrapheme": #"\X"#,
    ]

    private static func className(of atom: ReflectedCase) throws(UnknownPart) -> String {
        guard let name = classNames[ReflectedCase(atom.value).name] else { throw UnknownPart() }
        return name
    }

    /// Returns a Unicode property, or a named character.
    private static func property(of atom: ReflectedCase) throws(UnknownPart) -> String {
        guard let kind = Mirror(reflecting: atom.value).descendant("ast", "kind") else { throw UnknownPart() }
        let value = ReflectedCase(kind)
        if value.name == "namedCharacter", let name = value.value as? String { return "\\N{\(name)}" }
        let mirror = Mirror(reflecting: value.value)
        guard value.name == "property", let kind = mirror.descendant("kind"),
            let isInverted = mirror.descendant("isInverted") as? Bool
        else { throw UnknownPart() }
        let property = ReflectedCase(kind)
        let letter = isInverted ? "P" : "p"
        switch property.name {
        case "any", "assigned", "ascii": return "\\\(letter){\(property.name)}"
        case "generalCategory": return "\\\(letter){gc=\(try rawValue(property.value))}"
        case "script": return "\\\(letter){script=\(try rawValue(property.value))}"
        case "scriptExtension": return "\\\(letter){scx=\(try rawValue(property.value))}"
        case "posix": return "\\\(letter){\(try rawValue(property.value))}"
        case "binary":
            let isTrue = try property.part(1) as? Bool ?? true
            return "\\\(letter){\(try rawValue(property.part(0)))\(isTrue ? "" : "=false")}"
        default: throw UnknownPart()
        }
    }

    private static func rawValue(_ value: Any) throws(UnknownPart) -> String {
        guard let value = value as? any RawRepresentable, let text = value.rawValue as? String else {
            throw UnknownPart()
        }
        return text
    }

    // MARK: Character classes

    private mutating func characterClass(_ value: Any) throws(UnknownPart) -> RegexTree {
        let mirror = Mirror(reflecting: value)
        // A class of all characters, or of all characters but newlines, is written like the same atom outside of a
        // class.
        if mirror.descendant("isInverted") as? Bool == false, let members = mirror.descendant("members") as? [Any],
            members.count == 1
        {
            let member = ReflectedCase(members[0])
            if member.name == "custom" { return try characterClass(member.value) }
            if member.name == "atom", ["any", "anyNonNewline"].contains(ReflectedCase(member.value).name) {
                return try atom(ReflectedCase(member.value)) ?? .empty
            }
        }
        return .element(try Self.classText(value), options)
    }

    private static func classText(_ value: Any) throws(UnknownPart) -> String {
        let mirror = Mirror(reflecting: value)
        guard let members = mirror.descendant("members") as? [Any],
            let isInverted = mirror.descendant("isInverted") as? Bool
        else { throw UnknownPart() }
        // Operands of a set operation are nested classes of any depth.
        if !isInverted, members.count == 1, ReflectedCase(members[0]).name == "custom" {
            return try classText(ReflectedCase(members[0]).value)
        }
        var text = ""
        for member in members { text += try memberText(ReflectedCase(member)) }
        return isInverted ? "[^\(text)]" : "[\(text)]"
    }

    private static func memberText(_ member: ReflectedCase) throws(UnknownPart) -> String {
        switch member.name {
        case "trivia": return ""
        case "custom": return try classText(member.value)
        case "atom": return try atomText(ReflectedCase(member.value))
        case "range":
            let (low, high) = (ReflectedCase(try member.part(0)), ReflectedCase(try member.part(1)))
            return "\(try atomText(low))-\(try atomText(high))"
        case "quotedLiteral": return (member.value as? String ?? "").map(RegexTree.escaped).joined()
        case "intersection": return "\(try classText(member.part(0)))&&\(try classText(member.part(1)))"
        case "subtraction": return "\(try classText(member.part(0)))--\(try classText(member.part(1)))"
        case "symmetricDifference": return "\(try classText(member.part(0)))~~\(try classText(member.part(1)))"
        default: throw UnknownPart()
        }
    }

    private static func atomText(_ atom: ReflectedCase) throws(UnknownPart) -> String {
        switch atom.name {
        case "char":
            guard let character = atom.value as? Character else { throw UnknownPart() }
            return RegexTree.escaped(character)
        case "scalar":
            guard let scalar = atom.value as? Unicode.Scalar else { throw UnknownPart() }
            return RegexTree.escaped(scalar)
        // A full stop in a class is a literal.
        case "any": return #"\s\S"#
        case "anyNonNewline": return #"\V"#
        case "characterClass": return try className(of: atom)
        case "unconverted": return try property(of: atom)
        default: throw UnknownPart()
        }
    }
}

/// A case of an enumeration, read by reflection.
private struct ReflectedCase {
    let whole: Any
    let name: String
    /// The associated value; a tuple for several values.
    let value: Any

    init(_ value: Any) {
        whole = value
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .enum, let child = mirror.children.first {
            name = child.label ?? ""
            self.value = child.value
        } else {
            name = String(describing: value)
            self.value = value
        }
    }

    /// Returns the case in a structure that wraps an enumeration.
    var inner: ReflectedCase { Mirror(reflecting: whole).descendant("ast").map(ReflectedCase.init) ?? self }

    var elements: [Any] { value as? [Any] ?? [] }

    /// Returns one of several associated values.
    func part(_ index: Int) throws(RegexTreeReader.UnknownPart) -> Any {
        let children = Mirror(reflecting: value).children
        guard index < children.count else { throw RegexTreeReader.UnknownPart() }
        return children[children.index(children.startIndex, offsetBy: index)].value
    }
}
