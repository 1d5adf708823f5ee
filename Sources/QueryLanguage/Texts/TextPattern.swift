/// A pattern in which `?` matches one character and `*` any number of characters. `\` escapes both.
struct TextPattern {
    private enum Part {
        case character(Character)
        case anyCharacter
        case anyText
    }

    private let parts: [Part]

    init(_ pattern: String) {
        var parts: [Part] = []
        var isEscaped = false
        for character in pattern {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "?" where !isEscaped: parts.append(.anyCharacter)
            case "*" where !isEscaped: parts.append(.anyText)
            default: parts.append(.character(character))
            }
            isEscaped = false
        }
        if isEscaped { parts.append(.character("\\")) }
        self.parts = parts
    }

    /// Returns whether the whole text matches the pattern.
    ///
    /// Complexity: O(length of the text · length of the pattern).
    func matches(_ text: String) -> Bool {
        var part = parts.startIndex
        var position = text.startIndex
        // The part of the last `*`, and the position from which to continue if that `*` takes one more character.
        var retry: (part: Int, position: String.Index)?
        while position < text.endIndex {
            if part < parts.endIndex {
                switch parts[part] {
                case .anyText:
                    retry = (part + 1, position)
                    part += 1
                    continue
                case .anyCharacter:
                    part += 1
                    position = text.index(after: position)
                    continue
                case .character(let character) where character == text[position]:
                    part += 1
                    position = text.index(after: position)
                    continue
                case .character: break
                }
            }
            guard let last = retry else { return false }
            position = text.index(after: last.position)
            part = last.part
            retry = (part, position)
        }
        return parts[part...].allSatisfy { if case .anyText = $0 { true } else { false } }
    }
}
