import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Full-text indexes whose own tables are damaged: each request returns a result, or the error that names the repair.
@Suite struct DamagedFullTextTests {
    private static let damages = [
        "DELETE FROM #data", "DELETE FROM #data WHERE id = 1", "DELETE FROM #data WHERE id = 10",
        "DELETE FROM #data WHERE id > 10", "UPDATE #data SET block = x'' WHERE id = 1",
        "UPDATE #data SET block = x'' WHERE id = 10", "UPDATE #data SET block = x'00' WHERE id = 10",
        "UPDATE #data SET block = x'ffffffffffffffffffff' WHERE id = 1",
        "UPDATE #data SET block = x'ffffffffffffffffffff' WHERE id = 10",
        "UPDATE #data SET block = x'0000000401010001' WHERE id = 10",
        "UPDATE #data SET block = x'' WHERE id > 10", "UPDATE #data SET block = zeroblob(4000) WHERE id > 10",
        "UPDATE #data SET block = x'ffffffffffffffffffff' WHERE id > 10",
        "UPDATE #data SET block = substr(block, 1, length(block) / 2) WHERE id > 10",
        "UPDATE #data SET block = NULL WHERE id > 10", "UPDATE #data SET block = NULL WHERE id = 10",
        "UPDATE #data SET block = 'text' WHERE id > 0", "UPDATE #data SET block = 5 WHERE id > 0",
        "DELETE FROM #idx", "UPDATE #idx SET pgno = 0", "UPDATE #idx SET pgno = 100000",
        "UPDATE #idx SET pgno = NULL", "UPDATE #idx SET pgno = 'x'", "DELETE FROM #docsize",
        "UPDATE #docsize SET sz = x''", "UPDATE #docsize SET sz = NULL", "UPDATE #docsize SET sz = 'abc'",
        "UPDATE #docsize SET sz = x'ffffffffffffffffffff'", "UPDATE #docsize SET id = id + 1000",
        "DELETE FROM #config", "UPDATE #config SET v = 0", "UPDATE #config SET v = 5", "UPDATE #config SET v = 'x'",
        "UPDATE #config SET v = NULL", "INSERT INTO #config VALUES ('pgsz', 1)",
        "INSERT INTO #config VALUES ('rank', 'unknown()')", "INSERT INTO #config VALUES ('rank', 'bm25(')",
        "DROP TABLE #data", "DROP TABLE #idx", "DROP TABLE #docsize", "DROP TABLE #config",
        "INSERT INTO #config VALUES ('hashsize', -4)", "INSERT INTO #config VALUES ('unknown', 1)",
    ]

    private let folder = TemporaryFolder()

    private static func model(_ tokenizer: FullTextTokenizer) throws -> ManagedObjectModel {
        try ManagedObjectModel(entities: [
            EntityDescription(
                "Note",
                attributes: [.init("text", .string), .init("number", .int64)],
                indexes: [FetchIndexDescription(["text"], kind: .fullText(FullTextOptions(tokenizer: tokenizer)))]
            )
        ])
    }

    /// The requests, each with a name.
    private func uses(_ library: Library) throws -> [(String, () throws -> Void)] {
        let note = library.entity("Note")
        let context = library.context
        func search(_ weights: [String: Double] = [:]) -> FetchRequest {
            var request = FetchRequest(note)
            request.search = FullTextSearch("alpha", weights: weights)
            return request
        }
        func contains(_ text: String) -> FetchRequest {
            let condition = QueryExpression.function(
                .localizedContains,
                [library.path("Note", "text"), .literal(.text(text))]
            )
            return FetchRequest(note, predicate: condition)
        }
        return [
            ("search", { _ = try context.fetch(search(), as: ManagedObject.self) }),
            ("weights", { _ = try context.fetchIDs(search(["text": 2])) }),
            ("count", { _ = try context.count(search()) }),
            (
                "excerpts",
                {
                    let excerpts: [FullTextExcerpt] = [.snippet(of: "text"), .highlight(of: "text")]
                    _ = try context.search(search(), excerpts: excerpts, as: ManagedObject.self)
                }
            ),
            ("condition", { _ = try context.fetchIDs(contains("word7")) }),
            (
                "insertion",
                {
                    library.insert("Note", ["text": .text("alpha new"), "number": .integer(0)])
                    try context.save()
                }
            ),
            (
                "update",
                {
                    let first = try context.fetch(FetchRequest(note), as: ManagedObject.self).first
                    first?["text"] = .text("alpha changed")
                    try context.save()
                }
            ),
            (
                "deletion",
                {
                    let objects = try context.fetch(FetchRequest(note), as: ManagedObject.self)
                    for object in objects.prefix(3) { context.delete(object) }
                    try context.save()
                }
            ),
            (
                "batch",
                {
                    _ = try context.execute(
                        BatchUpdateRequest(note, propertiesToUpdate: ["text": .literal(.text("alpha batch"))])
                    )
                }
            ),
        ]
    }

    @Test(arguments: [FullTextTokenizer.unicode61, .trigram])
    func `each damage is answered or named, and a repair removes it`(tokenizer: FullTextTokenizer) throws {
        let original = folder.file("original")
        let library = try Library(original, model: Self.model(tokenizer))
        for number in 0..<300 {
            library.insert("Note", ["text": .text("alpha word\(number) beta\(number * 7)"), "number": .integer(1)])
            if number % 100 == 99 { try library.context.save() }
        }
        try library.context.save()
        let name = try #require(library.opened().schema.indexes.compactMap(\.virtualTable).first).dropFirst().dropLast()
        try library.coordinator.removeAllStores()
        for (number, damage) in Self.damages.enumerated() {
            let file = folder.file("\(number)")
            try FileManager.default.copyItem(at: original, to: file)
            let script = """
                .dbconfig defensive off
                \(EncryptionKey.statementOfTests)
                \(damage.replacing("#", with: "\(name)_"));
                """
            let result = try TestSupport.run("sqlcipher", [file.path], input: script)
            #expect(result.errors == "", Comment(rawValue: damage))
            let library = try Library(file, model: Self.model(tokenizer))
            defer { try? library.coordinator.removeAllStores() }
            for (use, run) in try uses(library) {
                do {
                    try run()
                } catch DatabaseError.damagedIndex {
                } catch {
                    Issue.record("\(damage), \(use): \(error)")
                }
                library.context.reset()
            }
            let comment = Comment(rawValue: damage)
            #expect(throws: Never.self, comment) { try library.check() }
            let store = try #require(try library.store() as? SealedStore)
            #expect(try store.repair().check.problems == [], comment)
            for (use, run) in try uses(library) {
                #expect(throws: Never.self, "\(damage), \(use)") { try run() }
            }
        }
    }
}
