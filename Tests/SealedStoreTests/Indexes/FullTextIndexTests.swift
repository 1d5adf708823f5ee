import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Full-text indexes in the file: their schema objects, and their updates by every kind of write.
@Suite struct FullTextIndexTests {
    private func text(_ library: Library, _ query: FullTextQuery, _ entity: String = "Article") throws -> [Int64] {
        var request = FetchRequest(library.entity(entity))
        request.search = FullTextSearch(query)
        return try library.context.fetchIDs(request).map(\.key).sorted()
    }

    @Test func `an index is a table without texts, a view, and triggers`() throws {
        let archive = try Library(nil, model: Archive.model())
        let definitions = try archive.definitions().filter { $0.contains("_fulltext_Article_title_body") }
        #expect(
            definitions.contains(
                #"CREATE VIRTUAL TABLE "_fulltext_Article_title_body" USING fts5(c0, c1, "#
                    + "content = '_fulltext_Article_title_body_text', content_rowid = '_id', "
                    + "tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
            )
        )
        #expect(
            definitions.contains(
                #"CREATE VIEW "_fulltext_Article_title_body_text" AS "#
                    + #"SELECT "_id", "title" AS c0, "body" AS c1 FROM "Article""#
            )
        )
        #expect(definitions.count { $0.hasPrefix("CREATE TRIGGER") } == 3)
    }

    @Test func `saves update the index`() throws {
        let archive = try Library(nil, model: Archive.model())
        let articles = ["green tea", "black tea", "coffee"].map {
            archive.insert("Article", ["title": .text($0), "year": .integer(2000)])
        }
        try archive.context.save()
        #expect(try text(archive, "tea") == [1, 2])
        articles[0]["title"] = .text("green paint")
        articles[1]["year"] = .integer(1999)
        articles[2]["body"] = .text("better than tea")
        try archive.context.save()
        #expect(try text(archive, "tea") == [2, 3])
        archive.context.delete(articles[1])
        try archive.context.save()
        #expect(try text(archive, "tea") == [3])
        #expect(try archive.check() == [])
    }

    @Test func `batch requests and erasing update the index`() throws {
        let folder = TemporaryFolder()
        let archive = try Library(folder.file("a.store"), model: Archive.model())
        let entity = archive.entity("Article")
        try archive.context.execute(
            BatchInsertRequest(
                entity,
                objects: (1...1_000).map { ["title": .text("number \($0)"), "year": .integer(Int64($0))] }
            )
        )
        #expect(try text(archive, "number").count == 1_000)
        #expect(try text(archive, "500") == [500])
        var update = BatchUpdateRequest(
            entity,
            predicate: .comparison(.less, archive.path("Article", "year"), .literal(.integer(11)))
        )
        update.propertiesToUpdate = ["body": .literal(.text("small"))]
        try archive.context.execute(update)
        #expect(try text(archive, "small") == Array(1...10))
        try archive.context.execute(
            BatchDeleteRequest(
                entity,
                predicate: .comparison(.less, archive.path("Article", "year"), .literal(.integer(6)))
            )
        )
        #expect(try text(archive, "small") == Array(6...10))
        #expect(try archive.check() == [])
        try archive.coordinator.eraseStores()
        #expect(try text(archive, "number") == [])
        #expect(try archive.check() == [])
    }

    @Test func `an index of a subentity holds its objects only`() throws {
        let archive = try Library(nil, model: Archive.model())
        archive.insert("Article", ["title": .text("tea"), "year": .integer(1)])
        let essay = archive.insert(
            "Essay",
            ["title": .text("tea"), "year": .integer(1), "summary": .text("on walking")]
        )
        try archive.context.save()
        #expect(try text(archive, "tea") == [1, 2])
        #expect(try text(archive, "tea", "Essay") == [2])
        #expect(try text(archive, .within(["summary"], "walking"), "Essay") == [2])
        #expect(try archive.integers("SELECT count(*) FROM \"_fulltext_Essay_summary_docsize\"") == [1])
        essay["summary"] = .text("on running")
        try archive.context.save()
        #expect(try text(archive, .within(["summary"], "walking"), "Essay") == [])
        archive.context.delete(essay)
        try archive.context.save()
        #expect(try archive.integers("SELECT count(*) FROM \"_fulltext_Essay_summary_docsize\"") == [0])
        #expect(try archive.check() == [])
    }

    @Test func `names of attributes and entities can be anything`() throws {
        let odd = try Library(
            nil,
            model: ManagedObjectModel(entities: [
                EntityDescription(
                    "it's \"odd\"",
                    attributes: ["rank", "rowid", "a'b\"c", "UNINDEXED", "日本"].map {
                        AttributeDescription($0, .string)
                    },
                    indexes: [
                        FetchIndexDescription(["rank", "rowid", "a'b\"c", "UNINDEXED", "日本"], kind: .fullText(.init()))
                    ]
                )
            ])
        )
        odd.insert(
            "it's \"odd\"",
            [
                "rank": .text("first"), "rowid": .text(""), "a'b\"c": .text("x"), "UNINDEXED": .text("y"),
                "日本": .text("z"),
            ]
        )
        try odd.context.save()
        #expect(try text(odd, .within(["a'b\"c"], "x"), "it's \"odd\"") == [1])
        #expect(try text(odd, .within(["rank"], "x"), "it's \"odd\"") == [])
        #expect(try odd.check() == [])
    }

    @Test func `the check finds an index with missing or wrong texts`() throws {
        let folder = TemporaryFolder()
        let archive = try Library(folder.file("a.store"), model: Archive.model())
        for title in ["one", "two", "three"] {
            archive.insert("Article", ["title": .text(title), "year": .integer(1)])
        }
        try archive.context.save()
        let table = "\"_fulltext_Article_title_body\""
        try archive.opened().database.write {
            try $0.execute("INSERT INTO \(table) (\(table), rowid, c0, c1) VALUES ('delete', 2, 'two', NULL)")
        }
        #expect(
            try archive.check() == [
                StoreProblem(.indexMismatch, entity: "Article", property: "title+body", count: 1, firstKey: 2)
            ]
        )
        try archive.opened().database.write {
            try $0.execute("INSERT INTO \(table) (rowid, c0, c1) VALUES (2, 'four', NULL)")
        }
        #expect(try archive.check() == [StoreProblem(.indexMismatch, entity: "Article", property: "title+body")])
        // The store is usable afterwards.
        archive.insert("Article", ["title": .text("four"), "year": .integer(1)])
        try archive.context.save()
        try archive.opened().database.write { try $0.execute("INSERT INTO \(table) (\(table)) VALUES ('rebuild')") }
        let problems = try archive.check()
        #expect(problems == [])
    }
}
