import EncryptedSQLite
import TestSupport
import Testing

@Suite struct StatementCacheTests {
    struct Refusal: Error {}

    let folder = TemporaryFolder()
    let database: Database

    init() throws {
        database = try openSample(folder.filePath("store"), options: sampleOptions { $0.statementCacheLimit = 3 })
        try database.write { try insert(1...10, into: $0) }
    }

    private func difference(_ body: (Connection) throws -> Void) throws -> DatabaseStatistics {
        try database.read { connection in
            let before = database.statistics
            try body(connection)
            return database.statistics - before
        }
    }

    @Test func `a statement is compiled once and run many times`() throws {
        let statistics = try difference { connection in
            for _ in 0..<5 { _ = try connection.itemCount() }
        }
        #expect(statistics.statementsPrepared == 1)
        #expect(statistics.statementsRun == 5)
    }

    @Test func `statistics count every run, not every row`() throws {
        let statistics = try difference { connection in
            try connection.withStatement("SELECT * FROM item") { statement in
                for _ in 0..<3 {
                    while try statement.step() {}
                    statement.reset()
                }
            }
        }
        #expect(statistics.statementsRun == 3)
    }

    @Test func `transactions are not counted as statements`() throws {
        let before = database.statistics
        try database.write { try $0.execute("DELETE FROM item WHERE _id = 1; DELETE FROM item WHERE _id = 2;") }
        let statistics = database.statistics - before
        #expect(statistics.statementsRun == 2)
        #expect(statistics.transactionsCommitted == 1)
    }

    @Test func `a statement in use is not shared`() throws {
        try database.read { connection in
            let sql = SQLText("SELECT _id FROM item ORDER BY _id")
            var pairs = 0
            try connection.withStatement(sql) { outer in
                while try outer.step() {
                    try connection.withStatement(sql) { inner in
                        _ = try inner.step()
                        let first = inner.integer(at: 0)
                        #expect(first == 1)
                    }
                    pairs += 1
                }
            }
            #expect(pairs == 10)
        }
    }

    @Test func `bindings and rows do not survive a use, even if it throws`() throws {
        try database.read { connection in
            let sql = "SELECT ?"
            #expect(throws: Refusal.self) {
                try connection.withStatement(sql) { statement in
                    try statement.bind(7 as Int64, at: 1)
                    _ = try statement.step()
                    throw Refusal()
                }
            }
            try connection.withStatement(sql) { statement in
                _ = try statement.step()
                let isUnbound = statement.isNull(at: 0)
                #expect(isUnbound)
            }
        }
    }

    @Test func `the least recently used statement is evicted`() throws {
        let statistics = try difference { connection in
            for number in [1, 2, 3, 1, 4, 1, 3, 4] { _ = try connection.integer("SELECT \(number)") }
        }
        #expect(statistics.statementsPrepared == 4, "4 takes the place of 2")
    }

    @Test func `a cached statement follows a change of the schema`() throws {
        #expect(try database.read { try $0.itemCount() } == 10)
        try database.write { try $0.execute("ALTER TABLE item ADD COLUMN more TEXT") }
        #expect(try database.read { try $0.itemCount() } == 10)
    }

    @Test func `a text without a statement is refused`() throws {
        #expect(databaseError { try database.read { try $0.integer(" -- nothing") } } != nil)
    }

    @Test func `execute runs many statements`() throws {
        try database.write { connection in
            try connection.execute("DELETE FROM item; ; INSERT INTO item VALUES (1, 'a;b'); -- the end")
            #expect(connection.changes == 1)
            #expect(try connection.integer("SELECT last_insert_rowid()") == 1)
        }
        #expect(try database.read { try $0.string("SELECT name FROM item") } == "a;b")
    }
}
