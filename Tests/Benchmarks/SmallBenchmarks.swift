import CSQLCipher
import EncryptedSQLite
import Foundation
import SealedData
import Testing

/// Operations on single objects: upserts, fetches by an indexed value, saves of one object.
enum SmallBenchmarks {
    /// A checkpoint follows each 1,000 pages, and both sides shall have the same number of them.
    private static let saves = 730

    static func all(_ bench: Workbench) throws -> [Benchmark] {
        let lookups = min(bench.rows, 5000)
        let events = bench.folder.appending(path: "\(Event.self).store")
        let container = try bench.open(events, for: Event.self)
        let byHand = try HandWrittenDatabase(events, .raw(bench.key), creates: false)
        let aside = try Workbench.furtherConnection(to: events, bench.key)
        return [
            upsert(bench),
            Benchmark(
                operation: "fetch by an indexed value",
                budget: 1.3,
                rows: lookups,
                settle: { try aside.writeWithoutTransaction { _ in } },
                ours: {
                    let context = ModelContext(container)
                    return try nanoseconds {
                        for number in 0..<lookups {
                            let wanted = number &* 7919 % bench.rows
                            let descriptor = FetchDescriptor<Event>(predicate: #Predicate { $0.number == wanted })
                            try #require(try context.fetch(descriptor).count == 1)
                        }
                    }
                },
                baseline: {
                    try nanoseconds {
                        try byHand.withEventsByNumber { find in
                            for number in 0..<lookups {
                                try #require(try find(number &* 7919 % bench.rows).count == 1)
                            }
                        }
                    }
                }
            ),
            save(
                bench,
                "insert one object and save",
                ours: { $0.insert(Item(number: $2)) },
                sql: #"INSERT INTO "Item" VALUES (?, 1, ?, ?, ?, ?, ?, ?)"#,
                bind: { statement, number in bindItem(statement, number) }
            ),
            save(
                bench,
                "change one object and save",
                ours: { $1.weight = Double($2) },
                sql: #"UPDATE "Item" SET "weight" = ?, "_version" = "_version" + 1 WHERE "_id" = 1"#,
                bind: { statement, number in sqlite3_bind_double(statement, 1, Double(number)) }
            ),
        ]
    }

    private static func bindItem(_ statement: OpaquePointer, _ number: Int) {
        let name = "Name number \(number)"
        let note = "A somewhat longer note for item \(number)"
        // The first key is in use.
        sqlite3_bind_int64(statement, 1, Int64(number + 2))
        sqlite3_bind_int64(statement, 2, Int64(number))
        sqlite3_bind_double(statement, 3, Double(number) * 0.5)
        csqlcipher_bind_text_copying(statement, 4, name, UInt64(name.utf8.count))
        csqlcipher_bind_text_copying(statement, 5, note, UInt64(note.utf8.count))
        sqlite3_bind_double(statement, 6, Double(number))
        sqlite3_bind_int64(statement, 7, Int64(number % 2))
    }

    /// Saves in a new file with one item, by both sides.
    private static func save(
        _ bench: Workbench,
        _ operation: String,
        ours change: @escaping (ModelContext, Item, Int) -> Void,
        sql: String,
        bind: @escaping (OpaquePointer, Int) -> Void
    ) -> Benchmark {
        Benchmark(
            operation: operation,
            budget: 1.3,
            rows: saves,
            ours: {
                try bench.withNewFile { file in
                    let context = ModelContext(try bench.open(file))
                    let item = Item(number: -1)
                    context.insert(item)
                    try context.save()
                    try Self.settle(file.deletingLastPathComponent())
                    return try nanoseconds {
                        for number in 0..<saves {
                            change(context, item, number)
                            try context.save()
                        }
                    }
                }
            },
            baseline: {
                try bench.withNewFile { file in
                    let database = try HandWrittenDatabase(file, .raw(bench.key), creates: true)
                    try database.insert(1)
                    try Self.settle(file.deletingLastPathComponent())
                    return try nanoseconds { try database.saveOneByOne(saves, sql, bind) }
                }
            }
        )
    }

    /// Waits until the folder of a new file was last changed some time ago, as in a running app. Before, each save looks
    /// for other files in place of the open ones. The processor stays busy, since an idle one begins slowly.
    private static func settle(_ folder: URL) throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path)
        let modified = try #require(attributes[.modificationDate] as? Date)
        while Date().timeIntervalSince(modified) < 0.05 {}
    }

    /// Inserts tickets whose numbers are in use: they replace the titles of the present ones.
    private static func upsert(_ bench: Workbench) -> Benchmark {
        let count = bench.rows / 10
        return Benchmark(
            operation: "upsert by a unique value",
            budget: 1.3,
            rows: count,
            ours: {
                let context = ModelContext(bench.container)
                return try nanoseconds {
                    for number in 0..<count { context.insert(Ticket(number: number * 10)) }
                    try context.save()
                }
            },
            baseline: { try nanoseconds { try bench.byHand.upsertTickets(count) { $0 * 10 } } }
        )
    }
}

extension HandWrittenDatabase {
    /// Runs a statement `count` times, each in a transaction of its own.
    fileprivate func saveOneByOne(_ count: Int, _ sql: String, _ bind: (OpaquePointer, Int) -> Void) throws {
        try withStatement("BEGIN IMMEDIATE") { begin in
            try withStatement("COMMIT") { commit in
                try withStatement(sql) { statement in
                    for number in 0..<count {
                        try step(begin)
                        bind(statement, number)
                        try step(statement)
                        try step(commit)
                    }
                }
            }
        }
    }

    /// Inserts tickets, or replaces the titles of those with the same numbers.
    fileprivate func upsertTickets(_ count: Int, _ number: (Int) -> Int) throws {
        let sql = """
            INSERT INTO "Ticket" ("_id", "_version", "number", "title") VALUES (NULL, 1, ?, ?)
            ON CONFLICT ("number") DO UPDATE SET "title" = excluded."title", "_version" = "_version" + 1
            """
        try run("BEGIN IMMEDIATE")
        try withStatement(sql) { statement in
            for index in 0..<count {
                sqlite3_bind_int64(statement, 1, Int64(number(index)))
                var title = "Ticket \(number(index))"
                try title.withUTF8 { title in
                    csqlcipher_bind_text_static(statement, 2, title.baseAddress, UInt64(title.count))
                    try step(statement)
                }
            }
        }
        try run("COMMIT")
    }

    private func step(_ statement: OpaquePointer) throws {
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Failure() }
        sqlite3_reset(statement)
    }
}
