/// A regular expression compiled to instructions for ``RegexSearch``.
///
/// `@unchecked Sendable`: only the initializer writes the properties. The values of type `Regex` in `elements` and
/// `assertions` contain no closures of the program; Swift compiles each of them once, by an atomic exchange, and only
/// reads it afterwards.
final class RegexProgram: @unchecked Sendable {
    enum Instruction {
        /// Consumes one character that an element matches.
        case element(Int)
        /// Continues if a condition on the position holds.
        case assertion(Int)
        /// Continues in two ways, at two instructions; the first way is tried first. The ways that the splits of a run
        /// leave for later are dropped together.
        case split(Int, Int, run: Int?)
        case jump(Int)
        /// Stores the position in a register.
        case save(Int)
        /// Continues at another instruction if the position is equal to a register: an empty iteration ends the
        /// repetition.
        case progress(Int, end: Int)
        /// Consumes the text between the positions in a register and the next one.
        case backreference(Int)
        /// Continues at another instruction if the instructions that follow match here or, in a negative lookahead, do
        /// not match.
        case lookahead(isNegative: Bool, end: Int)
        /// Continues at another instruction, after the first match of the following instructions.
        case atomic(end: Int)
        /// Adds a way without a match to the ways that are left for later.
        case addDeadEnd
        /// Drops the last of the ways that are left for later.
        case dropLastWay
        case fail
        case accept
    }

    /// An element that matches one character.
    struct Element {
        fileprivate(set) var literal: Character?
        /// Whether only the scalars of the literal match.
        fileprivate var isExact = false
        /// Whether only ASCII characters match.
        fileprivate var isASCII = false
        fileprivate(set) var ascii = ASCIISet()
        fileprivate let regex: Regex<AnyRegexOutput>?

        /// Whether a character beyond ASCII matches.
        func matches(_ character: Character) -> Bool {
            if let literal {
                // Only the literal's own scalar matches an ASCII literal, or any literal among scalars. Other literals
                // also match canonically equivalent characters, such as the Kelvin sign for K.
                return isExact ? literal.unicodeScalars.elementsEqual(character.unicodeScalars) : literal == character
            }
            if isASCII, !character.isASCII { return false }
            return (try? regex?.wholeMatch(in: String(character))) != nil
        }
    }

    /// A condition on a position.
    enum Assertion {
        case start, end
        /// Any other condition, by an expression that matches the empty text at the positions at which it holds.
        case positions(of: Regex<AnyRegexOutput>)
    }

    private(set) var instructions: [Instruction] = []
    private(set) var elements: [Element] = []
    private(set) var assertions: [Assertion] = []
    private(set) var registerCount = 0
    /// Whether scalars are matched instead of characters.
    let matchesScalars: Bool
    /// Whether matching needs backtracking.
    let dependsOnOrder: Bool
    /// The instruction at which no way continues.
    var deadEnd: Int { instructions.count - 1 }
    /// The ASCII characters that a match can begin with; nil if a match can begin without a character.
    private(set) var firstCharacters: ASCIISet?

    private var elementNumbers: [[UInt8]: Int] = [:]
    private var assertionNumbers: [RegexTree: Int] = [:]
    /// The registers of captures by number and name.
    private var captureRegisters: [String: Int] = [:]

    /// More instructions than any expression that is written by hand has.
    private static let largestCount = 20_000

    /// - Throws: ``QueryError/malformedPattern`` for characters and scalars in one expression, and for references to
    ///   missing captures; ``QueryError/expensivePattern`` for too many repetitions.
    init(_ tree: RegexTree) throws(QueryError) {
        let levels = tree.levels
        guard levels.count <= 1 else { throw .malformedPattern }
        matchesScalars = levels.first ?? false
        dependsOnOrder = tree.dependsOnOrder
        try add(tree)
        try append(.accept)
        try append(.fail)
        firstCharacters = findFirstCharacters()
    }

