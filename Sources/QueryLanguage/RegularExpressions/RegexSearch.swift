/// The search of a text for a regular expression.
///
/// An expression in which the order of alternatives is not significant is simulated with all alternatives at once, in a
/// number of steps that is linear in the length of the text. Other expressions are matched by backtracking, up to a
/// number of steps.
struct RegexSearch<Text: RegexText> {
    private let program: RegexProgram
    private let text: Text
    private var stepsLeft: Int
    /// The positions at which conditions hold, by the numbers of the conditions evaluated so far.
    private var positions: [Int: Set<Int>] = [:]

    /// This number of steps takes less than a second in an optimized build.
    static var largestStepCount: Int { 10_000_000 }

    init(_ program: RegexProgram, in text: Text, steps: Int = largestStepCount) {
        self.program = program
        self.text = text
        stepsLeft = steps
    }

    /// Returns whether a part of the text matches.
    ///
    /// - Throws: ``QueryError/expensivePattern``.
    ///
    /// Complexity: O(length of the text · length of the expression), unless the expression contains atomic groups,
    /// references or lookaheads.
    mutating func isMatched() throws(QueryError) -> Bool {
        if !program.dependsOnOrder { return try followAll(from: 0, at: 0, isAnchored: false) }
        for position in 0...text.count {
            let registers = [Int](repeating: -1, count: program.registerCount)
            if try tryOneByOne(State(instruction: 0, position: position, registers: registers)) != nil { return true }
        }
        return false
    }

    private mutating func takeStep() throws(QueryError) {
        stepsLeft -= 1
        if stepsLeft < 0 { throw .expensivePattern }
    }

    private mutating func holds(_ number: Int, at position: Int) -> Bool {
        switch program.assertions[number] {
        case .start: return position == 0
        case .end: return position == text.count
        case .positions(let regex):
            if let known = positions[number] { return known.contains(position) }
            let found = text.positions(of: regex, inScalars: program.matchesScalars)
            positions[number] = found
            return found.contains(position)
        }
    }

    // MARK: Simulation

    /// Returns whether a match starts at a position or later.
    private mutating func followAll(from start: Int, at first: Int, isAnchored: Bool) throws(QueryError) -> Bool {
        // The position at which an instruction was last reached.
        var reached = [Int](repeating: -1, count: program.instructions.count)
        var waiting: [Int] = []
        var open: [Int] = []
        var position = first
        while position <= text.count {
            defer { position += 1 }
            open.removeAll(keepingCapacity: true)
            for instruction in waiting {
                guard case .element(let element) = program.instructions[instruction],
                    text.matches(program.elements[element], at: position - 1)
                else { continue }
                open.append(instruction + 1)
            }
            waiting.removeAll(keepingCapacity: true)
            if !isAnchored, open.isEmpty, let characters = program.firstCharacters {
                position = text.position(ofOneOf: characters, from: position)
            }
            if !isAnchored || position == first { open.append(start) }
            if open.isEmpty { return false }
            while let instruction = open.popLast() {
                if reached[instruction] == position { continue }
                reached[instruction] = position
                if isAnchored { try takeStep() }
                switch program.instructions[instruction] {
                case .element: if position < text.count { waiting.append(instruction) }
                case .assertion(let number): if holds(number, at: position) { open.append(instruction + 1) }
                case .split(let one, let other, _): open += [other, one]
                case .jump(let target): open.append(target)
                case .lookahead(let isNegative, let end):
                    if try followAll(from: instruction + 1, at: position, isAnchored: true) != isNegative {
                        open.append(end)
                    }
                case .accept: return true
                case .fail: break
                case .save, .progress, .backreference, .atomic, .addDeadEnd, .dropLastWay:
                    preconditionFailure("the order of ways counts")
                }
            }
        }
        return false
    }

    // MARK: Backtracking

    private struct State {
        var instruction: Int
        var position: Int
        var registers: [Int]
        /// The run of the split that has left the state; nil if it belongs to no run.
        var run: Int?
    }

