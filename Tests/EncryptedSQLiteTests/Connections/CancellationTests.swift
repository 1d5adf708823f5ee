import EncryptedSQLite
import Synchronization
import Testing

/// Interrupted statements, and the errors of failing ones.
@Suite struct CancellationTests {
    /// A query that never ends.
    private static let endless =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    private let database: Database

    init() throws {
        database = try Database(.memory, key: nil)
    }

    /// The number of calls of the interruption condition.
    private final class Questions: Sendable {
        let count = Atomic(0)
    }

    @Test func `a statement can be interrupted, and the connection is usable afterwards`() throws {
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
        #expect(questions.count.load(ordering: .relaxed) == count, "the condition is not evaluated afterwards")
    }

    @Test func `an integer overflow has its own error`() throws {
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