    private func findFirstCharacters() -> ASCIISet? {
        var set = ASCIISet()
        var open = [0]
        var seen: Set<Int> = []
        while let position = open.popLast() {
            guard seen.insert(position).inserted else { continue }
            switch instructions[position] {
            case .element(let number): set.formUnion(elements[number].ascii)
            case .split(let one, let other, _): open += [one, other]
            case .jump(let target): open.append(target)
            default: return nil
            }
        }
        return set
    }

    // MARK: Instructions

    private func append(_ instruction: Instruction) throws(QueryError) {
        guard instructions.count < Self.largestCount else { throw .expensivePattern }
        instructions.append(instruction)
    }

    private func newRegister(count: Int = 1) -> Int {
        defer { registerCount += count }
        return registerCount
    }

    private func add(_ tree: RegexTree) throws(QueryError) {
        switch tree {
        case .empty: break
        case .literal, .element: try append(.element(try number(ofElement: tree)))
        case .assertion: try append(.assertion(try number(ofAssertion: tree)))
        case .sequence(let children): for child in children { try add(child) }
        case .choice(let children): try add(choices: children[...])
        case .repetition(let child, let minimum, let maximum, .possessive) where child.isMatchedByTable:
            try add(.atomic(.repetition(child, minimum: minimum, maximum: maximum, .eager)))
        case .repetition(let child, let minimum, let maximum, let kind):
            try addRepetition(of: child, minimum, maximum, kind)
        case .capture(let child, let number, let name): try addCapture(of: child, number, name)
        case .atomic(let child): try addNested(child) { .atomic(end: $0) }
        case .lookahead(let child, let isNegative):
            try addNested(child) { .lookahead(isNegative: isNegative, end: $0) }
        case .backreference(let reference):
            guard let register = captureRegisters[reference] else { throw .malformedPattern }
            try append(.backreference(register))
        }
    }

    private func add(choices: ArraySlice<RegexTree>) throws(QueryError) {
        guard let first = choices.first else { return }
        guard choices.count > 1 else { return try add(first) }
        let split = instructions.count
        try append(.fail)
        try add(first)
        let jump = instructions.count
        try append(.jump(0))
        instructions[split] = .split(split + 1, instructions.count, run: nil)
        try add(choices: choices.dropFirst())
        instructions[jump] = .jump(instructions.count)
    }

    /// Adds a repetition as Swift's engine performs it.
    ///
    /// - An empty iteration of a repetition without a maximum ends it, also before the minimum.
    /// - A possessive repetition of a group drops only the last way that its previous iteration has left for later. All
    ///   ways of a repetition by a table count as one way.
    private func addRepetition(
        of child: RegexTree,
        _ minimum: Int,
        _ maximum: Int?,
        _ kind: RegexTree.RepetitionKind
    ) throws(QueryError) {
        // A child without instructions needs no repetitions.
        guard child != .empty, maximum != 0 else { return }
        let register = dependsOnOrder && maximum == nil ? newRegister() : nil
        let usesTable = child.isMatchedByTable && kind != .reluctant
        var (splits, checks): ([Int], [Int]) = ([], [])
        if kind == .possessive { try append(.addDeadEnd) }
        func addIteration() throws(QueryError) {
            if usesTable { return try append(.element(try number(ofElement: child, isRepeated: true))) }
            guard let register else { return try add(child) }
            try append(.save(register))
            try add(child)
            checks.append(instructions.count)
            try append(.fail)
        }
        for _ in 0..<minimum { try addIteration() }
        for _ in minimum..<(maximum ?? minimum + 1) {
            let start = instructions.count
            if kind == .possessive { try append(.dropLastWay) }
            splits.append(instructions.count)
            try append(.fail)
            try addIteration()
            if maximum == nil { try append(.jump(start)) }
        }
        let end = instructions.count
        for position in splits {
            let (first, second) = kind == .reluctant ? (end, position + 1) : (position + 1, end)
            instructions[position] = .split(first, second, run: usesTable ? end : nil)
        }
        for position in checks {
            if let register { instructions[position] = .progress(register, end: end) }
        }
    }

