import Foundation
import RegexBuilder
import TestSupport
import Testing

@testable import QueryLanguage

/// Matching agrees with Swift's `Regex`, or the expression is refused.
@Suite struct RegularExpressionTests {
    private static let texts = [
        "", "a", "ab", "a.b", "a\nb", "abc", "ABC", "aBc", "foo bar", "12", "1a2b", "e\u{301}", "\u{e9}", "\u{c9}",
        "caf\u{e9} au lait", "a\r\nb", "\r\n", "\n", "a\n", "xay", "aab", "aaab", "abab", "ß", "SS", "ss", "日本語",
        "👍🏽", "👨‍👩‍👧", "x-y_z", "don't stop", "a1 b2", "٣", "Ⅷ", "\u{301}a", "K", "\u{212A}", "ac", "ad", "bd", "abd", "acd",
        "\t", "\u{2028}", "aa", "bb", "abba", "ﬁ", "\0", "a\u{301}b", "line1\nline2\r\nline3",
    ]

    /// Expects that the package's matcher and Swift's `Regex` find the same texts.
    private func check(_ component: some RegexComponent, _ location: SourceLocation = #_sourceLocation) throws {
        let regex = Regex<AnyRegexOutput>(component.regex)
        let pattern = try #require(RegularExpressions.pattern(of: regex), sourceLocation: location)
        for text in Self.texts {
            let expected = try regex.firstMatch(in: text) != nil
            let found = try RegularExpressions.contains(text, pattern)
            #expect(found == expected, "/\(pattern)/ in \(text.debugDescription)", sourceLocation: location)
        }
    }

    @Test(arguments: [
        "a", "a.b", "^a", "b$", "^$", "(?m)^b", "(?m)a$", "a|b", "(a|b)c", "a*", "a+b", "(?:ab)+", "a{2}", "a{2,}",
        "a{2,3}b",
        "(a{2}){2}", "a{0}b", "(|a)+b", "(a*)*b", "(a*)+", "(a|ab)(c|bcd)?$", "x*", "(?:)", "(?#c)a", "(?x) a b ",
        #"\d"#, #"\D"#, #"\w+"#, #"\W"#, #"\s"#, #"\S+"#, #"\h"#, #"\v"#, #"\R"#, #"\n"#, #"\r"#, #"\r\n"#, #"\t"#,
        #"\X"#,
        ".", "..", "(?s).", "(?s)a.b", #"\bstop\b"#, #"\b"#, #"\B"#, #"\Aab"#, #"b\z"#, #"b\Z"#, #"\y"#, #"\Y"#, "$",
        "(?m)^",
        "[a-c]", "[^a-c]", #"[\d&&[1]]"#, "[a-z--[aeiou]]", "[a~~b]", #"[\p{L}--a]"#, #"[^\W]"#, "[👍🏽]", #"[e\u{301}]"#,
        "[à-ü]", "[[:alpha:]]", #"\p{Lu}"#, #"\P{L}"#, #"\p{Script=Han}"#, #"\p{Nd}"#, #"\p{Any}"#, #"\p{ASCII}"#,
        #"\p{Alphabetic}"#, #"\p{Lowercase=false}"#, #"\p{scx=Latn}"#, #"\N{LATIN SMALL LETTER A}"#, #"\x65"#,
        "\u{e9}", "e\u{301}", #"\u{65}\u{301}"#, "(?i)abc", "(?i)SS", "(?i:\u{e9})", "(?i)k", "(?i)[a-b]", "(?i)[^A]",
        "(?i)ﬁ",
        "a(?i)b|C", "(?:a(?i)b)C", "(?U)a+", #"(?W)\w"#, #"(?D)\d"#, #"(?S)\s"#, "(?P)[[:alpha:]]",
        #"(a)\1"#, #"(?<x>.)\k<x>"#, #"(.)(.)\2\1"#, "(?=ab)a", "a(?!b)", "(?!.)", "(?>a+)b", "a++b", "a*+a", "a?+a",
        "(?:(?=a+b)a|a)+b",
        // Empty iterations, and possessive repetitions of groups.
        #"(a?)*\1"#, #"(a?)+\1b"#, #"(a|)*?\1c"#, #"\A(?:aa|(?=.)){2,}\z"#, #"\A(?:a*?)?+\z"#, #"\A(?:.*?){2}+\z"#,
        #"\A(?:a|ab)*+c\z"#, "(?:ab?)++b", "é?+é", "[éa]{1,2}+a", "(?:(?:.)+){0,2}+b",
        // The Kelvin sign is canonically equivalent to K, and equals k without case.
        "K", "\u{212A}", "K|\u{212A}", "\u{212A}K?", "(?i)K+", "(?i)k{1,2}+", "(?i)k+?", "(?i)[k]", "(?i)\u{212A}",
        "[\u{212A}]",
    ])
    func `a pattern matches the same texts as in Swift`(_ pattern: String) throws {
        try check(try Regex(pattern))
    }

