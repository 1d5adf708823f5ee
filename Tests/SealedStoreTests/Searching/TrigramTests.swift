import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Trigram indexes: for languages without spaces between words, and for substring predicates.
@Suite struct TrigramTests {
    private static let trigrams = FetchIndexDescription(
        ["title", "body"],
        kind: .fullText(FullTextOptions(tokenizer: .trigram))
    )

    private func archive(_ texts: [String], _ indexes: [FetchIndexDescription] = [trigrams]) throws -> Library {
        let archive = try Library(nil, model: Archive.model(indexes))
        for text in texts { archive.insert("Article", ["title": .text(text), "year": .integer(1)]) }
        try archive.context.save()
        return archive
    }

    private func search(_ archive: Library, _ query: FullTextQuery) throws -> [Int64] {
        var request = FetchRequest(archive.entity("Article"))
        request.search = FullTextSearch(query)
        return try archive.context.fetchIDs(request).map(\.key).sorted()
    }

    private func condition(_ archive: Library, _ function: QueryExpression.Function, _ part: String) -> QueryExpression
    {
        .function(function, [archive.path("Article", "title"), .literal(.text(part))])
    }

    // MARK: Searches

    private static let novels = [
        "吾輩は猫である。名前はまだ無い。", "国境の長いトンネルを抜けると雪国であった。", "親譲りの無鉄砲で小供の時から損ばかりしている。",
        "東京都の図書館", "京都の図書館",
    ]

    @Test func `Japanese text is found by substrings`() throws {
        let archive = try archive(Self.novels)
        #expect(try search(archive, "トンネル") == [2])
        #expect(try search(archive, "図書館") == [4, 5])
        #expect(try search(archive, "東京都 図書館") == [4])
        #expect(try search(archive, FullTextQuery("図書館").excluding("東京都")) == [5])
        #expect(try search(archive, .phrase("雪国であった")) == [2])
    }

    @Test func `words of one or two characters are found in the texts`() throws {
        let archive = try archive(Self.novels)
        #expect(try search(archive, "猫") == [1])
        #expect(try search(archive, "東京") == [4])
        #expect(try search(archive, "京都 図書館") == [4, 5])
        #expect(try search(archive, .all([.within(["title"], "国"), "トンネル"])) == [2])
        #expect(try search(archive, .within(["body"], "国")) == [])
        #expect(throws: SealedStoreError.self) { try search(archive, .any(["猫", "図書館"])) }
    }

