import CSQLCipher
import Foundation

/// Tables of other shapes: three indexes, ten integers, bytes, links of a many-to-many relationship.
extension HandWrittenDatabase {
    private static let identity = #""_id" INTEGER PRIMARY KEY NOT NULL, "_version" INTEGER NOT NULL DEFAULT 1"#

    func createEvents() throws {
        try run(
            """
            CREATE TABLE "Event" (\(Self.identity), "number" INTEGER, "weight" REAL, "name" TEXT, "note" TEXT,
            "date" REAL, "isMarked" INTEGER) STRICT;
            CREATE INDEX "_index_Event_number" ON "Event" ("number"); CREATE INDEX "_index_Event_name" ON "Event" ("name");
            CREATE INDEX "_index_Event_date" ON "Event" ("date")
            """
        )
    }

    func createMeasurements() throws {
        let columns = "abcdefghij".map { #""\#($0)" INTEGER"# }.joined(separator: ", ")
        try run(#"CREATE TABLE "Measurement" (\#(Self.identity), \#(columns)) STRICT"#)
    }

    func createPackets() throws {
        try run(#"CREATE TABLE "Packet" (\#(Self.identity), "number" INTEGER, "content" BLOB) STRICT"#)
    }

    func createArticles() throws {
        try run(
            """
            CREATE TABLE "Article" (\(Self.identity), "title" TEXT) STRICT;
            CREATE TABLE "Tag" (\(Self.identity), "number" INTEGER) STRICT;
            CREATE TABLE "_Article_tags" ("source" INTEGER NOT NULL, "target" INTEGER NOT NULL,
            PRIMARY KEY ("source", "target")) STRICT, WITHOUT ROWID;
            CREATE INDEX "_index_Article_tags_reverse" ON "_Article_tags" ("target", "source")
            """
        )
    }

    // MARK: Insertions

    /// Runs an insertion once for each number below `count`, in one transaction.
    private func insertAll(_ sql: String, _ count: Int, _ bindAndStep: (OpaquePointer, Int) throws -> Void) throws {
        try run("BEGIN IMMEDIATE")
        try withStatement(sql) { statement in
            for number in 0..<count {
                try bindAndStep(statement, number)
                sqlite3_reset(statement)
            }
        }
        try run("COMMIT")
    }

    private func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
    }

    /// Inserts events with the values of ``Event/init(number:)``.
    func insertEvents(_ count: Int) throws {
        try insertAll(#"INSERT INTO "Event" VALUES (?, 1, ?, ?, ?, ?, ?, ?)"#, count) { statement, number in
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            sqlite3_bind_int64(statement, 2, Int64(number))
            sqlite3_bind_double(statement, 3, Double(number) * 0.5)
            var name = "Name number \(number &* 7919 % 1_000_003)"
            var note = "A somewhat longer note for item \(number)"
            sqlite3_bind_double(statement, 6, Double(number &* 104_729 % 1_000_003))
            sqlite3_bind_int64(statement, 7, Int64(number % 2))
            try name.withUTF8 { name in
                try note.withUTF8 { note in
                    csqlcipher_bind_text_static(statement, 4, name.baseAddress, UInt64(name.count))
                    csqlcipher_bind_text_static(statement, 5, note.baseAddress, UInt64(note.count))
                    try step(statement)
                }
            }
        }
    }

    /// Inserts measurements with the values of ``Measurement/init(number:)``.
    func insertMeasurements(_ count: Int) throws {
        let sql = #"INSERT INTO "Measurement" VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"#
        try insertAll(sql, count) { statement, number in
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            for column in 0..<10 { sqlite3_bind_int64(statement, Int32(column + 2), Int64(number + column)) }
            try step(statement)
        }
    }

    /// Inserts packets with the values of ``Packet/init(number:)``.
    func insertPackets(_ count: Int) throws {
        try insertAll(#"INSERT INTO "Packet" VALUES (?, 1, ?, ?)"#, count) { statement, number in
            sqlite3_bind_int64(statement, 1, Int64(number + 1))
            sqlite3_bind_int64(statement, 2, Int64(number))
            try Packet.content(number).withUnsafeBytes { bytes in
                csqlcipher_bind_blob_static(statement, 3, bytes.baseAddress, UInt64(bytes.count))
                try step(statement)
            }
        }
    }

    /// Inserts articles, `tagCount` tags, and the links between them.
    func insertArticles(_ count: Int, tagCount: Int, tagsOfArticle: (Int) -> [Int]) throws {
        try run("BEGIN IMMEDIATE")
        try withStatement(#"INSERT INTO "Tag" VALUES (?, 1, ?)"#) { statement in
            for number in 0..<tagCount {
                sqlite3_bind_int64(statement, 1, Int64(number + 1))
                sqlite3_bind_int64(statement, 2, Int64(number))
                try step(statement)
                sqlite3_reset(statement)
            }
        }
        try withStatement(#"INSERT INTO "Article" VALUES (?, 1, ?)"#) { article in
            try withStatement(#"INSERT INTO "_Article_tags" VALUES (?, ?)"#) { link in
                for number in 0..<count {
                    sqlite3_bind_int64(article, 1, Int64(number + 1))
                    var title = "Article \(number)"
                    try title.withUTF8 { title in
                        csqlcipher_bind_text_static(article, 2, title.baseAddress, UInt64(title.count))
                        try step(article)
                    }
                    sqlite3_reset(article)
                    for tag in tagsOfArticle(number) {
                        sqlite3_bind_int64(link, 1, Int64(number + 1))
                        sqlite3_bind_int64(link, 2, Int64(tag + 1))
                        try step(link)
                        sqlite3_reset(link)
                    }
                }
            }
        }
        try run("COMMIT")
    }

    // MARK: Reading

    /// All events, in the order of their keys.
    func allEvents() throws -> [ItemRow] {
        try all(
            #"SELECT "_id", "number", "weight", "name", "note", "date", "isMarked" FROM "Event" ORDER BY "_id""#,
            row
        )
    }

    /// The events with a number, which has an index.
    func withEventsByNumber(_ body: ((Int) throws -> [ItemRow]) throws -> Void) throws {
        let sql =
            #"SELECT "_id", "number", "weight", "name", "note", "date", "isMarked" FROM "Event" WHERE "number" = ?"#
        try withStatement(sql) { statement in
            try body { number in
                sqlite3_bind_int64(statement, 1, Int64(number))
                defer { sqlite3_reset(statement) }
                var rows: [ItemRow] = []
                while sqlite3_step(statement) == SQLITE_ROW { rows.append(row(statement)) }
                return rows
            }
        }
    }

    /// All measurements, in the order of their keys.
    func allMeasurements() throws -> [MeasurementRow] {
        let sql = #"SELECT "_id", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" FROM "Measurement" ORDER BY "_id""#
        return try all(sql) { statement in
            func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
            return MeasurementRow(
                id: sqlite3_column_int64(statement, 0),
                a: integer(1),
                b: integer(2),
                c: integer(3),
                d: integer(4),
                e: integer(5),
                f: integer(6),
                g: integer(7),
                h: integer(8),
                i: integer(9),
                j: integer(10)
            )
        }
    }

    /// All packets, in the order of their keys.
    func allPackets() throws -> [PacketRow] {
        try all(#"SELECT "_id", "number", "content" FROM "Packet" ORDER BY "_id""#) { statement in
            let bytes = sqlite3_column_blob(statement, 2)
            let count = Int(sqlite3_column_bytes(statement, 2))
            return PacketRow(
                id: sqlite3_column_int64(statement, 0),
                number: Int(sqlite3_column_int64(statement, 1)),
                content: bytes.map { Data(bytes: $0, count: count) } ?? Data()
            )
        }
    }

    /// All articles with their tags, by one ordered statement.
    func articlesWithTags() throws -> [ArticleRow] {
        let sql = """
            SELECT a."_id", a."title", t."_id", t."number" FROM "Article" a JOIN "_Article_tags" l ON l."source" = a."_id"
            JOIN "Tag" t ON t."_id" = l."target" ORDER BY a."_id", t."_id"
            """
        return try withStatement(sql) { statement in
            var articles: [ArticleRow] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                let id = sqlite3_column_int64(statement, 0)
                if articles.last?.id != id { articles.append(ArticleRow(id: id, title: text(statement, 1))) }
                articles[articles.count - 1].tags.append(
                    TagRow(id: sqlite3_column_int64(statement, 2), number: Int(sqlite3_column_int64(statement, 3)))
                )
            }
            return articles
        }
    }

    private func all<Row>(_ sql: String, _ make: (OpaquePointer) -> Row) throws -> [Row] {
        try withStatement(sql) { statement in
            var rows: [Row] = []
            while sqlite3_step(statement) == SQLITE_ROW { rows.append(make(statement)) }
            return rows
        }
    }
}
