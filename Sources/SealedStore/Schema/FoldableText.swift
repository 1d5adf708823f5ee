import Foundation

/// Characters for which FTS5's tokenizers agree with Swift's equality of texts.
///
/// A trigram index can find the texts that may contain a part if texts that are equal for `contains`, or for
/// `localizedStandardContains`, are equal for the index. This does not hold for arbitrary text: characters have several
/// forms that Unicode treats as equal (K and the kelvin sign, composed and decomposed letters), foldings are longer
/// than the original (ß matches "ss"), and comparisons ignore marks. For text of these characters it holds:
///
/// - each string of these characters is in Normalization Form C, so two strings are equal only if their characters are
///   identical;
/// - no character is a mark, is ignored in comparisons or is folded to several characters;
/// - if a comparison that ignores case and diacritics folds a character to an ASCII character, FTS5 folds it to the
///   same character.
///
/// Rows with other characters are in a separate index, and are compared one by one.
enum FoldableText {
    /// The characters, from many scripts: ASCII, Latin with diacritics, Greek, Cyrillic, punctuation and symbols, kana,
    /// Chinese characters, Hangul, full-width forms. ß, İ, ı, ŉ, ſ and combining marks are not among them.
    static let ranges: [ClosedRange<Unicode.Scalar>] = [
        "\u{9}"..."\u{A}", "\u{20}"..."\u{7E}", "\u{A0}"..."\u{DE}", "\u{E0}"..."\u{12F}", "\u{132}"..."\u{148}",
        "\u{14A}"..."\u{17E}", "\u{388}"..."\u{3CE}", "\u{400}"..."\u{482}", "\u{48A}"..."\u{4FF}",
        "\u{2010}"..."\u{2027}", "\u{20AC}"..."\u{20AC}", "\u{2190}"..."\u{21FF}", "\u{2460}"..."\u{26FF}",
        "\u{3000}"..."\u{3029}", "\u{3030}"..."\u{3096}", "\u{309B}"..."\u{30FF}", "\u{3400}"..."\u{4DBF}",
        "\u{4E00}"..."\u{9FFF}", "\u{AC00}"..."\u{D7A3}", "\u{FF01}"..."\u{FF9D}",
    ]

    /// ASCII and Chinese characters. FTS5 folds to them every character that Swift folds to them.
    private static let rangesOfTargets: [ClosedRange<Unicode.Scalar>] = [
        "\u{20}"..."\u{7E}", "\u{3400}"..."\u{4DBF}", "\u{4E00}"..."\u{9FFF}",
    ]

    /// The smallest number of characters that an index of trigrams can find.
    static let shortestPart = 3

    /// A GLOB pattern, without quotation marks, for texts that contain other characters.
    static let globOfOthers: String = {
        let list = ranges.map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        return "*[^\(list.joined())]*"
    }()

    /// The string that a text of these characters contains if it contains `part`, after folding both; nil if no such
    /// string is known.
    ///
    /// - Parameter isFolding: Whether case and diacritics are ignored.
    static func searchable(_ part: String, isFolding: Bool) -> String? {
        let part = part.precomposedStringWithCanonicalMapping
        let allowed = isFolding ? rangesOfTargets : ranges
        guard part.unicodeScalars.count >= shortestPart,
            part.unicodeScalars.allSatisfy({ scalar in allowed.contains { $0.contains(scalar) } })
        else { return nil }
        return part
    }
}
