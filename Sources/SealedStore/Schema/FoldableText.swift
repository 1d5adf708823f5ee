import Foundation

/// Characters that look the same to FTS5's tokenizers wherever Swift takes them as equal.
///
/// A trigram index tells which texts may contain another one, if what is equal for `contains`, or for
/// `localizedStandardContains`, is the same for the index. Of arbitrary text that cannot be told: characters have several
/// forms that Unicode takes as equal (K and the kelvin sign, composed and decomposed letters), foldings are longer than
/// what they stand for (ß is found by "ss"), and marks are passed over. Text of the characters in here has none of this:
///
/// - each string of them is in Normalization Form C, so that two of them are equal only if they are the same;
/// - none of them is a mark, is ignored in comparisons or is folded to several characters;
/// - where one is folded to an ASCII character, which case and diacritics are ignored for, FTS5 folds it to the same.
///
/// Rows with other characters are looked at one by one: an index keeps them.
enum FoldableText {
    /// The characters, of many scripts: ASCII, Latin with diacritics, Greek, Cyrillic, punctuation and symbols, kana, Chinese
    /// characters, Hangul, full-width forms. Missing among them are ß, İ, ı, ŉ, ſ and combining marks.
    static let ranges: [ClosedRange<Unicode.Scalar>] = [
        "\u{9}"..."\u{A}", "\u{20}"..."\u{7E}", "\u{A0}"..."\u{DE}", "\u{E0}"..."\u{12F}", "\u{132}"..."\u{148}",
        "\u{14A}"..."\u{17E}", "\u{388}"..."\u{3CE}", "\u{400}"..."\u{482}", "\u{48A}"..."\u{4FF}",
        "\u{2010}"..."\u{2027}", "\u{20AC}"..."\u{20AC}", "\u{2190}"..."\u{21FF}", "\u{2460}"..."\u{26FF}",
        "\u{3000}"..."\u{3029}", "\u{3030}"..."\u{3096}", "\u{309B}"..."\u{30FF}", "\u{3400}"..."\u{4DBF}",
        "\u{4E00}"..."\u{9FFF}", "\u{AC00}"..."\u{D7A3}", "\u{FF01}"..."\u{FF9D}",
    ]

    /// Those to which nothing is folded but what FTS5 folds to them as well: ASCII and Chinese characters.
    private static let rangesOfTargets: [ClosedRange<Unicode.Scalar>] = [
        "\u{20}"..."\u{7E}", "\u{3400}"..."\u{4DBF}", "\u{4E00}"..."\u{9FFF}",
    ]

    /// How many characters an index of trigrams needs.
    static let shortestPart = 3

    /// A pattern of GLOB, without quotation marks in it, for texts with other characters.
    static let globOfOthers: String = {
        let list = ranges.map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        return "*[^\(list.joined())]*"
    }()

    /// What a text of these characters has in it, if `part` is a part of it, after both are folded; nil where that cannot
    /// be told.
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
