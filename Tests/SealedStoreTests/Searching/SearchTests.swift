import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Searches: their results, order and excerpts.
@Suite struct SearchTests {
    private let archive: Library

    init() throws {
        archive = try Library(nil, model: Archive.model())
        let texts: [(String, String?, Int64)] = [
            ("Green tea", "How to make it, and when to drink it.", 2001),
            ("Black tea", "It is green tea that was left to wither. Tea, tea, tea.", 2002),
            ("Coffee", "Unlike tea it needs no ceremony.", 2003),
            ("Café au lait", nil, 2004),
            ("Water", "Don't forget: it's what everything else is made of. C++ is not.", 2005),
        ]
        for (title, body, year) in texts {
            archive.insert(
                "Article",
                ["title": .text(title), "body": body.map { .text($0) } ?? .null, "year": .integer(year)]
            )
        }
        try archive.context.save()
    }

    private func request(_ query: FullTextQuery, in properties: [String] = []) -> FetchRequest {
        var request = FetchRequest(archive.entity("Article"))
        request.search = FullTextSearch(query, in: properties)
        return request
    }

    /// The keys of the found objects, ascending.
    private func keys(_ query: FullTextQuery, in properties: [String] = []) throws -> [Int64] {
        try archive.context.fetchIDs(request(query, in: properties)).map(\.key).sorted()
    }

    private func titles(_ request: FetchRequest) throws -> [String] {
        try archive.context.fetch(request, as: ManagedObject.self).map { object in
            if case .text(let title) = object["title"] { title } else { "" }
        }
    }

    // MARK: Queries

    @Test func `a search finds all words of a text, in any order`() throws {
        #expect(try keys("tea") == [1, 2, 3])
        #expect(try keys("tea green") == [1, 2])
        #expect(try keys("TEA wither") == [2])
        #expect(try keys("tea whisky") == [])
    }

    @Test func `a phrase is found in its order`() throws {
        #expect(try keys(.phrase("green tea")) == [1, 2])
        #expect(try keys(.phrase("tea green")) == [])
    }

    @Test func `the last word of a prefix may be incomplete`() throws {
        #expect(try keys(.prefix("cere")) == [3])
        #expect(try keys(.prefix("no cere")) == [3])
        #expect(try keys(.phrase("cere")) == [])
    }

    @Test func `queries are combined`() throws {
        #expect(try keys(.all(["tea", .phrase("it is")])) == [2])
        #expect(try keys(.any(["coffee", "water"])) == [3, 5])
        #expect(try keys(FullTextQuery("tea").excluding("green")) == [3])
        #expect(try keys(.any([.all(["black", "tea"]), FullTextQuery("it").excluding("tea")])) == [2, 5])
        #expect(try keys(.all([])) == [])
        #expect(try keys(.any([])) == [])
        #expect(try keys(FullTextQuery("tea").excluding(.any([]))) == [1, 2, 3])
    }

    @Test func `a search can be limited to attributes`() throws {
        #expect(try keys("tea", in: ["title"]) == [1, 2])
        #expect(try keys("green", in: ["body"]) == [2])
        #expect(try keys(.within(["title"], "tea")) == [1, 2])
        #expect(try keys(.all([.within(["title"], "tea"), .within(["body"], "green")])) == [2])
        #expect(try keys(.within(["title"], .any(["green", .within(["body"], "wither")]))) == [1])
        #expect(try keys(.within([], "tea")) == [])
    }

    @Test func `a search ignores case and diacritics`() throws {
        #expect(try keys("CAFE") == [4])
        #expect(try keys("cafe\u{301}") == [4])
    }

