import CSQLCipher
import Foundation
import SealedData
import Testing

/// Counts by conditions that no index answers.
enum ConditionBenchmarks {
    static func all(_ bench: Workbench) -> [Benchmark] {
        let (part, prefix) = ("99", "Author number 1")
        return [
            count(
                bench,
                "count by a condition over a relationship",
                budget: 1.2,
                FetchDescriptor<Book>(predicate: #Predicate { $0.author?.name.starts(with: prefix) == true }),
                """
                SELECT count(*) FROM "Book" b JOIN "Author" a ON a."_id" = b."author"
                WHERE substr(a."name", 1, 15) = ?
                """,
                prefix
            ),
            count(
                bench,
                "count by contains",
                budget: 1.2,
                FetchDescriptor<Item>(predicate: #Predicate { $0.note.contains(part) }),
                #"SELECT count(*) FROM "Item" WHERE instr("note", ?) > 0"#,
                part
            ),
            count(
                bench,
                "count by localizedStandardContains",
                budget: 2,
                FetchDescriptor<Item>(predicate: #Predicate { $0.note.localizedStandardContains(part) }),
                #"SELECT count(*) FROM "Item" WHERE "note" LIKE ?"#,
                "%\(part)%"
            ),
        ]
    }

    private static func count<Model: PersistentModel>(
        _ bench: Workbench,
        _ operation: String,
        budget: Double,
        _ descriptor: FetchDescriptor<Model>,
        _ sql: String,
        _ argument: String
    ) -> Benchmark {
        var counts = (ours: 0, byHand: 0)
        return Benchmark(
            operation: operation,
            budget: budget,
            rows: bench.rows,
            ours: {
                let context = ModelContext(bench.container)
                let time = try nanoseconds { counts.ours = try context.fetchCount(descriptor) }
                try #require(counts.ours == counts.byHand)
                return time
            },
            baseline: {
                let time = try nanoseconds { counts.byHand = try bench.byHand.count(sql, argument) }
                try #require(counts.byHand > 0)
                return time
            }
        )
    }
}

extension HandWrittenDatabase {
    /// The result of a statement that counts rows by a text.
    fileprivate func count(_ sql: String, _ argument: String) throws -> Int {
        try withStatement(sql) { statement in
            csqlcipher_bind_text_copying(statement, 1, argument, UInt64(argument.utf8.count))
            guard sqlite3_step(statement) == SQLITE_ROW else { throw Failure() }
            return Int(sqlite3_column_int64(statement, 0))
        }
    }
}
