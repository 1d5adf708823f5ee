import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The number of statements and transactions of batch requests.
@Suite struct BatchStatementTests {
    private let folder = TemporaryFolder()

    private func library(bookCount: Int) throws -> Library {
        let library = try Library(folder.file("\(bookCount).store"))
        try library.context.execute(
            BatchInsertRequest(library.entity("Author"), objects: [["name": .text("a")], ["name": .text("b")]])
        )
        let author = try library.context.fetch(FetchRequest(library.entity("Author")), as: ManagedObject.self)[0]
        let books = (0..<bookCount).lazy.map { number -> [String: Value] in
            [
                "title": .text("\(number)"), "pages": .integer(Int64(number)),
                "author": .integer(author.managedObjectID.key),
            ]
        }
        try library.context.execute(BatchInsertRequest(library.entity("Book"), objects: books))
        return library
    }

    private func statements(_ library: Library, _ body: () throws -> Void) throws -> Int {
        let before = try library.statistics()
        try body()
        let difference = try library.statistics() - before
        #expect(difference.transactionsCommitted == 1)
        return difference.statementsRun
    }

    @Test func `updating and deleting run the same statements for few rows and for many`() throws {
        let counts = try [10, 3_000].map { count in
            let library = try library(bookCount: count)
            let pages = QueryExpression.path(library.entity("Book").propertiesByName["pages"]!)
            let update = BatchUpdateRequest(
                library.entity("Book"),
                propertiesToUpdate: ["pages": .arithmetic(.add, pages, .literal(.integer(1)))]
            )
            let updating = try statements(library) { try library.context.execute(update) }
            let deleting = try statements(library) {
                try library.context.execute(BatchDeleteRequest(library.entity("Author")))
            }
            return [updating, deleting]
        }
        #expect(counts[0] == counts[1])
    }

    @Test func `inserting is one transaction`() throws {
        let library = try library(bookCount: 0)
        let objects = (0..<3_000).map { ["title": Value.text("\($0)")] }
        let runs = try statements(library) {
            try library.context.execute(BatchInsertRequest(library.entity("Book"), objects: objects))
        }
        #expect((3_000...3_020).contains(runs), "\(runs) statements")
    }

    @Test func `a batch request leaves nothing in the temporary table`() throws {
        let library = try library(bookCount: 100)
        try library.context.execute(BatchDeleteRequest(library.entity("Book")))
        let count = try library.opened().database.write { connection in
            try connection.withStatement(#"SELECT count(*) FROM temp."_batch""#) { statement in
                try statement.step() ? statement.integer(at: 0) : -1
            }
        }
        #expect(count == 0)
    }

    @Test func `versions are incremented, and restart after the largest one`() throws {
        let library = try library(bookCount: 2)
        try library.opened().database.write { connection in
            try connection.execute(#"UPDATE "Book" SET "_version" = 4294967295 WHERE "title" = '1'"#)
        }
        let update = BatchUpdateRequest(library.entity("Book"), propertiesToUpdate: ["pages": .literal(.integer(7))])
        try library.context.execute(update)
        let versions = try library.opened().database.read { connection in
            try connection.withStatement(#"SELECT "_version" FROM "Book" ORDER BY "title""#) { statement in
                var versions: [Int64] = []
                while try statement.step() { versions.append(statement.integer(at: 0)) }
                return versions
            }
        }
        #expect(versions == [2, 0])
    }
}