    @Test func `nothing in a text is syntax`() throws {
        let texts = [
            "", " ", "\"", "\"\"", "'", "''; DROP TABLE Article; --", "tea\" OR \"coffee", "tea*", "*", "^", "(", ")",
            "NOT", "AND", "OR tea", "NEAR(tea green)", "title : tea", "{title}: tea", "- title: tea", "tea + green",
            "\\",
            "\0", "tea\0", "c0:tea", "\u{0}\"", "🍵", "\u{FEFF}", "\u{202E}tea", "?", "?1", ":tea", "$", "@", ";",
            String(repeating: "(", count: 10_000), String(repeating: "tea ", count: 1_000), "\u{301}", "\r\n",
        ]
        for text in texts {
            for query in [FullTextQuery.words(text), .phrase(text), .prefix(text)] {
                #expect(throws: Never.self, "\(text.debugDescription)") {
                    for combined in [
                        query, .all([query, "tea"]), .any([query, "tea"]), query.excluding(query),
                        .within(["title"], query), .any([.within(["body"], query), .all([query])]),
                    ] {
                        _ = try archive.context.search(
                            request(combined),
                            excerpts: [.snippet(of: "title"), .highlight(of: "body")],
                            as: ManagedObject.self
                        )
                    }
                }
            }
        }
        #expect(try keys("tea\" OR \"coffee") == [])
        #expect(try keys("tea, \"green\"") == [1, 2])
        #expect(try keys("don't") == [5])
        #expect(try keys("tea 🍵 !") == [1, 2, 3])
        #expect(try keys("🍵") == [])
        #expect(try archive.keys("Article", nil).count == 5)
    }

    @Test func `searching random texts throws no error`() throws {
        var random = SeededGenerator()
        let pieces = [
            "\"", "'", "*", "(", ")", "{", "}", ":", "^", "-", "+", "AND", "OR", "NOT", "NEAR", "tea", " ", "\0", "é",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0..<12, using: &random)).map { _ in pieces.randomElement(using: &random)! }
            #expect(throws: Never.self, "\(random): \(text)") {
                try keys(.any([.words(text.joined()), .prefix(text.joined())]))
            }
        }
        #expect(try archive.check() == [], "\(random)")
    }

    // MARK: Results

    @Test func `the most relevant objects are first`() throws {
        let matches = try archive.context.search(request("tea"), as: ManagedObject.self)
        #expect(matches.map(\.relevance) == matches.map(\.relevance).sorted(by: >))
        #expect(try titles(request("tea")).first == "Black tea")
        #expect(
            try titles(request("tea"))
                == matches.map { if case .text(let title) = $0.object["title"] { title } else { "" } }
        )
        #expect(matches.allSatisfy { $0.relevance > 0 })
    }

    @Test func `weights change the order`() throws {
        var request = request("coffee")
        archive.insert(
            "Article",
            ["title": .text("Beans"), "body": .text("coffee coffee coffee coffee"), "year": .integer(1)]
        )
        try archive.context.save()
        request.search?.weights = ["body": 100, "title": 0]
        #expect(try titles(request) == ["Beans", "Coffee"])
        request.search?.weights = ["title": 100, "body": 0]
        #expect(try titles(request) == ["Coffee", "Beans"])
        let statement = try archive.context.explain(request).statement
        #expect(statement.contains(#"ORDER BY -bm25(f."_fulltext_Article_title_body", ?, ?) DESC"#), "\(statement)")
    }

    @Test func `predicates, sort keys, limits and offsets apply to the results`() throws {
        var request = request("tea")
        request.predicate = .comparison(.greater, archive.path("Article", "year"), .literal(.integer(2001)))
        #expect(try Set(titles(request)) == ["Black tea", "Coffee"])
        #expect(try archive.context.count(request) == 2)
        request.sort = [QuerySort(archive.path("Article", "year"), ascending: false)]
        #expect(try titles(request) == ["Coffee", "Black tea"])
        request.limit = 1
        request.offset = 1
        #expect(try titles(request) == ["Black tea"])
        #expect(try archive.context.count(request) == 1)
        #expect(try archive.context.search(request, as: ManagedObject.self).map(\.object.managedObjectID.key) == [2])
    }

    @Test func `a search is one statement over the index`() throws {
        var request = request(.all([.phrase("green tea"), .prefix("wi")]))
        request.predicate = .comparison(.equal, archive.path("Article", "year"), .literal(.integer(2002)))
        request.limit = 10
        let plan = try archive.context.explain(request)
        #expect(
            plan.statement.hasSuffix(
                #"FROM "_fulltext_Article_title_body" AS f CROSS JOIN "Article" AS t0 ON t0."_id" = f.rowid "#
                    + #"WHERE f."_fulltext_Article_title_body" MATCH ? AND (t0."year" = ?) "#
                    + #"ORDER BY -f.rank DESC, t0."_id" LIMIT ? OFFSET ?"#
            ),
            "\(plan)"
        )
        #expect(plan.indexes == ["_fulltext_Article_title_body"])
        #expect(plan.usesIndex)
        let before = try archive.statistics().statementsRun
        _ = try archive.context.fetch(request, as: ManagedObject.self)
        #expect(try archive.statistics().statementsRun - before == 1)
    }

    @Test func `excerpts show the matches`() throws {
        let matches = try archive.context.search(
            request("wither"),
            excerpts: [
                .snippet(of: "body", length: 3), .highlight(of: "title"),
                .highlight(of: "body", marks: FullTextMarks("<b>", "</b>")),
            ],
            as: ManagedObject.self
        )
        #expect(
            matches.map(\.excerpts) == [
                ["…to [wither]. Tea…", "Black tea", "It is green tea that was left to <b>wither</b>. Tea, tea, tea."]
            ]
        )
        let cafe = try archive.context.search(
            request(.within(["title"], "cafe")),
            excerpts: [.highlight(of: "title"), .snippet(of: "body")],
            as: ManagedObject.self
        )
        #expect(cafe.map(\.excerpts) == [["[Café] au lait", nil]])
    }

    @Test func `a search without an index is refused`() throws {
        #expect(throws: FullTextError.noIndex(entity: "Article", properties: ["year"])) {
            try keys("tea", in: ["year"])
        }
        #expect(throws: FullTextError.noIndex(entity: "Article", properties: ["no such"])) {
            try keys(.within(["no such"], "tea"))
        }
        #expect(throws: FullTextError.noSearch) {
            try archive.context.search(FetchRequest(archive.entity("Article")), as: ManagedObject.self)
        }
        let library = try Library(nil)
        var request = FetchRequest(library.entity("Book"))
        request.search = FullTextSearch("tea")
        #expect(throws: FullTextError.noIndex(entity: "Book", properties: [])) {
            try library.context.fetch(request, as: ManagedObject.self)
        }
    }

    // MARK: Unsaved changes

    @Test func `a search finds saved texts, and the predicate applies to current values`() throws {
        let all = try archive.context.fetch(FetchRequest(archive.entity("Article")), as: ManagedObject.self)
        archive.context.delete(all[0])
        all[2]["year"] = .integer(1900)
        all[1]["title"] = .text("renamed")
        archive.insert("Article", ["title": .text("new tea"), "year": .integer(2010)])
        #expect(try titles(request("tea")) == ["renamed", "Coffee"])
        var request = request("tea")
        request.predicate = .comparison(.less, archive.path("Article", "year"), .literal(.integer(2000)))
        #expect(try titles(request) == ["Coffee"])
        #expect(try archive.context.count(request) == 1)
        request.predicate = nil
        request.sort = [QuerySort(archive.path("Article", "year"))]
        #expect(try titles(request) == ["Coffee", "renamed"])
        request.offset = 1
        #expect(try titles(request) == ["renamed"])
        #expect(
            try archive.context.search(request, as: ManagedObject.self).map { $0.object["title"] } == [.text("renamed")]
        )
        try archive.context.save()
        #expect(try Set(titles(self.request("tea"))) == ["renamed", "Coffee", "new tea"])
    }

    @Test func `a child context finds the objects of its parent`() throws {
        let child = ManagedObjectContext(parent: archive.context)
        let articles = try child.fetch(request("green"), as: ManagedObject.self)
        #expect(Set(articles.map(\.managedObjectID.key)) == [1, 2])
        let first = try #require(try archive.context.fetch(request("ceremony"), as: ManagedObject.self).first)
        archive.context.delete(first)
        #expect(try child.fetch(request("tea"), as: ManagedObject.self).count == 2)
        #expect(try child.search(request("tea"), as: ManagedObject.self).count == 2)
    }
}