    private func addCapture(of child: RegexTree, _ number: Int, _ name: String?) throws(QueryError) {
        // Captures without references have no effect.
        guard dependsOnOrder else { return try add(child) }
        // A capture in a repetition is compiled several times.
        let register = captureRegisters[String(number)] ?? newRegister(count: 2)
        try append(.save(register))
        try add(child)
        try append(.save(register + 1))
        captureRegisters[String(number)] = register
        if let name { captureRegisters[name] = register }
    }

    private func addNested(_ child: RegexTree, _ instruction: (Int) -> Instruction) throws(QueryError) {
        let start = instructions.count
        try append(.accept)
        try add(child)
        try append(.accept)
        instructions[start] = instruction(instructions.count)
    }

    // MARK: Elements and conditions

    private static func regex(_ pattern: String) throws(QueryError) -> Regex<AnyRegexOutput> {
        do {
            return try Regex(pattern)
        } catch {
            throw .malformedPattern
        }
    }

    /// - Parameter isRepeated: Whether a repetition matches the element by a table of ASCII characters.
    private func number(ofElement tree: RegexTree, isRepeated: Bool = false) throws(QueryError) -> Int {
        // Canonically equivalent characters are different expressions.
        var key = Array(tree.pattern.utf8)
        var element: Element
        if case .literal(let character, let options) = tree, !options.ignoresCase {
            if let number = elementNumbers[key] { return number }
            element = Element(literal: character, isExact: matchesScalars || character.isASCII, regex: nil)
        } else {
            // A single `k` without regard to case matches the Kelvin sign, a repeated `k` does not.
            let isASCII = if case .literal = tree { isRepeated } else { false }
            if isASCII { key.append(0) }
            if let number = elementNumbers[key] { return number }
            element = Element(isASCII: isASCII, regex: try Self.regex(tree.pattern))
        }
        for byte in 0..<128 as Range<UInt8> where element.matches(Character(Unicode.Scalar(byte))) {
            element.ascii.insert(byte)
        }
        elements.append(element)
        elementNumbers[key] = elements.count - 1
        return elements.count - 1
    }

    private func number(ofAssertion tree: RegexTree) throws(QueryError) -> Int {
        if let number = assertionNumbers[tree] { return number }
        switch tree {
        case .assertion(#"\A"#, _): assertions.append(.start)
        case .assertion(#"\z"#, _): assertions.append(.end)
        case .assertion("^", let options) where options.values["m"] != true: assertions.append(.start)
        default: assertions.append(.positions(of: try Self.regex(tree.pattern)))
        }
        assertionNumbers[tree] = assertions.count - 1
        return assertions.count - 1
    }
}

/// A set of ASCII characters.
struct ASCIISet {
    private var low: UInt64 = 0
    private var high: UInt64 = 0

    func contains(_ byte: UInt8) -> Bool { (byte < 64 ? low >> UInt64(byte) : high >> UInt64(byte & 63)) & 1 != 0 }

    mutating func insert(_ byte: UInt8) {
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
    }

    mutating func formUnion(_ other: ASCIISet) {
        low |= other.low
        high |= other.high
    }
}

extension RegexTree {
    /// Whether Swift's engine repeats the expression by a table of ASCII characters and without ways for its
    /// iterations, unless the repetition is reluctant: an ASCII character, a class with a name, or a class of ASCII
    /// characters.
    fileprivate var isMatchedByTable: Bool {
        switch self {
        case .literal(let character, _): return character.isASCII
        case .element(".", _): return true
        case .element(let text, _) where text.first == "\\": return text.count == 2
        case .element(let text, _):
            var isEscaped = false
            return text.dropFirst().allSatisfy { character in
                defer { isEscaped = character == "\\" && !isEscaped }
                return character.isASCII && (isEscaped ? !character.isLetter : character != "[")
            }
        default: return false
        }
    }

    /// The semantics of all parts of the expression.
    fileprivate var levels: Set<Bool> {
        switch self {
        case .literal(_, let options), .element(_, let options), .assertion(_, let options): [options.matchesScalars]
        default: children.reduce(into: []) { $0.formUnion($1.levels) }
        }
    }
}
