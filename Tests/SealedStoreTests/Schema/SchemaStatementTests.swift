import Foundation
import ObjectGraph
@testable import SealedStore
import Testing

@Suite struct SchemaStatementTests {
    private func statements(_ entities: EntityDescription...) throws -> [String] {
        Array(SchemaStatements(StoreSchema(model: try ManagedObjectModel(entities: entities))).all.dropFirst(2))
    }

    @Test func `an entity is a strict table with a column for each attribute`() throws {
        let statements = try statements(
            EntityDescription(
                "Item",
                attributes: [
                    AttributeDescription("count", .int32), AttributeDescription("weight", .double),
                    AttributeDescription("name", .string), AttributeDescription("id", .uuid),
                    AttributeDescription("price", .decimal), AttributeDescription("made", .date),
                    AttributeDescription("extra", .composite),
                ]
            )
        )
        #expect(
            statements == [
                #"CREATE TABLE "Item" ("_id" INTEGER PRIMARY KEY NOT NULL, "_version" INTEGER NOT NULL DEFAULT 1, "#
                    + #""count" INTEGER, "weight" REAL, "name" TEXT, "id" BLOB, "price" BLOB, "made" REAL, "#
                    + #""extra" TEXT) STRICT"#
            ]
        )
    }

    @Test func `a to-one relationship is an indexed column`() throws {
        let statements = try statements(
            EntityDescription("Book", relationships: [RelationshipDescription("author", to: "Author", .one)]),
            EntityDescription("Author")
        )
        #expect(statements.contains { $0.contains(#"CREATE TABLE "Book""#) && $0.contains(#""author" INTEGER"#) })
        #expect(statements.contains { $0.hasSuffix(#"ON "Book" ("author")"#) })
    }

    @Test func `a many-to-many relationship has one table for both directions`() throws {
        let statements = try statements(
            EntityDescription(
                "Book",
                relationships: [RelationshipDescription("tags", to: "Tag", .many, inverse: "books")]
            ),
            EntityDescription(
                "Tag",
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "tags")]
            )
        )
        let tables = statements.filter { $0.contains("WITHOUT ROWID") }
        #expect(
            tables == [
                #"CREATE TABLE "_Book_tags" ("source" INTEGER NOT NULL, "target" INTEGER NOT NULL, "#
                    + #"PRIMARY KEY ("source", "target")) STRICT, WITHOUT ROWID"#
            ]
        )
        #expect(statements.contains { $0.hasSuffix(#"ON "_Book_tags" ("target", "source")"#) })
    }

    @Test func `subentities share the table of their root`() throws {
        let statements = try statements(
            EntityDescription("Animal", attributes: [AttributeDescription("name", .string)]),
            EntityDescription("Dog", superentity: "Animal", attributes: [AttributeDescription("breed", .string)])
        )
        #expect(
            statements == [
                #"CREATE TABLE "Animal" ("_id" INTEGER PRIMARY KEY NOT NULL, "_entity" INTEGER NOT NULL, "#
                    + #""_version" INTEGER NOT NULL DEFAULT 1, "name" TEXT, "breed" TEXT) STRICT"#
            ]
        )
    }

    @Test func `colliding names are renamed`() throws {
        let schema = StoreSchema(
            model: try ManagedObjectModel(entities: [
                EntityDescription(
                    "select",
                    attributes: [
                        AttributeDescription("Name", .string), AttributeDescription("name", .string),
                        AttributeDescription("_id", .int64), AttributeDescription("a\"b", .string),
                        AttributeDescription("日本", .string),
                    ]
                ),
                EntityDescription("SELECT"), EntityDescription("_metadata"), EntityDescription("sqlite_x"),
            ])
        )
        #expect(schema.tables.map(\.name) == [#""select""#, #""SELECT_2""#, #""x_metadata""#, #""xsqlite_x""#])
        #expect(
            schema.tables[0].columns.map(\.name) == [
                #""Name""#, #""name_2""#, #""x_id""#, #""a""b""#, #""日本""#,
            ]
        )
    }
}