    // MARK: Random expressions

    /// The atoms and the characters of the texts of random expressions.
    enum Alphabet: CaseIterable {
        case order, equivalence

        var atoms: [String] {
            switch self {
            case .order: ["a", "b", "a", "b", "."]
            case .equivalence: ["k", "K", "\u{212A}", "a", "[k]", "[a-z]", "[\u{212A}]", #"\w"#, "\u{e9}", "."]
            }
        }

        var characters: [Character] {
            switch self {
            case .order: ["a", "b"]
            case .equivalence: ["k", "K", "\u{212A}", "a", "\u{e9}"]
            }
        }
    }

    private static func pattern(
        _ random: inout SeededGenerator,
        _ alphabet: Alphabet,
        depth: Int,
        _ captures: inout Int
    ) -> String {
        func part() -> String { pattern(&random, alphabet, depth: depth - 1, &captures) }
        let atom = random.pick(alphabet.atoms) ?? ""
        let kind = random.pick(["", "", "?", "+"]) ?? ""
        switch Int.random(in: 0..<(depth > 0 ? 9 : 2), using: &random) {
        case 0, 1: return atom
        case 2: return part() + part()
        case 3: return "(?:\(part())|\(part()))"
        case 4:
            let amount = random.pick(["*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,2}"]) ?? ""
            return "(?:\(part()))\(amount)\(kind)"
        case 5:
            captures += 1
            return "(\(part()))"
        case 6: return captures > 0 ? "\\\(Int.random(in: 1...captures, using: &random))" : atom
        case 7: return "\(random.pick(["(?=", "(?!", "(?>"]) ?? "")\(part()))"
        default: return "\(atom)\(random.pick(["*", "+", "?", "{1,2}"]) ?? "")\(kind)"
        }
    }

    @Test(arguments: Alphabet.allCases, SeededGenerator.seeds(2))
    func `random patterns match the same texts as in Swift`(alphabet: Alphabet, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var captures = 0
            let options = alphabet == .equivalence && random.chance(50) ? "(?i)" : ""
            let inner = Self.pattern(&random, alphabet, depth: 3, &captures)
            let pattern = options + (random.chance(50) ? #"\A(?:\#(inner))\z"# : inner)
            // A reference to a capture that follows it is an error.
            guard let regex = try? Regex(pattern) else { continue }
            for _ in 0..<5 {
                let length = Int.random(in: 0...5, using: &random)
                let text = String((0..<length).compactMap { _ in random.pick(alphabet.characters) })
                guard let found = try? RegularExpressions.contains(text, pattern) else { continue }
                let expected = try regex.firstMatch(in: text) != nil
                #expect(found == expected, "\(random): /\(pattern)/ in \(text.debugDescription)")
            }
        }
    }

    @Test func `a full stop of RegexBuilder is any character`() throws {
        try check(Regex { CharacterClass.any })
        try check(
            Regex {
                "a"; OneOrMore(.any); "b"
            }
        )
        try check(
            Regex {
                "a"; One(.anyNonNewline); "b"
            }
        )
        try check(
            Regex {
                "a"; One(CharacterClass(.any, .digit)); "b"
            }
        )
        try check(
            Regex {
                "a"; One(CharacterClass(.anyNonNewline, .digit)); "b"
            }
        )
        try check(Regex { One(CharacterClass.any.inverted) })
        try check(Regex { One(CharacterClass.anyNonNewline.inverted) })
        try check(Regex { One(.anyGraphemeCluster) })
    }

    @Test func `groups of RegexBuilder stay groups`() throws {
        try check(
            Regex {
                "a"; /b|c/; "d"
            }
        )
        try check(
            Regex {
                "x"; OneOrMore { /a|b/ }; "y"
            }
        )
        try check(
            Regex {
                OneOrMore {
                    "a";
                    Optionally {
                        "b"; "c"
                    }
                }; Anchor.endOfSubject
            }
        )
        try check(
            Regex {
                "a";
                ChoiceOf {
                    "b"; "d"
                }; Anchor.endOfLine
            }
        )
        try check(
            Regex {
                Repeat("ab", 1...2); Repeat(.digit, count: 0); Optionally("c"); ZeroOrMore(.word, .possessive)
            }
        )
        try check(
            Regex {
                Capture { "a" }; Capture { OneOrMore(.any, .reluctant) }; "b"
            }
        )
        try check(
            Regex {
                Local { OneOrMore("a") }; "b"
            }
        )
        try check(
            Regex {
                Lookahead("a"); NegativeLookahead("ab"); "a"
            }
        )
    }

    @Test func `character classes of RegexBuilder`() throws {
        try check(Regex { One(.digit.inverted) })
        try check(Regex { One(CharacterClass.anyOf("ab.-]^").inverted) })
        try check(Regex { One(CharacterClass("a"..."z").union(.digit)) })
        try check(Regex { One(CharacterClass("a"..."z").subtracting(.anyOf("ae"))) })
        try check(Regex { One(CharacterClass("a"..."z").intersection(.anyOf("ae"))) })
        try check(Regex { One(CharacterClass("a"..."c").symmetricDifference(.anyOf("ae"))) })
        try check(Regex { One(CharacterClass.generalCategory(.uppercaseLetter)) })
        try check(
            Regex {
                One(.hexDigit); One(.word); One(.whitespace)
            }
        )
    }

    @Test func `anchors and options of RegexBuilder`() throws {
        try check(
            Regex {
                Anchor.startOfLine; "b"
            }
        )
        try check(
            Regex {
                "a"; Anchor.endOfLine
            }
        )
        try check(
            Regex {
                Anchor.wordBoundary; "s"
            }
        )
        try check(
            Regex {
                Anchor.wordBoundary.inverted; "t"
            }
        )
        try check(
            Regex {
                Anchor.startOfSubject; "a"
            }
        )
        try check(
            Regex {
                "a"; Anchor.endOfSubjectBeforeNewline
            }
        )
        try check(
            Regex {
                Anchor.textSegmentBoundary; "a"
            }
        )
        try check(
            Regex {
                "a"; Regex { "b" }.ignoresCase(); "c"
            }
        )
        try check((/a.b/).dotMatchesNewlines())
        try check((/^b$/).anchorsMatchLineEndings())
        try check((/\d|\w|\s/).asciiOnlyDigits().asciiOnlyWordCharacters())
        try check((/a+b/).repetitionBehavior(.reluctant))
    }

    @Test func `texts of RegexBuilder are escaped`() throws {
        try check(Regex { #"a+b*(c)[d]{e}|f^g$h\i/j"k"# })
        for text in ["a.b", "a\nb", "a\r\nb", "\0", "👍🏽", "x-y_z", "don't", "a b", "\u{e9}"] {
            try check(Regex { text })
        }
    }

    @Test func `components without a pattern are refused`() {
        func pattern(_ component: some RegexComponent) -> String? {
            RegularExpressions.pattern(of: Regex<AnyRegexOutput>(component.regex))
        }
        #expect(pattern(Regex { "e" }.matchingSemantics(.unicodeScalar)) == nil)
        #expect(pattern(Regex { Anchor.wordBoundary }.wordBoundaryKind(.simple)) == nil)
        #expect(
            pattern(
                Regex {
                    Anchor.firstMatchingPositionInSubject; "b"
                }
            ) == nil
        )
        #expect(pattern((/a+a/).repetitionBehavior(.possessive)) == nil)
    }

    @Test func `an expression with exponential backtracking has a result`() throws {
        let text = String(repeating: "a", count: 5000)
        #expect(try !RegularExpressions.contains(text, "(a+)+b"))
        #expect(try RegularExpressions.contains(text, "(a|aa)+$"))
        #expect(try !RegularExpressions.contains(text, "(.*)*x"))
        #expect(try !RegularExpressions.contains(text + "\u{e9}", "(a+)+b"))
    }

    @Test(arguments: [#"(a+)+\1b"#, "(?>(a+)+b)", "(?:(?=(a+)+b)a|a)+b", "((a{0,100}){0,100}){0,100}"])
    func `an expression that exceeds the step limit is an error`(_ pattern: String) {
        let text = String(repeating: "a", count: 5000)
        #expect(throws: QueryError.expensivePattern) { try RegularExpressions.contains(text, pattern) }
    }

    @Test func `an ICU expression that exceeds its time limit is an error`() throws {
        let long = String(repeating: "ab", count: 2_000_000)
        #expect(throws: QueryError.expensivePattern) { try RegularExpressions.matches(long, "(?:a|b)*") }
        let text = String(repeating: "a", count: 60)
        #expect(throws: QueryError.expensivePattern) { try RegularExpressions.matches(text, "(a+)+[bc]") }
        #expect(try RegularExpressions.matches(text, "a+"))
        #expect(throws: QueryError.malformedPattern) { try RegularExpressions.matches(text, "(") }
    }

    @Test func `many threads match at the same time`() async throws {
        let texts = ["na\u{ef}ve", "naive", "word boundary", "\u{c9}t\u{e9}"]
        let found = try await withThrowingTaskGroup(of: [Bool].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<200).flatMap { _ in
                        try texts.map { try RegularExpressions.contains($0, #"\b\p{Lu}|ï"#) }
                    }
                }
            }
            return try await group.reduce(into: Set<[Bool]>()) { $0.insert(Array($1.prefix(4))) }
        }
        #expect(found == [[true, false, false, true]])
    }
}
