import EncryptedSQLite
public import Foundation
import ObjectGraph

extension SealedStore {
    /// Reads the whole store and finds its problems: damaged pages of the file and its log, indexes that differ from
    /// their tables, and content that violates the model.
    ///
    /// The check reads one state of the file, and changes nothing; other connections may write. Only the words of
    /// full-text indexes are compared with the texts afterwards, in a write transaction that writes nothing, and not in
    /// a store that is open for reading only.
    ///
    /// - Parameter progress: Counts to 1,000. It can be cancelled.
    /// - Returns: The report. Damage is a result, not an error.
    /// - Throws: `DatabaseError` if the check itself fails; `CancellationError`.
    /// - Complexity: O(*n* log *n*) in the number of rows: each page and each row is read a few times. Memory is
    ///   bounded but for ordered relationships, whose positions are sorted (some 30 bytes for each member).
    public func check(progress: Progress? = nil) throws -> StoreReport { try opened.check(WorkProgress(progress)) }

    /// The problems that ``check(progress:)`` finds.
    package func check() throws -> [StoreProblem] { try check(progress: nil).problems }
}

extension OpenStore {
    /// Every problem of the store; see ``SealedStore/check(progress:)``.
    func check(_ progress: WorkProgress) throws -> StoreReport {
        var pages = PageReport()
        do {
            pages = try database.verifyPages { done, all in try progress.show(400 * done / all) }
            var problems = pages.problems
            var comparesWords = canCompareWords
            // The content of damaged pages is unknown, so that its check would prove nothing.
            if pages.damagedPageCount == 0 { problems += try checkContent(progress, &comparesWords) }
            try progress.show(1000)
            var report = StoreReport(
                problems: problems,
                pageCount: pages.pageCount,
                logPageCount: pages.logFrameCount,
                uncheckedIndexes: comparesWords ? [] : fileSchema.indexes.filter(\.isFullText).map(\.place.description)
            )
            if pages.damagedPageCount == 0 { report.setAside = try setAside() }
            return report
        } catch DatabaseError.damaged {
            return StoreReport(
                problems: pages.problems + [StoreProblem(.damage("a page cannot be read"))],
                pageCount: pages.pageCount,
                logPageCount: pages.logFrameCount
            )
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }

    /// Comparing the words of an index counts as a write.
    private var canCompareWords: Bool { !description.isReadOnly }

    /// - Parameter comparesWords: Whether the words of full-text indexes are compared; becomes false if another process
    ///   writes for so long that they cannot be.
    private func checkContent(_ progress: WorkProgress, _ comparesWords: inout Bool) throws -> [StoreProblem] {
        let problems = try database.read { connection in
            try progress.interrupting(connection) {
                let schema = try schemaOfFile(on: connection)
                let entityNames = checkedEntityNames(schema)
                let indexes = IndexCheck(connection, schema, entityNames: entityNames)
                var problems: [StoreProblem] = []
                do {
                    try indexes.refresh()
                    try progress.show(400)
                    let damage = try Self.damage(found: connection, schema.indexes)
                    guard damage.isEmpty else { return damage }
                    try progress.show(600)
                    problems += try ContentCheck(
                        connection,
                        schema,
                        entityNames: entityNames,
                        numbered: self.schema.model
                    )
                    .problems { try progress.show(600 + Int(300 * $0)) }
                    problems += try indexes.problems()
                } catch DatabaseError.damagedIndex {
                    problems += try indexes.unreadable()
                }
                for feature in StoreFeatures.all { problems += try feature.problems(schema, on: connection) }
                return problems
            }
        }
        try progress.show(900)
        guard problems.isEmpty, comparesWords else { return problems }
        do {
            return try mismatchedTexts(progress)
        } catch DatabaseError.busy {
            comparesWords = false
            return []
        }
    }

    /// The names of the entities that the store holds; nil for all entities of a schema.
    func checkedEntityNames(_ schema: StoreSchema) -> Set<String>? {
        schema.model === model ? description.entityNames : nil
    }

    /// The full-text indexes that differ from their texts in the latest state.
    private func mismatchedTexts(_ progress: WorkProgress) throws -> [StoreProblem] {
        guard fileSchema.indexes.contains(where: \.isFullText) else { return [] }
        return try database.write { connection in
            try progress.interrupting(connection) {
                let schema = try schemaOfFile(on: connection)
                return try IndexCheck(connection, schema, entityNames: checkedEntityNames(schema)).mismatchedTexts()
            }
        }
    }

    /// The problems that SQLite finds in the structure of all tables and indexes.
    private static func damage(found connection: Connection, _ indexes: [SchemaIndex]) throws -> [StoreProblem] {
        try connection.withStatement("PRAGMA integrity_check") { statement in
            var problems: [StoreProblem] = []
            while try statement.step() {
                let words = statement.string(at: 0)
                if words != "ok" { problems.append(problem(words, indexes)) }
            }
            return problems
        }
    }

    /// The problem in a message of `PRAGMA integrity_check`. It also checks the tables within full-text indexes and
    /// R-trees, which are derived from the objects.
    private static func problem(_ words: String, _ indexes: [SchemaIndex]) -> StoreProblem {
        guard words.contains("FTS5 table main.") || words.hasPrefix("In RTree main.") else {
            return StoreProblem(.damage(words))
        }
        // The name of an index may begin with the name of another index.
        let named = indexes.filter { index in
            index.virtualTable.map { words.contains("main." + SQL.unquoted($0)) } ?? false
        }
        let index = named.max { ($0.virtualTable ?? "").count < ($1.virtualTable ?? "").count }
        guard let place = index?.place else { return StoreProblem(.damage(words)) }
        return StoreProblem(.indexMismatch, entity: place.entity, property: place.property)
    }
}

extension PageReport {
    /// The damage as problems of a store.
    var problems: [StoreProblem] {
        var problems: [StoreProblem] = []
        if damagedPageCount > 0 {
            problems.append(
                StoreProblem(.damagedPages, count: damagedPageCount, firstKey: firstDamagedPage.map(Int64.init))
            )
        }
        if lostCommitCount > 0 {
            problems.append(StoreProblem(.lostTransactions, count: lostCommitCount))
        } else if ignoresLog {
            problems.append(StoreProblem(.unreadableLog))
        }
        return problems
    }
}
