import Foundation
import ObjectGraph
import TestSupport

/// A store in the layout of Core Data: tables, metadata, external values.
struct CoreDataFile {
    let folder: TemporaryFolder
    var url: URL { folder.file("Model.sqlite") }
    var externalFolder: URL { folder.file(".Model_SUPPORT/_EXTERNAL_DATA") }

    static let externalName = "0E9A4C1B-3D0F-4B7E-9E55-7A1F0C2B6D11"

    static func model(hasExternalCovers: Bool = true) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Author",
                attributes: [
                    AttributeDescription("name", .string),
                    AttributeDescription("born", .date, isOptional: true),
                    AttributeDescription("id", .uuid, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("books", to: "Book", .many, inverse: "author", isOrdered: true),
                    RelationshipDescription("friends", to: "Author", .many, inverse: "friends"),
                    RelationshipDescription("awards", to: "Award", .many),
                ]
            ),
            EntityDescription(
                "Book",
                isAbstract: true,
                attributes: [
                    AttributeDescription("title", .string),
                    AttributeDescription("pages", .int32, isOptional: true),
                    AttributeDescription("price", .decimal, isOptional: true),
                    AttributeDescription("isNew", .bool, isOptional: true),
                    AttributeDescription("weight", .float, isOptional: true),
                    AttributeDescription("site", .url, isOptional: true),
                    AttributeDescription("digest", .data, isOptional: true),
                    AttributeDescription("cover", .data, isOptional: true, allowsExternalStorage: hasExternalCovers),
                    AttributeDescription("notes", .composite, isOptional: true),
                ],
                relationships: [
                    RelationshipDescription("author", to: "Author", .one, inverse: "books"),
                    RelationshipDescription("tags", to: "Tag", .many, inverse: "books", isOrdered: true),
                    RelationshipDescription("permit", to: "Permit", .one, inverse: "book"),
                ]
            ),
            EntityDescription(
                "Novel",
                superentity: "Book",
                attributes: [AttributeDescription("level", .int16, isOptional: true)]
            ),
            EntityDescription(
                "Manual",
                superentity: "Book",
                attributes: [AttributeDescription("level", .string, isOptional: true)]
            ),
            EntityDescription(
                "Tag",
                attributes: [AttributeDescription("label", .string)],
                relationships: [RelationshipDescription("books", to: "Book", .many, inverse: "tags")]
            ),
            EntityDescription(
                "Permit",
                attributes: [AttributeDescription("number", .int64)],
                relationships: [RelationshipDescription("book", to: "Book", .one, inverse: "permit")]
            ),
            EntityDescription("Award", attributes: [AttributeDescription("year", .int16)]),
        ])
    }

    /// The tables, in the words of Core Data's own statements.
    static let schema = """
        CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES (1,'Author',0,3), (2,'Award',0,2), (3,'Book',0,4), (4,'Manual',3,0), (5,'Novel',3,0),
            (6,'Permit',0,1), (7,'Tag',0,3), (8,'Ghost',0,1);
        CREATE TABLE ZAUTHOR (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZBORN TIMESTAMP, ZNAME VARCHAR, ZID BLOB);
        CREATE TABLE ZAWARD (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZYEAR INTEGER, Z1AWARDS INTEGER);
        CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISNEW INTEGER, ZPAGES INTEGER,
            ZAUTHOR INTEGER, Z_FOK_AUTHOR INTEGER, ZPERMIT INTEGER, Z6_PERMIT INTEGER, ZLEVEL VARCHAR, ZLEVEL1 INTEGER,
            ZWEIGHT FLOAT, ZPRICE DECIMAL, ZTITLE VARCHAR, ZSITE VARCHAR, ZCOVER BLOB, ZDIGEST BLOB, ZNOTES BLOB,
            ZRETIRED VARCHAR);
        CREATE TABLE ZPERMIT (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER, ZBOOK INTEGER);
        CREATE TABLE ZTAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLABEL VARCHAR);
        CREATE TABLE ZGHOST (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        CREATE TABLE Z_1FRIENDS (Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE));
        CREATE TABLE Z_3TAGS (Z_3BOOKS INTEGER, Z_7TAGS INTEGER, Z_FOK_7TAGS INTEGER, PRIMARY KEY (Z_3BOOKS, Z_7TAGS));
        CREATE INDEX ZBOOK_ZAUTHOR_INDEX ON ZBOOK (ZAUTHOR);
        CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        """

    /// The rows: nulls, extremes, external and inline values.
    static let rows = """
        INSERT INTO ZAUTHOR VALUES (2,1,1,-63114076800.25,'Ann',x'000102030405060708090a0b0c0d0e0f'), (3,1,4,NULL,'',NULL);
        INSERT INTO ZAWARD VALUES (1,2,1,1999,2), (2,2,1,-32768,NULL);
        INSERT INTO ZBOOK (Z_PK,Z_ENT,Z_OPT,ZISNEW,ZPAGES,ZAUTHOR,Z_FOK_AUTHOR,ZPERMIT,Z6_PERMIT,ZLEVEL,ZLEVEL1,ZWEIGHT,ZPRICE,
            ZTITLE,ZSITE,ZCOVER,ZDIGEST,ZNOTES) VALUES
            (1,5,1,1,2147483647,2,2048,1,6,NULL,7,0.1,'12.50','One','https://example.org/1',x'01AABB',x'01AABB','{"a":[1]}'),
            (2,4,1,0,-2147483648,2,1024,NULL,NULL,'easy',NULL,NULL,3,'Two',NULL,
                CAST(x'02' || CAST('\(externalName)' AS BLOB) || x'00' AS BLOB),x'',NULL),
            (4,5,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'Four',NULL,NULL,NULL,NULL);
        INSERT INTO ZPERMIT VALUES (1,6,1,9223372036854775807,1);
        INSERT INTO ZTAG VALUES (1,7,1,'a'), (2,7,1,'b'), (3,7,1,'c');
        INSERT INTO ZGHOST VALUES (1,8,1);
        INSERT INTO Z_1FRIENDS VALUES (2,3), (3,2);
        INSERT INTO Z_3TAGS VALUES (1,1,3072), (1,3,1024), (2,1,1024), (1,2,2048);
        """

    /// Writes a store.
    init(_ folder: TemporaryFolder, extra: String = "") throws {
        self.folder = folder
        let metadata: [String: Any] = [
            "NSStoreType": "SQLite", "NSPersistenceFrameworkVersion": 1_348, "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionHashes": [
                "Author": Data(repeating: 1, count: 32), "Book": Data(repeating: 2, count: 32),
            ],
        ]
        let plist = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let hex = plist.map { String(format: "%02x", $0) }.joined()
        try ForeignFile.run(
            """
            \(Self.schema)
            INSERT INTO Z_METADATA VALUES (1, 'C1B1A5A0-0000-0000-0000-000000000000', x'\(hex)');
            \(Self.rows)
            \(extra)
            """,
            on: url
        )
        try FileManager.default.createDirectory(at: externalFolder, withIntermediateDirectories: true)
        try Data(repeating: 0xCD, count: 200_000).write(to: externalFolder.appending(path: Self.externalName))
    }
}
