import Foundation
import GRDBSQLite

/// Handwritten code on the C API, on an encrypted file or, to measure the cost of encryption, on a plain one.
struct HandWrittenParticipant: Participant {
    let isEncrypted: Bool
    var name: String { isEncrypted ? "C API" : "C API, plain" }

    private struct Failure: Error {}

    private struct ItemRow {
        var id: Int64
        var number: Int
        var weight: Double
        var name: String
        var note: String
        var date: Double
        var isMarked: Bool
    }

    private func withDatabase<R>(_ file: URL, _ body: (OpaquePointer) throws -> R) throws -> R {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_CREATE
        guard sqlite3_open_v2(file.path, &handle, flags, nil) == SQLITE_OK, let handle else { throw Failure() }
        defer { sqlite3_close(handle) }
        if isEncrypted { try run("PRAGMA key = \"\(keySpecification)\"", on: handle) }
        try run(
            """
            PRAGMA temp_store = MEMORY; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
            PRAGMA cache_size = -65536;
            CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY, number INTEGER NOT NULL, weight REAL NOT NULL,
            name TEXT NOT NULL, note TEXT NOT NULL, date REAL NOT NULL, isMarked INTEGER NOT NULL);
            CREATE TABLE IF NOT EXISTS integers (i0 INTEGER, i1 INTEGER, i2 INTEGER, i3 INTEGER, i4 INTEGER,
            i5 INTEGER, i6 INTEGER, i7 INTEGER, i8 INTEGER, i9 INTEGER)
            """,
            on: handle
        )
        return try body(handle)
    }

    private func run(_ sql: String, on handle: OpaquePointer) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw Failure() }
    }

    private func withStatement(_ sql: String, on handle: OpaquePointer, _ body: (OpaquePointer) throws -> Void) throws {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK, let statement else { throw Failure() }
        defer { sqlite3_finalize(statement) }
        try body(statement)
    }

    private func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        let bytes = sqlite3_column_text(statement, column)
        return String(
            decoding: UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))),
            as: UTF8.self
        )
    }

    func insertItems(_ count: Int, into file: URL) throws -> UInt64 {
        try withDatabase(file) { handle in
            try nanoseconds {
                try run("BEGIN IMMEDIATE", on: handle)
                let sql = "INSERT INTO item (number, weight, name, note, date, isMarked) VALUES (?, ?, ?, ?, ?, ?)"
                try withStatement(sql, on: handle) { statement in
                    for number in 0..<count {
                        let values = ItemValues(number: number)
                        var (name, note) = (values.name, values.note)
                        sqlite3_bind_int64(statement, 1, Int64(number))
                        sqlite3_bind_double(statement, 2, values.weight)
                        sqlite3_bind_double(statement, 5, values.date)
                        sqlite3_bind_int(statement, 6, values.isMarked ? 1 : 0)
                        try name.withUTF8 { name in
                            try note.withUTF8 { note in
                                try name.withMemoryRebound(to: CChar.self) { name in
                                    try note.withMemoryRebound(to: CChar.self) { note in
                                        sqlite3_bind_text(statement, 3, name.baseAddress, Int32(name.count), nil)
                                        sqlite3_bind_text(statement, 4, note.baseAddress, Int32(note.count), nil)
                                        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                                    }
                                }
                            }
                        }
                        sqlite3_reset(statement)
                    }
                }
                try run("COMMIT", on: handle)
            }
        }
    }

    private func items(_ handle: OpaquePointer) throws -> [ItemRow] {
        var items: [ItemRow] = []
        try withStatement("SELECT * FROM item ORDER BY id", on: handle) { statement in
            while sqlite3_step(statement) == SQLITE_ROW {
                items.append(
                    ItemRow(
                        id: sqlite3_column_int64(statement, 0),
                        number: Int(sqlite3_column_int64(statement, 1)),
                        weight: sqlite3_column_double(statement, 2),
                        name: text(statement, 3),
                        note: text(statement, 4),
                        date: sqlite3_column_double(statement, 5),
                        isMarked: sqlite3_column_int(statement, 6) != 0
                    )
                )
            }
        }
        return items
    }

    func fetchItems(from file: URL) throws -> UInt64 {
        try withDatabase(file) { handle in
            try nanoseconds {
                let items = try items(handle)
                try expect(items.last?.number == items.count - 1)
            }
        }
    }

    func changeItems(of file: URL) throws -> UInt64 {
        try withDatabase(file) { handle in
            try nanoseconds {
                try run("BEGIN IMMEDIATE", on: handle)
                let items = try items(handle)
                try withStatement("UPDATE item SET isMarked = ? WHERE id = ?", on: handle) { statement in
                    for item in items {
                        sqlite3_bind_int(statement, 1, item.isMarked ? 0 : 1)
                        sqlite3_bind_int64(statement, 2, item.id)
                        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                        sqlite3_reset(statement)
                    }
                }
                try run("COMMIT", on: handle)
            }
        }
    }

    func insertIntegers(_ count: Int, into file: URL) throws -> UInt64 {
        try withDatabase(file) { handle in
            try nanoseconds {
                try run("BEGIN IMMEDIATE", on: handle)
                let sql = "INSERT INTO integers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                try withStatement(sql, on: handle) { statement in
                    for number in 0..<count {
                        for index in 0..<10 { sqlite3_bind_int64(statement, Int32(index + 1), Int64(number + index)) }
                        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
                        sqlite3_reset(statement)
                    }
                }
                try run("COMMIT", on: handle)
            }
        }
    }

    func fetchIntegers(from file: URL) throws -> UInt64 {
        try withDatabase(file) { handle in
            try nanoseconds {
                var sum = 0
                try withStatement("SELECT * FROM integers", on: handle) { statement in
                    while sqlite3_step(statement) == SQLITE_ROW {
                        for index in 0..<10 { sum &+= Int(sqlite3_column_int64(statement, Int32(index))) }
                    }
                }
                try expect(sum > 0)
            }
        }
    }
}