    /// Returns the end of the first match from a state; nil if there is no match.
    private mutating func tryOneByOne(_ start: State) throws(QueryError) -> State? {
        var states = [start]
        while var state = states.popLast() {
            var isAlive = true
            while isAlive {
                try takeStep()
                switch program.instructions[state.instruction] {
                case .accept: return state
                case .element(let element):
                    isAlive =
                        state.position < text.count && text.matches(program.elements[element], at: state.position)
                    state.position += 1
                    state.instruction += 1
                case .assertion(let number):
                    isAlive = holds(number, at: state.position)
                    state.instruction += 1
                case .split(let one, let other, let run):
                    var later = state
                    later.instruction = other
                    later.run = run
                    states.append(later)
                    state.instruction = one
                case .jump(let target): state.instruction = target
                case .save(let register):
                    state.registers[register] = state.position
                    state.instruction += 1
                case .progress(let register, let end):
                    state.instruction = state.registers[register] == state.position ? end : state.instruction + 1
                case .addDeadEnd:
                    var deadEnd = state
                    deadEnd.instruction = program.deadEnd
                    deadEnd.run = nil
                    states.append(deadEnd)
                    state.instruction += 1
                case .dropLastWay:
                    let dropped = states.popLast()
                    while let run = dropped?.run, states.last?.run == run { states.removeLast() }
                    state.instruction += 1
                case .fail: isAlive = false
                case .backreference(let register):
                    isAlive = consume(register, &state)
                    state.instruction += 1
                case .lookahead(let isNegative, let end):
                    var inner = state
                    inner.instruction += 1
                    let match = try tryOneByOne(inner)
                    isAlive = (match != nil) != isNegative
                    if let match, !isNegative { state.registers = match.registers }
                    state.instruction = end
                case .atomic(let end):
                    var inner = state
                    inner.instruction += 1
                    if let match = try tryOneByOne(inner) { state = match } else { isAlive = false }
                    state.instruction = end
                }
            }
        }
        return nil
    }

    /// Consumes the text of a capture.
    private func consume(_ register: Int, _ state: inout State) -> Bool {
        let (start, end) = (state.registers[register], state.registers[register + 1])
        guard start >= 0, end >= start, state.position + end - start <= text.count else { return false }
        for offset in 0..<(end - start) where !text.isSame(start + offset, state.position + offset) { return false }
        state.position += end - start
        return true
    }
}

/// A text as the list of the elements that a regular expression matches: characters or scalars.
protocol RegexText {
    var count: Int { get }
    /// Returns whether an element of an expression matches at a position.
    func matches(_ element: RegexProgram.Element, at position: Int) -> Bool
    /// Returns the first position at or after `position` with one of the ASCII characters or a character beyond ASCII.
    func position(ofOneOf characters: ASCIISet, from position: Int) -> Int
    /// Returns whether the elements at two positions are equal.
    func isSame(_ position: Int, _ other: Int) -> Bool
    /// Returns the positions at which a condition holds.
    func positions(of assertion: Regex<AnyRegexOutput>, inScalars: Bool) -> Set<Int>
}

/// A text of ASCII characters without carriage returns, which are one character with a following newline.
struct ASCIIText: RegexText {
    let bytes: UnsafeBufferPointer<UInt8>

    var count: Int { bytes.count }

    func matches(_ element: RegexProgram.Element, at position: Int) -> Bool { element.ascii.contains(bytes[position]) }

    func position(ofOneOf characters: ASCIISet, from position: Int) -> Int {
        bytes[position...].firstIndex(where: characters.contains) ?? bytes.count
    }

    func isSame(_ position: Int, _ other: Int) -> Bool { bytes[position] == bytes[other] }

    func positions(of assertion: Regex<AnyRegexOutput>, inScalars: Bool) -> Set<Int> {
        let text = String(decoding: bytes, as: UTF8.self)
        return Set(
            text.matches(of: assertion).map { text.utf8.distance(from: text.startIndex, to: $0.range.lowerBound) }
        )
    }
}

/// A text of arbitrary characters, or of scalars.
struct CharacterText: RegexText {
    private let text: String
    private let characters: [Character]

    init(_ text: String, inScalars: Bool) {
        self.text = text
        characters = inScalars ? text.unicodeScalars.map(Character.init) : Array(text)
    }

    var count: Int { characters.count }

    func matches(_ element: RegexProgram.Element, at position: Int) -> Bool {
        let character = characters[position]
        let scalars = character.unicodeScalars
        if let scalar = scalars.first, scalar.isASCII, scalars.count == 1 {
            return element.ascii.contains(UInt8(scalar.value))
        }
        return element.matches(character)
    }

    func position(ofOneOf characters: ASCIISet, from position: Int) -> Int { position }

    func isSame(_ position: Int, _ other: Int) -> Bool { characters[position] == characters[other] }

    func positions(of assertion: Regex<AnyRegexOutput>, inScalars: Bool) -> Set<Int> {
        var matches = text.matches(of: assertion).map(\.range.lowerBound)[...]
        var positions: Set<Int> = []
        let indices = inScalars ? Array(text.unicodeScalars.indices) : Array(text.indices)
        for (position, index) in (indices + [text.endIndex]).enumerated() {
            while let next = matches.first, next < index { matches.removeFirst() }
            if matches.first == index { positions.insert(position) }
        }
        return positions
    }
}
