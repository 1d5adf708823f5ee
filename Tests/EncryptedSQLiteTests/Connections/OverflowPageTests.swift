import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Values of 9,000 bytes have two overflow pages. If the last one fails its authentication code, SQLCipher returns
/// zeros for it and reports the error only to the next statement.
@Suite struct OverflowPageTests {
    private let folder = TemporaryFolder()
    private let path: String

    private static let pageByteCount = 4096
    /// The page numbers of the value: the page of its row, and its overflow pages.
    private static let pagesOfValue = 3
    private static let value = String((0..<9000).map { Character(Unicode.Scalar(UInt8(33 + $0 % 89))) })

    /// A query whose result depends on the value, with the expected result.
    private struct Question: Sendable {
        let name: String
        let expected: String
        let ask: @Sendable (Database) throws -> String
    }

    private static let questions = [
        Question(name: "text", expected: value) { try $0.string("SELECT value FROM long") },
        Question(name: "bytes", expected: value) { try $0.string("SELECT CAST(value AS BLOB) FROM long") },
        Question(name: "column behind", expected: "7") { try $0.string("SELECT behind FROM long") },
        Question(name: "condition behind", expected: "1") {
            try $0.string("SELECT count(*) FROM long WHERE behind = 7")
        },
        Question(name: "condition", expected: "1") {
            try $0.string("SELECT count(*) FROM long WHERE value LIKE '%\(value.suffix(20).filter(\.isLetter))%'")
        },
        Question(name: "function", expected: "9000") { try $0.string("SELECT length(trim(value, char(0))) FROM long") },
        Question(name: "JSON", expected: "3") {
            try $0.string("SELECT json_extract(object, '$.b') FROM json")
        },
        Question(name: "words", expected: "1") {
            try $0.string("SELECT count(*) FROM words WHERE words MATCH 'word1799'")
        },
        Question(name: "statement that is not cached", expected: value) { database in
            try database.read { connection in
                try connection.withUncachedStatement("SELECT value FROM long") { try $0.step() ? $0.string(at: 0) : "" }
            }
        },
        Question(name: "error of the body", expected: value) { database in
            struct IsWrong: Error {}
            return try database.read { connection in
                try connection.withStatement("SELECT value FROM long") { statement in
                    guard try statement.step(), statement.string(at: 0) == value else { throw IsWrong() }
                    return value
                }
            }
        },
        Question(name: "write transaction", expected: value) { database in
            try database.write { connection in
                try connection.execute("INSERT INTO other VALUES (1)")
                return try connection.string("SELECT value FROM long") ?? ""
            }
        },
        Question(name: "no transaction", expected: value) { database in
            try database.writeWithoutTransaction { try $0.string("SELECT value FROM long") ?? "" }
        },
        Question(name: "snapshot", expected: value) { database in
            let snapshot = try #require(try database.snapshot())
            return try snapshot.perform { try database.string("SELECT value FROM long") }
        },
        Question(name: "several threads", expected: "18000") { database in
            // If no second thread is free in time, nothing is read.
            while true {
                let lengths = try database.readConcurrently(parts: 2) { connection, _ in
                    try connection.integer("SELECT length(trim(value, char(0))) FROM long")
                }
                if let lengths { return String(lengths.compactMap(\.self).reduce(0, +)) }
            }
        },
        Question(name: "update", expected: value) { database in
            try database.write { try $0.execute("UPDATE long SET number = number + 1") }
            return try database.string("SELECT value FROM long")
        },
        Question(name: "copy", expected: value) { database in
            try database.write { try $0.execute("INSERT INTO copy SELECT value FROM long") }
            return try database.string("SELECT value FROM copy")
        },
        Question(name: "copy without transaction", expected: value) { database in
            try database.writeWithoutTransaction { try $0.execute("INSERT INTO copy SELECT value FROM long") }
            return try database.string("SELECT value FROM copy")
        },
        Question(name: "vacuum", expected: value) { database in
            try database.writeWithoutTransaction { try $0.execute("VACUUM") }
            return try database.string("SELECT value FROM long")
        },
    ]

    init() throws {
        path = folder.filePath("store")
        try Self.fill(openSample(path)).close()
    }

