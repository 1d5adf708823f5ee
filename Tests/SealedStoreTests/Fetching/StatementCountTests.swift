import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite struct StatementCountTests {
    private let folder = TemporaryFolder()

    private func libraryWithBooks(_ count: Int) throws -> Library {
        let library = try Library(folder.file("library.store"))
        for number in 0..<count {
            let author = library.insert("Author", ["name": .text("Author \(number)")])
            let book = library.insert("Book", ["title": .text("Book \(number)"), "pages": .integer(Int64(number))])
            book.setDestination(author, forRelationship: "author")
        }
        try library.context.save()
        return library
    }

    @Test func `fetching any number of objects runs one statement, and reading them runs no statement`() throws {
        let library = try libraryWithBooks(1_000)
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let before = try library.statistics()
        let books = try context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
        let fetched = try library.statistics()
        #expect((fetched - before).statementsRun == 1)
        #expect(books.count == 1_000)
        for book in books { #expect(!book["title"].isNull) }
        #expect(try library.statistics() == fetched)
    }

    @Test func `walking a to-one relationship over a thousand objects runs a few statements`() throws {
        let library = try libraryWithBooks(1_000)
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let books = try context.fetch(FetchRequest(library.entity("Book")), as: ManagedObject.self)
        let before = try library.statistics()
        for book in books { #expect(book.destination(forRelationship: "author") != nil) }
        let count = try (library.statistics() - before).statementsRun
        #expect(count <= 10, "\(count) statements")
    }

    @Test func `walking a to-many relationship over a thousand objects runs a few statements`() throws {
        let library = try libraryWithBooks(1_000)
        let context = ManagedObjectContext(coordinator: library.coordinator)
        let authors = try context.fetch(FetchRequest(library.entity("Author")), as: ManagedObject.self)
        let before = try library.statistics()
        for author in authors { #expect(author.members(forRelationship: "books").count == 1) }
        let count = try (library.statistics() - before).statementsRun
        #expect(count <= 10, "\(count) statements")
    }

    @Test func `prefetching thousands of destinations runs one statement for each relationship`() throws {
        let library = try libraryWithBooks(3_000)
        let context = ManagedObjectContext(coordinator: library.coordinator)
        var request = FetchRequest(library.entity("Book"))
        let relationship = { (entity: String, name: String) in library.entity(entity).relationship(named: name)! }
        request.relationshipKeyPathsForPrefetching = [
            [relationship("Book", "author"), relationship("Author", "books")], [relationship("Book", "tags")],
        ]
        let before = try library.statistics()
        let books = try context.fetch(request, as: ManagedObject.self)
        let fetched = try library.statistics()
        #expect((fetched - before).statementsRun == 1 + 3)
        for book in books {
            #expect(book.destination(forRelationship: "author") != nil)
            #expect(book.members(forRelationship: "tags").isEmpty)
        }
        #expect(try library.statistics() == fetched)
    }

    @Test func `opening a pool of four derives the key once`() throws {
        let library = try Library(folder.file("passphrase.store"), key: .passphrase("four readers"))
        let database = try library.opened().database
        // Four readers at once: each waits until all have begun.
        let begun = DispatchGroup()
        let ended = DispatchGroup()
        for _ in 0..<4 { begun.enter() }
        for _ in 0..<4 {
            DispatchQueue.global().async(group: ended) {
                try? database.read { connection in
                    begun.leave()
                    begun.wait()
                    try connection.withStatement("SELECT 1") { _ = try $0.step() }
                }
            }
        }
        ended.wait()
        #expect(database.statistics.keyDerivations == 1)
        #expect(database.statistics.connectionsOpened <= 6)
        #expect(try library.check() == [])
    }
}
