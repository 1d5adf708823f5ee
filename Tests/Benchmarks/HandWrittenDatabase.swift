import CSQLCipher
import EncryptedSQLite
import Foundation

/// The table of items on SQLCipher's C API, in expert code: statements prepared once, texts bound without a copy, one
/// transaction; the same file format, key and settings as the package.
final class HandWrittenDatabase {
    private let handle: OpaquePointer

    /// The key of the file in SQLCipher's notation.
    struct Key {
        fileprivate let specification: String

        static func raw(_ bytes: [UInt8]) -> Key {
            Key(specification: "x'" + bytes.map { String(format: "%02x", $0) }.joined() + "'")
        }

        static func passphrase(_ text: String) -> Key { Key(specification: text) }
    }

    init(_ url: URL, _ key: Key, creates: Bool) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        guard sqlite3_open_v2(url.path, &handle, flags, nil) == SQLITE_OK, let handle else { throw Failure() }
        self.handle = handle
        let specification = key.specification
        sqlite3_key_v2(handle, "main", specification, Int32(specification.utf8.count))
        try run(
            """
            PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA cache_size = -\(Database.Options.suitableCacheKilobytes)
            """
        )
        if creates {
            try run(
                """
                CREATE TABLE "Item" ("_id" INTEGER PRIMARY KEY NOT NULL, "_version" INTEGER NOT NULL DEFAULT 1,
                "number" INTEGER, "weight" REAL, "name" TEXT, "note" TEXT, "date" REAL, "isMarked" INTEGER) STRICT
                """
            )
        }
    }

    struct Failure: Error {}

    deinit {
        sqlite3_close(handle)
    }

    /// Rebuilds the table of items without a column, and writes the log back.
    func removeMark() throws {
        try run(
            """
            BEGIN IMMEDIATE;
            CREATE TABLE "_migration" ("_id" INTEGER PRIMARY KEY NOT NULL, "_version" INTEGER NOT NULL DEFAULT 1,
            "number" INTEGER, "weight" REAL, "name" TEXT, "note" TEXT, "date" REAL) STRICT;
            INSERT INTO "_migration" SELECT "_id", "_version", "number", "weight", "name", "note", "date" FROM "Item";
            DROP TABLE "Item"; ALTER TABLE "_migration" RENAME TO "Item"; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)
            """
        )
    }

    func run(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw Failure() }
    }

    func withStatement<R>(_ sql: String, _ body: (OpaquePointer) throws -> R) throws -> R {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw Failure() }
        defer { sqlite3_finalize(statement) }
        return try body(statement)
    }

    /// Inserts `count` items with the values of ``Item/init(number:)``.
    func insert(_ count: Int) throws {
        try run("BEGIN IMMEDIATE")
        try withStatement(#"INSERT INTO "Item" VALUES (?, 1, ?, ?, ?, ?, ?, ?)"#) { statement in
            for number in 0..<count {
                sqlite3_bind_int64(statement, 1, Int64(number + 1))
                sqlite3_bind_int64(statement, 2, Int64(number))
                sqlite3_bind_double(statement, 3, Double(number) * 0.5)
                var name = "Name number \(number)"
                var note = "A somewhat longer note for item \(number)"
                sqlite3_bind_double(statement, 6, Double(number))
                sqlite3_bind_int64(statement, 7, Int64(number % 2))
                try name.withUTF8 { name in
                    try note.withUTF8 { note in
                        csqlcipher_bind_text_static(statement, 4, name.baseAddress, UInt64(name.count))
                        csqlcipher_bind_text_static(statement, 5, note.baseAddress, UInt64(note.count))
                        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                    }
                }
                sqlite3_reset(statement)
            }
        }
        try run("COMMIT")
    }

    private static let columns = #""_id", "number", "weight", "name", "note", "date", "isMarked""#

    func row(_ statement: OpaquePointer) -> ItemRow {
        ItemRow(
            id: sqlite3_column_int64(statement, 0),
            number: Int(sqlite3_column_int64(statement, 1)),
            weight: sqlite3_column_double(statement, 2),
            name: text(statement, 3),
            note: text(statement, 4),
            date: Date(timeIntervalSinceReferenceDate: sqlite3_column_double(statement, 5)),
            isMarked: sqlite3_column_int64(statement, 6) != 0
        )
    }

    func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        let bytes = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// All items in the order of their keys.
    func all() throws -> [ItemRow] {
        try withStatement(#"SELECT \#(Self.columns) FROM "Item" ORDER BY "_id""#) { statement in
            var rows: [ItemRow] = []
            while sqlite3_step(statement) == SQLITE_ROW { rows.append(row(statement)) }
            return rows
        }
    }

    /// Marked items whose note contains a text, heaviest first, at most `limit`.
    func marked(containing part: String, limit: Int) throws -> [ItemRow] {
        let sql = """
            SELECT \(Self.columns) FROM "Item" WHERE "isMarked" = 1 AND instr("note", ?) > 0
            ORDER BY "weight" DESC, "_id" LIMIT ?
            """
        return try withStatement(sql) { statement in
            csqlcipher_bind_text_copying(statement, 1, part, UInt64(part.utf8.count))
            sqlite3_bind_int64(statement, 2, Int64(limit))
            var rows: [ItemRow] = []
            while sqlite3_step(statement) == SQLITE_ROW { rows.append(row(statement)) }
            return rows
        }
    }

    /// Calls `body` with a function that finds a ticket by its number.
    func withTicketByNumber(_ body: ((Int) throws -> (id: Int64, number: Int, title: String)?) throws -> Void) throws {
        try withStatement(#"SELECT "_id", "number", "title" FROM "Ticket" WHERE "number" = ?"#) { statement in
            try body { number in
                sqlite3_bind_int64(statement, 1, Int64(number))
                defer { sqlite3_reset(statement) }
                guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
                return (
                    sqlite3_column_int64(statement, 0), Int(sqlite3_column_int64(statement, 1)), text(statement, 2)
                )
            }
        }
    }

    func count() throws -> Int {
        try withStatement(#"SELECT count(*) FROM "Item""#) { statement in
            sqlite3_step(statement)
            return Int(sqlite3_column_int64(statement, 0))
        }
    }

    /// Inverts the mark of all items.
    func toggleAll() throws {
        let ids = try withStatement(#"SELECT "_id", "isMarked" FROM "Item""#) { statement in
            var ids: [(Int64, Int64)] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                ids.append((sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1)))
            }
            return ids
        }
        try run("BEGIN IMMEDIATE")
        try withStatement(#"UPDATE "Item" SET "isMarked" = ?, "_version" = "_version" + 1 WHERE "_id" = ?"#) {
            statement in
            for (id, isMarked) in ids {
                sqlite3_bind_int64(statement, 1, 1 - isMarked)
                sqlite3_bind_int64(statement, 2, id)
                guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                sqlite3_reset(statement)
            }
        }
        try run("COMMIT")
    }

    // MARK: Aggregates

    /// Whether there are items.
    func hasItems() throws -> Bool {
        try withStatement(#"SELECT 1 FROM "Item" LIMIT 1"#) { sqlite3_step($0) == SQLITE_ROW }
    }

    func sumAndAverage() throws -> (sum: Int, average: Double) {
        try withStatement(#"SELECT sum("number"), avg("weight") FROM "Item""#) { statement in
            guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure() }
            return (Int(sqlite3_column_int64(statement, 0)), sqlite3_column_double(statement, 1))
        }
    }

    func groups() throws -> [(isMarked: Bool, count: Int, sum: Int)] {
        let sql = #"SELECT "isMarked", count(*), sum("number") FROM "Item" GROUP BY "isMarked" ORDER BY 1"#
        return try withStatement(sql) { statement in
            var groups: [(Bool, Int, Int)] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                groups.append(
                    (
                        sqlite3_column_int64(statement, 0) != 0, Int(sqlite3_column_int64(statement, 1)),
                        Int(sqlite3_column_int64(statement, 2))
                    )
                )
            }
            return groups
        }
    }

    // MARK: Relationships

    /// All books with the names of their authors, by one join.
    func booksWithAuthors() throws -> [BookRow] {
        let sql = """
            SELECT b."_id", b."title", b."pages", a."name"
            FROM "Book" b LEFT JOIN "Author" a ON a."_id" = b."author" ORDER BY b."_id"
            """
        return try withStatement(sql) { statement in
            var books: [BookRow] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                books.append(
                    BookRow(
                        id: sqlite3_column_int64(statement, 0),
                        title: text(statement, 1),
                        pages: Int(sqlite3_column_int64(statement, 2)),
                        authorName: text(statement, 3)
                    )
                )
            }
            return books
        }
    }

    /// All authors with their books, by one ordered statement.
    func authorsWithBooks() throws -> [AuthorRow] {
        let sql = """
            SELECT a."_id", a."name", b."_id", b."title", b."pages"
            FROM "Author" a JOIN "Book" b ON b."author" = a."_id" ORDER BY a."_id", b."_id"
            """
        return try withStatement(sql) { statement in
            var authors: [AuthorRow] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                let id = sqlite3_column_int64(statement, 0)
                if authors.last?.id != id { authors.append(AuthorRow(id: id, name: text(statement, 1))) }
                authors[authors.count - 1].books.append(
                    BookRow(
                        id: sqlite3_column_int64(statement, 2),
                        title: text(statement, 3),
                        pages: Int(sqlite3_column_int64(statement, 4))
                    )
                )
            }
            return authors
        }
    }

    /// Deletes all authors with their books, one by one, as a program with a list of authors does.
    func deleteAllAuthors() throws {
        let ids = try withStatement(#"SELECT "_id" FROM "Author" ORDER BY "_id""#) { statement in
            var ids: [Int64] = []
            while sqlite3_step(statement) == SQLITE_ROW { ids.append(sqlite3_column_int64(statement, 0)) }
            return ids
        }
        try run("BEGIN IMMEDIATE")
        try withStatement(#"DELETE FROM "Book" WHERE "author" = ?"#) { books in
            try withStatement(#"DELETE FROM "Author" WHERE "_id" = ?"#) { author in
                for id in ids {
                    for statement in [books, author] {
                        sqlite3_bind_int64(statement, 1, id)
                        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                        sqlite3_reset(statement)
                    }
                }
            }
        }
        try run("COMMIT")
    }
}