    private static func fill(_ database: Database) throws -> Database {
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE long (number INTEGER, value TEXT, behind INTEGER) STRICT;
                CREATE TABLE json (object TEXT) STRICT;
                CREATE TABLE other (number INTEGER) STRICT; CREATE TABLE copy (value TEXT) STRICT;
                CREATE VIRTUAL TABLE words USING fts5(text, content='', columnsize=0);
                """
            )
            let words = (0..<1800).map { "word\($0)" }.joined(separator: " ")
            for (sql, text) in [
                ("INSERT INTO long VALUES (5, ?, 7)", value),
                ("INSERT INTO json VALUES (?)", #"{"a": "\#(String(repeating: "x", count: 9000))", "b": 3}"#),
                ("INSERT INTO words (rowid, text) VALUES (1, ?)", words),
            ] {
                try connection.withStatement(sql) { statement in
                    try statement.bind(text: text, at: 1)
                    try statement.run()
                }
            }
        }
        return database
    }

    /// Runs a query and expects the right result or the error `damaged`.
    private func isRefused(_ question: Question, page: Int, sourceLocation: SourceLocation = #_sourceLocation) -> Bool {
        do {
            let database = try openSample(path)
            defer { try? database.close() }
            let answer = try question.ask(database)
            #expect(
                answer == question.expected,
                "\(question.name), page \(page)",
                sourceLocation: sourceLocation
            )
            return false
        } catch {
            #expect(
                error as? DatabaseError == .damaged(path: path),
                "\(question.name), page \(page): \(error)",
                sourceLocation: sourceLocation
            )
            return true
        }
    }

    @Test func `no result comes from a page of the file that does not verify`() throws {
        let content = try Data(contentsOf: URL(filePath: path))
        for question in Self.questions {
            #expect(!isRefused(question, page: 0), "the sound file")
            try content.write(to: URL(filePath: path))
            var refusals = 0
            for page in 2...content.count / Self.pageByteCount {
                try patch(path, at: (page - 1) * Self.pageByteCount + 200) { $0 ^ 0x10 }
                if isRefused(question, page: page) { refusals += 1 }
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
                try content.write(to: URL(filePath: path))
            }
            #expect(refusals >= Self.pagesOfValue, "\(question.name)")
        }
    }

    @Test func `a page of zeros does not verify`() throws {
        let content = try Data(contentsOf: URL(filePath: path))
        let question = Self.questions[0]
        var refusals = 0
        for page in 2...content.count / Self.pageByteCount {
            var damaged = content
            let start = (page - 1) * Self.pageByteCount
            damaged.replaceSubrange(start..<start + Self.pageByteCount, with: Data(count: Self.pageByteCount))
            try damaged.write(to: URL(filePath: path))
            if isRefused(question, page: page) { refusals += 1 }
        }
        #expect(refusals == Self.pagesOfValue)
    }

    @Test func `no result comes from a page of the log that does not verify`() throws {
        // A second database reads the log of the first.
        let log = path + "-wal"
        let first = try openSample(path)
        defer { try? first.close() }
        try first.write { connection in
            try connection.execute("UPDATE long SET value = substr(value, 2) || '!'")
            try connection.execute("UPDATE long SET value = '!' || value")
        }
        let expected = "!" + String(Self.value.dropFirst()) + "!"
        let readings = Self.questions.filter { $0.expected == Self.value }.prefix(2).map { question in
            Question(name: question.name, expected: expected, ask: question.ask)
        }
        let frames = (try Data(contentsOf: URL(filePath: log)).count - 32) / (24 + Self.pageByteCount)
        for question in readings {
            #expect(!isRefused(question, page: 0), "the sound log")
            var refusals = 0
            for frame in 0..<frames {
                let offset = 32 + frame * (24 + Self.pageByteCount) + 24 + 200
                try patch(log, at: offset) { $0 ^ 0x10 }
                if isRefused(question, page: frame) { refusals += 1 }
                try patch(log, at: offset) { $0 ^ 0x10 }
            }
            #expect(refusals >= 2, "\(question.name)")
        }
    }

    @Test func `the connection that read the page is closed, and the others can read`() throws {
        let content = try Data(contentsOf: URL(filePath: path))
        var refusals = 0
        for page in 2...content.count / Self.pageByteCount {
            try patch(path, at: (page - 1) * Self.pageByteCount + 200) { $0 ^ 0x10 }
            let database = try openSample(path)
            if (try? database.string("SELECT value FROM long")) == nil {
                refusals += 1
                #expect(try database.string("SELECT count(*) FROM copy") == "0")
                #expect(throws: DatabaseError.damaged(path: path)) { try database.string("SELECT value FROM long") }
                #expect(throws: DatabaseError.damaged(path: path)) {
                    try database.write { try $0.execute("INSERT INTO other VALUES (1)") }
                }
            }
            try database.close()
            try content.write(to: URL(filePath: path))
        }
        #expect(refusals == Self.pagesOfValue)
    }
}

extension Database {
    /// The text in the first column of the first row.
    fileprivate func string(_ sql: String) throws -> String { try read { try $0.string(sql) ?? "" } }
}