    @Test func `snippets show the matches in text without spaces`() throws {
        let archive = try archive(Self.novels)
        var request = FetchRequest(archive.entity("Article"))
        request.search = FullTextSearch("トンネル")
        let matches = try archive.context.search(request, excerpts: [.highlight(of: "title")], as: ManagedObject.self)
        #expect(matches.map(\.excerpts) == [["国境の長い[トンネル]を抜けると雪国であった。"]])
        request.search = FullTextSearch("猫")
        #expect(
            try archive.context.search(request, excerpts: [.highlight(of: "title")], as: ManagedObject.self)
                .map(\.excerpts) == [[nil]]
        )
    }

    // MARK: Conditions

    @Test func `contains uses the index`() throws {
        let archive = try archive(["green tea", "GREEN TEA", "black tea"])
        let plan = try archive.plan("Article", condition(archive, .contains, "green"))
        #expect(
            plan.statement.contains(
                #"WHERE t0."_id" IN (SELECT rowid FROM "_fulltext_Article_title_body" "#
                    + #"WHERE "_fulltext_Article_title_body" MATCH ? UNION ALL SELECT "_id" FROM "Article" WHERE ("title" GLOB "#
            ),
            "\(plan)"
        )
        #expect(plan.indexes == ["_fulltext_Article_title_body", "_fulltext_Article_title_body_other0"], "\(plan)")
        #expect(plan.scannedTables == [], "\(plan)")
        #expect(try archive.keys("Article", condition(archive, .contains, "green")) == [1])
        #expect(try archive.keys("Article", condition(archive, .localizedContains, "green")) == [1, 2])
        #expect(try archive.keys("Article", .not(condition(archive, .contains, "green"))) == [2, 3])
    }

    @Test func `other indexes and predicates do not use trigrams`() throws {
        let words = try archive(["green tea"], [FetchIndexDescription(["title"], kind: .fullText(FullTextOptions()))])
        #expect(try words.plan("Article", condition(words, .contains, "green")).indexes == [])
        let archive = try archive(["green tea"])
        for part in ["", "gr", "x\u{300}bc", "a\0bc", "Straße"] {
            #expect(try archive.plan("Article", condition(archive, .contains, part)).indexes == [], "\(part)")
        }
        for part in ["straße", "ﬁnd", "トンネル"] {
            #expect(try archive.plan("Article", condition(archive, .localizedContains, part)).indexes == [], "\(part)")
        }
        let either = QueryExpression.or([condition(archive, .contains, "green"), .bool(false)])
        #expect(try archive.plan("Article", either).indexes == [])
    }

    /// Texts with equivalent characters: each is a text that a trigram index alone would miss.
    private static let treacherous = [
        "\u{212A}elvin", "Kelvin", "kelvin", "KELVIN", "caf\u{E9} noir", "cafe\u{301} noir", "CAFÉ NOIR", "cafe noir",
        "straße", "STRASSE", "ﬁnder", "finder", "a\u{0}kelvin", "kel\u{0}vin", "ＫＥＬＶＩＮ", "東京都庁", "東京\u{FA26}庁",
        "が行です", "か\u{3099}行です", "か行です", "ｶ行です", "İstanbul", "istanbul", "ISTANBUL", "ıstanbul", "ſtrasse",
        "stras\u{301}se",
        "kel\u{AD}vin", "kel\u{200D}vin", "k\u{336}elvin", "100`000", "100\u{1FEF}000", "日本語\u{FE00}", "日本\u{E0100}語",
        "",
        "x\r\nkelvin", "각하다", "\u{1100}\u{1161}\u{11A8}하다", "Ǆungla", "ŉelvin", "σίσυφος", "ΣΊΣΥΦΟΣ", "№ 100",
        "kelvin🍵",
    ]

    @Test func `results equal those without the index`() throws {
        let archive = try archive(Self.treacherous)
        let plain = try archive.keys("Article", nil)
        #expect(plain.count == Self.treacherous.count)
        let bare = try self.archive(Self.treacherous, [])
        let parts =
            Self.treacherous + [
                "elvin", "cafe", "café", "CAFE", "rass", "RASS", "find", "fin", "京都庁", "行です", "stan", "語", "日本語",
                "100`", "하다", "σφος",
            ]
        for part in parts {
            for function in [QueryExpression.Function.contains, .startsWith, .endsWith, .localizedContains] {
                let found = try archive.keys("Article", condition(archive, function, part))
                let expected = try bare.keys("Article", condition(bare, function, part))
                #expect(found == expected, "\(function) \(part.debugDescription)")
            }
        }
    }

    @Test func `no text is missed for a character that the index is used for`() throws {
        // Every foldable character in a separate text; a text that matches ASCII must be found by it.
        let scalars = FoldableText.ranges.flatMap { range in
            (range.lowerBound.value...range.upperBound.value).compactMap(Unicode.Scalar.init)
        }
        let small = scalars.filter { $0.value < 0x3400 || $0.value > 0xD7A3 }
        let texts = small.map { "xy\($0)zw" }
        let archive = try archive(texts)
        let bare = try self.archive(texts, [])
        for scalar in small where scalar.isASCII && scalar.value >= 0x20 {
            let part = "y\(scalar)z"
            #expect(
                try archive.keys("Article", condition(archive, .localizedContains, part))
                    == bare.keys("Article", condition(bare, .localizedContains, part)),
                "\(part.debugDescription)"
            )
        }
        #expect(
            try archive.keys("Article", condition(archive, .localizedContains, "xyzw"))
                == bare.keys("Article", condition(bare, .localizedContains, "xyzw"))
        )
        for scalar in scalars {
            #expect(
                "\(scalar)".precomposedStringWithCanonicalMapping.unicodeScalars.elementsEqual([scalar]),
                "\(scalar)"
            )
        }
    }

    @Test func `random substrings have the results of in-memory evaluation`() throws {
        var random = SeededGenerator()
        let alphabet = [
            "a", "A", "b", "é", "e\u{301}", "e", "K", "\u{212A}", "東", "京", "が", "か", "ß", "ss", " ", "\"", "ﬁ", "fi",
            "\0", "i", "İ",
        ]
        func text(_ length: Int) -> String {
            (0..<length).map { _ in alphabet.randomElement(using: &random)! }.joined()
        }
        let texts = (0..<400).map { _ in text(8) }
        let archive = try archive(texts)
        let bare = try self.archive(texts, [])
        for _ in 0..<300 {
            let part = text(Int.random(in: 2...4, using: &random))
            for function in [QueryExpression.Function.contains, .localizedContains] {
                #expect(
                    try archive.keys("Article", condition(archive, function, part))
                        == bare.keys("Article", condition(bare, function, part)),
                    "\(random): \(function) \(part.debugDescription)"
                )
            }
        }
        #expect(try archive.check() == [], "\(random)")
    }
}
