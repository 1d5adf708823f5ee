import EncryptedSQLite
import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import Testing

/// The plan of a fetch, with its indexes and tables.
@Suite struct PlanTests {
    private func title(_ library: Library, _ title: String) -> QueryExpression {
        .comparison(.equal, library.path("Book", "title"), .literal(.text(title)))
    }

    @Test func `a plan names the statement, the steps and the indexes, and no values`() throws {
        let library = try Library(nil)
        var request = FetchRequest(library.entity("Book"), predicate: title(library, "a secret"))
        request.limit = 3
        let plan = try library.context.explain(request)
        #expect(
            plan.description == """
                SELECT t0."_id", t0."_version", t0."title", t0."pages", t0."author" FROM "Book" AS t0 \
                WHERE (t0."title" = ?) ORDER BY t0."_id" LIMIT ? OFFSET ?
                - SEARCH t0 USING INDEX _index_Book_title (title=?)
                """
        )
        #expect(plan.indexes == ["_index_Book_title"])
        #expect(plan.usesIndex)
    }

    @Test func `a plan names the tables that it scans`() throws {
        let library = try Library(nil)
        let pages = library.path("Book", "pages")
        let plan = try library.plan("Book", .comparison(.greater, pages, .literal(.integer(100))))
        #expect(plan.scannedTables == ["Book"])
        #expect(plan.indexes == [])
        #expect(!plan.usesIndex)
    }

    @Test func `a plan distinguishes joined and nested tables`() throws {
        let library = try Library(nil)
        let book = library.entity("Book")
        let name = QueryExpression.path(
            book.propertiesByName["author"]!,
            library.entity("Author").propertiesByName["name"]!
        )
        let plan = try library.plan("Book", .comparison(.notEqual, name, .literal(.text("x"))))
        #expect(plan.scannedTables == ["Book"])
        #expect(plan.steps.map(\.depth) == plan.steps.map { _ in 0 })
        let isTagged = QueryExpression.quantified(
            .any,
            .members(from: 0, [book.propertiesByName["tags"]!]),
            variable: 1,
            condition: .bool(true)
        )
        let nested = try library.plan("Book", isTagged)
        #expect(nested.steps.contains { $0.depth == 1 }, "\(nested)")
        #expect(nested.scannedTables == ["Book"], "\(nested)")
    }

    @Test func `indexes of unique values and relationships have descriptive names`() throws {
        let library = try Library(nil)
        let name = QueryExpression.comparison(.equal, library.path("Author", "name"), .literal(.text("x")))
        #expect(try library.plan("Author", name).indexes == ["_unique_Author_name"])
        let author = QueryExpression.comparison(.equal, library.path("Book", "author"), .literal(.integer(1)))
        #expect(try library.plan("Book", author).indexes == ["_index_Book_author"])
    }

    @Test func `names in plans can be anything`() throws {
        let odd = try Library(
            nil,
            model: ManagedObjectModel(entities: [
                EntityDescription(
                    "a \"b\" AS t0 (c",
                    attributes: [AttributeDescription("x INDEX y", .int64), AttributeDescription("z", .int64)],
                    indexes: [FetchIndexDescription(["x INDEX y"])]
                )
            ])
        )
        let entity = "a \"b\" AS t0 (c"
        let scan = try odd.plan(entity, .comparison(.equal, odd.path(entity, "z"), .literal(.integer(1))))
        #expect(scan.scannedTables == [entity], "\(scan)")
        let search = try odd.plan(entity, .comparison(.equal, odd.path(entity, "x INDEX y"), .literal(.integer(1))))
        #expect(search.indexes == ["_index_\(entity)_x INDEX y"], "\(search)")
        #expect(search.usesIndex)
    }
}

/// Warnings of fetches that read every row of a large table.
@Suite struct ScanWarningTests {
    /// The logged warnings.
    private final class Log: Sendable {
        private let warnings = Guarded<[ScanWarning]>([])

        func add(_ warning: ScanWarning) { warnings.withLock { $0.append(warning) } }

        var all: [ScanWarning] { warnings.withLock { $0 } }
    }

    private func library(_ log: Log, threshold: Int = 10, rows: Int) throws -> Library {
        let library = try Library(nil, scanWarnings: ScanWarnings(threshold: threshold) { log.add($0) })
        for number in 0..<rows {
            library.insert("Book", ["title": .text("\(number)"), "pages": .integer(Int64(number))])
        }
        try library.context.save()
        return library
    }

    private func pages(_ library: Library, _ number: Int64) -> QueryExpression {
        .comparison(.equal, library.path("Book", "pages"), .literal(.integer(number)))
    }

    @Test func `a scan of a large table is logged once for each form of request`() throws {
        let log = Log()
        let library = try library(log, rows: 10)
        for number in 0..<5 { _ = try library.keys("Book", pages(library, Int64(number))) }
        #expect(log.all.map(\.table) == ["Book"])
        #expect(
            log.all.first?.description.contains("a fetch reads all rows of 'Book', which has 10 rows or more") ?? false
        )
        #expect(log.all.first?.plan.statement.contains(#"WHERE (t0."pages" = ?)"#) ?? false)
        _ = try library.context.count(FetchRequest(library.entity("Book"), predicate: pages(library, 1)))
        _ = try library.context.fetch(
            FetchRequest(library.entity("Book"), predicate: pages(library, 1)),
            as: ManagedObject.self
        )
        #expect(log.all.count == 3)
    }

    @Test func `small tables, indexes and unfiltered fetches are not logged`() throws {
        let log = Log()
        let library = try library(log, rows: 9)
        _ = try library.keys("Book", pages(library, 1))
        library.insert("Book", ["title": .text("x")])
        try library.context.save()
        _ = try library.keys("Book", nil)
        _ = try library.keys("Book", .comparison(.equal, library.path("Book", "title"), .literal(.text("x"))))
        #expect(log.all == [])
    }

    @Test func `a cached statement is not explained again`() throws {
        let log = Log()
        let library = try library(log, rows: 9)
        _ = try library.keys("Book", pages(library, 1))
        let before = try library.statistics()
        _ = try library.keys("Book", pages(library, 2))
        let spent = try library.statistics() - before
        #expect(spent.statementsRun == 1)
        #expect(spent.statementsPrepared == 0)
    }
}
