/// An error in the text form of a predicate, with its position.
///
/// ```
/// entity 'Book' has no property 'titel': did you mean 'title'? (at character 5)
/// ```
///
/// The literals of the text can be secrets. The ``message`` and the description quote only names. The text itself, and
/// its ``excerpt`` with a caret under the position, are for the author of the text, not for logs.
public struct PredicateFormatError: Error, Hashable, Sendable {
    /// A kind of error.
    public enum Kind: String, Hashable, Sendable {
        /// The text does not follow the grammar.
        case syntax
        /// A property, variable, function or type that does not exist.
        case unknownName
        /// A value of a wrong type.
        case mismatchedTypes
        /// An argument that is missing, not used, or of a wrong type for its specifier.
        case argument
        /// A part of the language that stores do not support.
        case unsupported
        /// The text is nested deeper than a store can evaluate.
        case tooComplex
    }

    /// The kind of error.
    public let kind: Kind
    /// The description of the error.
    public let message: String
    /// Similar existing names, the closest first.
    public let suggestions: [String]
    /// The text, including its literals.
    public let format: String
    /// The position in the text, in bytes of UTF-8; empty if something is missing.
    public let utf8Range: Range<Int>

    init(
        _ kind: Kind,
        _ message: String,
        suggestions: [String] = [],
        in format: String,
        at range: Range<String.Index>
    ) {
        self.kind = kind
        self.message = message
        self.suggestions = suggestions
        self.format = format
        let utf8 = format.utf8
        let start = utf8.distance(from: utf8.startIndex, to: range.lowerBound)
        utf8Range = start..<start + utf8.distance(from: range.lowerBound, to: range.upperBound)
    }

    /// The position in the text, in characters.
    ///
    /// - Complexity: O(length of the text)
    public var characterRange: Range<Int> {
        let start = format.distance(from: format.startIndex, to: index(utf8Range.lowerBound))
        let end = format.distance(from: format.startIndex, to: index(utf8Range.upperBound))
        return start..<max(start, end)
    }

    private func index(_ utf8Offset: Int) -> String.Index {
        format.utf8.index(format.startIndex, offsetBy: utf8Offset)
    }
}

extension PredicateFormatError: CustomStringConvertible, CustomReflectable {
    /// The message and the position, without literals of the text.
    public var description: String {
        let question = suggestions.isEmpty ? "" : ": did you mean \(Self.alternatives(suggestions))?"
        return "\(message)\(question) (at character \(characterRange.lowerBound))"
    }

    /// The properties except the text, so that `dump` and debuggers print no literals.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["kind": kind, "message": message, "suggestions": suggestions, "utf8Range": utf8Range]
        )
    }

    private static func alternatives(_ names: [String]) -> String {
        names.map { "'\($0)'" }.joined(separator: " or ")
    }

    /// The number of characters on each side of the position.
    private static let contextLength = 60

    /// The line of the text around the position, including its literals, with a caret under the position.
    ///
    /// ```
    /// NOT (titel CONTAINS[cd] %@)
    ///      ^^^^^
    /// ```
    ///
    /// - Complexity: O(length of the text)
    public var excerpt: String {
        let place = characterRange
        let start = max(0, place.lowerBound - Self.contextLength)
        let end = min(place.upperBound, place.lowerBound + Self.contextLength) + Self.contextLength
        let characters = format.dropFirst(start).prefix(end - start)
        let isCut = (start: start > 0, end: characters.endIndex < format.endIndex)
        // Line breaks and tabs would misalign the caret.
        let line = String(characters.map { $0.isNewline || $0 == "\t" ? " " : $0 })
        let indentation = String(repeating: " ", count: place.lowerBound - start + (isCut.start ? 1 : 0))
        let caret = String(repeating: "^", count: min(max(place.count, 1), Self.contextLength))
        return "\(isCut.start ? "…" : "")\(line)\(isCut.end ? "…" : "")\n\(indentation)\(caret)"
    }
}
