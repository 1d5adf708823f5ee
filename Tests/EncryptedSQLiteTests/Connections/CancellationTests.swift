import EncryptedSQLite
import Synchronization
import Testing

/// Statements that are ended before they are done, and those that fail by their own doing.
@Suite struct CancellationTests {
    /// Counts without end.
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    private let database: Database

    init() throws {
        database = try Database(.memory, key: nil)
    }

    /// How often SQLite has asked.
    private final class Questions: Sendable {
        let count = Atomic(0)
    }

    @Test func `a statement ends when it is not wanted any more, and the connection goes on`() throws {
        let questions = Questions()
        let error = databaseError {
            try database.read { connection in
                try connection.interruptible(when: { questions.count.wrappingAdd(1, ordering: .relaxed).newValue > 100 }
                ) {
                    try connection.withStatement(Self.endless) { _ = try $0.step() }
                }
            }
        }
        #expect(error == .interrupted)
        let count = questions.count.load(ordering: .relaxed)
        let answer = try database.read { connection in
            try connection.withStatement(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 50000) SELECT count(*) FROM n"
            ) { try $0.step() ? $0.integer(at: 0) : 0 }
        }
        #expect(answer == 50_000)
        #expect(questions.count.load(ordering: .relaxed) == count, "nobody asks afterwards")
    }

    @Test func `an integer that becomes too large is told from other errors`() throws {
        let error = databaseError {
            try database.read { connection in
                try connection.withStatement(
                    "SELECT sum(column1) FROM (VALUES (9223372036854775807), (1))"
                ) { _ = try $0.step() }
            }
        }
        #expect(error == .integerOverflow)
    }
}
