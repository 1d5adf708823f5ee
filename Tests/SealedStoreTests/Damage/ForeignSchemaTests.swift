import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Schema objects that a program with the key added, changed or removed.
@Suite struct ForeignSchemaTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("a.store") }

    private static let model = Result {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Book",
                attributes: [.init("title", .string), .init("pages", .int64)],
                relationships: [
                    .init("author", to: "Author", .one, inverse: "books"), .init("tags", to: "Tag", .many),
                ],
                indexes: [
                    FetchIndexDescription(["pages"], kind: .rtree), FetchIndexDescription(["pages"]),
                    FetchIndexDescription(["title"], kind: .fullText(FullTextOptions(tokenizer: .trigram))),
                ],
                uniquenessConstraints: [["title"]]
            ),
            EntityDescription(
                "Author",
                attributes: [.init("name", .string)],
                relationships: [.init("books", to: "Book", .many, inverse: "author")]
            ),
            EntityDescription("Tag", attributes: [.init("label", .string)]),
        ])
    }

    private func open() throws -> Library { try Library(url, model: Self.model.get()) }

    private func insert(_ library: Library, _ title: String) throws {
        library.insert("Book", ["title": .text(title), "pages": .integer(3)])
        try library.context.save()
    }

    private func count(_ library: Library) throws -> Int {
        try library.context.count(FetchRequest(library.entity("Book")))
    }

    /// The statements of another program, and the name in the error.
    static let foreign: [(object: String, sql: String)] = [
        ("t", #"CREATE TRIGGER "t" AFTER INSERT ON "Book" BEGIN DELETE FROM "Book"; END"#),
        ("t", #"CREATE TRIGGER "t" BEFORE UPDATE ON "_sequence" BEGIN SELECT query_negate(query_like()); END"#),
        ("v", #"CREATE VIEW "v" AS SELECT * FROM "Book""#),
        ("x", #"CREATE TABLE "x" (a)"#),
        ("x", #"CREATE VIRTUAL TABLE "x" USING fts5(a)"#),
        ("i", #"CREATE UNIQUE INDEX "i" ON "Book" ("pages")"#),
        ("Tag", #"DROP TABLE "Tag"; CREATE TABLE "Tag" ("_id" INTEGER PRIMARY KEY, "label" TEXT)"#),
        ("Tag", #"ALTER TABLE "Tag" ADD COLUMN "more" TEXT"#),
        ("_index_Book_author", #"DROP INDEX "_index_Book_author""#),
        ("_rtree_Book_pages_delete", #"DROP TRIGGER "_rtree_Book_pages_delete""#),
        (
            "Book",
            """
            CREATE TABLE "old" AS SELECT * FROM "Book"; DROP TABLE "Book"; \
            CREATE VIEW "Book" AS SELECT * FROM "old"; \
            CREATE TRIGGER "swallow" INSTEAD OF INSERT ON "Book" BEGIN SELECT 1; END
            """
        ),
        (
            "_metadata",
            """
            CREATE TABLE "old" AS SELECT * FROM "_metadata"; DROP TABLE "_metadata"; \
            CREATE VIEW "_metadata" AS WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i FROM n) \
            SELECT "key", "value" FROM "old", n
            """
        ),
        ("_sequence", #"DROP TABLE "_sequence""#),
    ]

    @Test(arguments: foreign.indices)
    func `a foreign object is an error at the next opening, and for containers with the open file`(index: Int) throws {
        let (object, sql) = Self.foreign[index]
        let library = try open()
        try insert(library, "a")
        #expect(try count(library) == 1)
        let other = try Library(url, model: Self.model.get())
        try other.opened().database.write { try $0.execute(sql) }
        // The first of several foreign objects is named.
        let error = #expect(throws: SealedStoreError.self) { try count(library) }
        #expect(error == .foreignSchema(object: object) || error == .foreignSchema(object: "old"))
        #expect(throws: SealedStoreError.self) { try open() }
    }

    @Test func `further indexes that are not unique, statistics and a vacuum are harmless`() throws {
        let library = try open()
        try insert(library, "a")
        try library.opened().database.write {
            try $0.execute(#"CREATE INDEX more ON Book (pages, title) WHERE pages > 2; ANALYZE"#)
        }
        try library.opened().database.writeWithoutTransaction { try $0.execute("VACUUM") }
        try insert(library, "b")
        #expect(try count(library) == 2)
        #expect(try library.check() == [])
        try library.coordinator.removeAllStores()
        let reopened = try open()
        try insert(reopened, "c")
        #expect(try count(reopened) == 3)
        #expect(try reopened.check() == [])
    }

    /// | container  | another program             |
    /// |------------|-----------------------------|
    /// | opens      |                             |
    /// |            | makes a trigger             |
    /// | saves      |                             |
    /// |            | removes the trigger         |
    /// | saves      |                             |
    @Test func `a save fails while a foreign trigger exists`() throws {
        let library = try open()
        let other = try open()
        let trigger = #"CREATE TRIGGER "t" AFTER INSERT ON "Tag" BEGIN DELETE FROM "Tag"; END"#
        try other.opened().database.write { try $0.execute(trigger) }
        library.insert("Tag", ["label": .text("x")])
        #expect(throws: SealedStoreError.foreignSchema(object: "t")) { try library.context.save() }
        #expect(library.context.hasChanges)
        try other.opened().database.write { try $0.execute(#"DROP TRIGGER "t""#) }
        try library.context.save()
        #expect(try library.keys("Tag", nil).count == 1)
        #expect(try library.check() == [])
    }

    @Test func `an insertion that a foreign view discards is an error`() throws {
        let library = try open()
        let opened = try library.opened()
        let tag = library.entity("Tag")
        var rows = RowBatchBuilder()
        rows.begin(key: 1, version: 1, entity: tag.index, slotCount: tag.slotCount)
        let batch = rows.finish()
        #expect(throws: SealedStoreError.notWritten(entity: "Tag")) {
            try opened.database.write { connection in
                try connection.execute(
                    """
                    DROP TABLE "Tag"; CREATE VIEW "Tag" AS SELECT 1 AS "_id", 1 AS "_version", '' AS "label"; \
                    CREATE TRIGGER "swallow" INSTEAD OF INSERT ON "Tag" BEGIN SELECT 1; END
                    """
                )
                var transaction = SaveTransaction(connection, opened)
                try transaction.insert(batch)
            }
        }
        #expect(try library.keys("Tag", nil) == [])
        #expect(try library.check() == [])
    }

    @Test func `the schema cannot call the functions of queries`() throws {
        let library = try open()
        for sql in [
            #"CREATE INDEX "i" ON "Book" (query_uppercase("title"))"#,
            #"CREATE VIEW "v" AS SELECT query_uppercase("title") AS t FROM "Book"; SELECT t FROM "v""#,
            """
            CREATE TRIGGER "t" AFTER INSERT ON "Tag" BEGIN SELECT decimal_sum("label") FROM "Tag"; END; \
            INSERT INTO "Tag" ("label") VALUES ('x')
            """,
        ] {
            #expect(throws: DatabaseError.self) { try library.opened().database.write { try $0.execute(sql) } }
        }
    }
}
