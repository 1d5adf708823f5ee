import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Files with other indexes than the program's model.
@Suite struct IndexUpdateTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let words = FetchIndexDescription(["title"], kind: .fullText(FullTextOptions()))
    private static let trigrams = FetchIndexDescription(
        ["title"],
        kind: .fullText(FullTextOptions(tokenizer: .trigram))
    )
    private static let tree = FetchIndexDescription(["year"], kind: .rtree)
    private static let binary = FetchIndexDescription(["year"])

    private func open<R>(_ indexes: [FetchIndexDescription], isReadOnly: Bool = false, _ body: (Library) throws -> R)
        throws -> R
    {
        let archive = try Library(url, isReadOnly: isReadOnly, model: Archive.model(indexes))
        let result = try body(archive)
        try archive.coordinator.removeAllStores()
        return result
    }

    private func names(_ archive: Library) throws -> Set<String> {
        let definitions = try archive.definitions()
        return Set(
            ["_index_", "_rtree_", "_fulltext_Article"].filter { kind in
                definitions.contains { $0.contains("\"\(kind)") }
            }
        )
    }

    @Test func `new indexes of the model are created and filled`() throws {
        try open([]) { (archive: Library) throws in
            for year in 1...20 {
                archive.insert("Article", ["title": .text("year \(year)"), "year": .integer(Int64(year))])
            }
            try archive.context.save()
            #expect(try names(archive) == [])
        }
        let plans = try open([Self.words, Self.tree, Self.binary]) { (archive: Library) throws in
            #expect(try names(archive) == ["_index_", "_rtree_", "_fulltext_Article"])
            var request = FetchRequest(archive.entity("Article"))
            request.search = FullTextSearch("7")
            #expect(try archive.context.fetchIDs(request).map(\.key) == [7])
            let year = archive.path("Article", "year")
            let range = QueryExpression.and([
                .comparison(.greater, year, .literal(.integer(3))), .comparison(.less, year, .literal(.integer(6))),
            ])
            #expect(try archive.keys("Article", range) == [4, 5])
            #expect(try archive.check() == [])
            return try archive.plan("Article", range).indexes
        }
        #expect(plans.contains("_rtree_Article_year"))
        // A second opening changes nothing.
        try open([Self.words, Self.tree, Self.binary]) { (archive: Library) throws in
            #expect(try names(archive) == ["_index_", "_rtree_", "_fulltext_Article"])
            #expect(try archive.check() == [])
        }
    }

    @Test func `indexes that the model does not declare stay until their removal is requested`() throws {
        try open([Self.trigrams, Self.tree, Self.binary]) { (archive: Library) throws in
            archive.insert("Article", ["title": .text("tea"), "year": .integer(1)])
            try archive.context.save()
        }
        try open([]) { (archive: Library) throws in
            #expect(try names(archive) == ["_index_", "_rtree_", "_fulltext_Article"])
            archive.insert("Article", ["title": .text("coffee"), "year": .integer(2)])
            try archive.context.save()
            #expect(try archive.check() == [])
        }
        try open([Self.binary]) { (archive: Library) throws in
            try (archive.store() as? SealedStore)?.removeUndeclaredIndexes()
            #expect(try names(archive) == ["_index_"])
            #expect(try archive.check() == [])
        }
        try open([]) { (archive: Library) throws in
            try (archive.store() as? SealedStore)?.removeUndeclaredIndexes()
            #expect(try names(archive) == [])
            archive.insert("Article", ["title": .text("tea"), "year": .integer(1)])
            try archive.context.save()
            #expect(try archive.check() == [])
        }
    }

    @Test func `a search uses the index with the options that the model declares`() throws {
        try open([Self.words]) { (archive: Library) throws in
            archive.insert("Article", ["title": .text("green tea"), "year": .integer(1)])
            try archive.context.save()
        }
        try open([Self.trigrams]) { (archive: Library) throws in
            var request = FetchRequest(archive.entity("Article"))
            request.search = FullTextSearch("reen")
            #expect(try archive.context.count(request) == 1)
            #expect(try archive.definitions().count { $0.contains("USING fts5") && $0.contains("Article") } == 2)
            #expect(try archive.check() == [])
        }
    }

    @Test func `a read-only store keeps its indexes and uses them`() throws {
        try open([Self.words]) { (archive: Library) throws in
            archive.insert("Article", ["title": .text("green tea"), "year": .integer(1)])
            try archive.context.save()
        }
        try open([Self.tree], isReadOnly: true) { (archive: Library) throws in
            #expect(try names(archive) == ["_fulltext_Article"])
            var request = FetchRequest(archive.entity("Article"))
            request.search = FullTextSearch("tea")
            #expect(try archive.context.count(request) == 1)
            #expect(
                try archive.plan("Article", .comparison(.less, archive.path("Article", "year"), .literal(.integer(3))))
                    .indexes == []
            )
            #expect(try archive.check() == [])
        }
    }

    @Test func `the model in the file includes the indexes`() throws {
        try open([Self.words]) { _ in }
        try open([Self.trigrams, Self.tree]) { _ in }
        let description = PersistentStoreDescription(
            type: SealedStore.storeType,
            url: url,
            options: [SealedStore.keyOption: Library.key]
        )
        let model = try SealedStore.model(of: description)
        #expect(model.entitiesByName["Article"]?.indexes == [Self.words, Self.trigrams, Self.tree])
    }

    @Test func `the sqlcipher tool reads, writes and checks a file with indexes`() throws {
        try open([Self.words, Self.trigrams, Self.tree]) { (archive: Library) throws in
            for text in ["green tea", "東京都の図書館", "x\0y"] {
                archive.insert("Article", ["title": .text(text), "year": .integer(7)])
            }
            try archive.context.save()
        }
        let script = """
            \(EncryptionKey.statementOfTests)
            PRAGMA integrity_check;
            UPDATE "Article" SET "title" = 'black tea' WHERE "_id" = 1;
            DELETE FROM "Article" WHERE "_id" = 3;
            INSERT INTO "Article" ("_id", "_entity", "title", "year") VALUES (4, 1, 'white tea', 8);
            SELECT group_concat(rowid) FROM "_fulltext_Article_title" WHERE "_fulltext_Article_title" MATCH 'tea';
            PRAGMA integrity_check;
            """
        #expect(try run("sqlcipher", [url.path, script]).output == "ok\nok\n1,4\nok\n")
        try open([Self.words, Self.trigrams, Self.tree]) { (archive: Library) throws in
            // The sequence does not include the key of the tool's insertion.
            #expect(try archive.check().filter { $0.kind == .indexMismatch } == [])
        }
    }
}
