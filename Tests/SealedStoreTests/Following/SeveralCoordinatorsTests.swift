import EncryptedSQLite
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Coordinators of one process with the same file.
@Suite struct SeveralCoordinatorsTests {
    private let folder = TemporaryFolder()
    private let bookcase: FollowedBookcase
    private let other: ManagedObjectContext

    init() throws {
        bookcase = try FollowedBookcase(folder.file("books.store"))
        other = try Bookcase.open(bookcase.url)
        other.mergePolicy = .mergeByPropertyObjectTrump
    }

    @Test func `loaded members follow the saves of another coordinator, although nothing observes them`() throws {
        let shelf = try bookcase.shelf
        #expect(shelf.members(forRelationship: "books").count == 3)
        try Bookcase.insertBook(4, in: other)
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(shelf.members(forRelationship: "books").count == 4)
        #expect(try bookcase.context.storeProblems() == [])
    }

    /// | the store                        | another coordinator                               |
    /// |----------------------------------|---------------------------------------------------|
    /// | reads the books of both shelves  |                                                   |
    /// | is locked or suspended           |                                                   |
    /// |                                  | adds a book, moves one, deletes one, renames one  |
    /// | is opened again                  |                                                   |
    @Test(arguments: [false, true], [nil, HistoryOptions()])
    func `what another coordinator saves while the store is closed reaches the loaded members`(
        isLocked: Bool,
        history: HistoryOptions?
    ) throws {
        for isFollowed in [false, true] {
            let bookcase = try FollowedBookcase(folder.file("\(isFollowed).store"), history: history)
            if isFollowed { bookcase.follow() }
            let shelves = try Bookcase.all("Shelf", in: bookcase.context)
            func counts() -> [Int] { shelves.map { $0.members(forRelationship: "books").count }.sorted() }
            #expect(counts() == [0, 3])
            let books = try bookcase.books
            if isLocked { bookcase.store.lock() } else { bookcase.store.suspend() }
            let other = try Bookcase.open(bookcase.url)
            let others = try Bookcase.all("Book", in: other)
            let present = others[0].destination(forRelationship: "shelf")
            let free = try Bookcase.all("Shelf", in: other).first { $0 !== present }
            try Bookcase.insertBook(4, in: other)
            others[0].setDestination(free, forRelationship: "shelf")
            other.delete(others[1])
            others[2]["title"] = .text("renamed")
            try other.save()
            if isLocked {
                try bookcase.store.unlock(with: .raw(Array(repeating: 7, count: 32)))
            } else {
                try bookcase.store.resume()
            }
            bookcase.context.processPendingChanges()
            #expect(counts() == [1, 2])
            #expect(books.contains { $0["title"] == .text("renamed") })
            // Known once the values were read.
            #expect(books.map(\.isObjectDeleted).filter { $0 }.count == 1)
            #expect(try bookcase.context.storeProblems() == [])
        }
    }

    @Test func `unchanged objects are read again when they are used, all with one statement`() throws {
        let books = try bookcase.books
        #expect(books.map { $0["number"] } == [1, 2, 3].map { .integer($0) })
        for book in try Bookcase.all("Book", in: other) { book["number"] = .integer(10) }
        try other.save()
        #expect(bookcase.statements { bookcase.context.processPendingChanges() } == 0)
        let count = bookcase.statements { for book in books { #expect(book["number"] == .integer(10)) } }
        #expect(count == 1)
    }

    @Test func `an object that another coordinator has deleted keeps its last values`() throws {
        let book = try #require(try bookcase.books.first)
        #expect(book["title"] == .text("book 1"))
        other.delete(try #require(try Bookcase.all("Book", in: other).first))
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(book["title"] == .text("book 1"))
        #expect(book.isObjectDeleted)
    }

    @Test func `an unread object keeps its last values when the store is locked`() throws {
        let book = try #require(try bookcase.books.first)
        try Bookcase.insertBook(4, in: other)
        try other.save()
        bookcase.context.processPendingChanges()
        bookcase.store.lock()
        #expect(book["title"] == .text("book 1"))
    }

    @Test func `unsaved changes stay, and the save reports the conflict`() throws {
        let book = try #require(try bookcase.books.first)
        book["title"] = .text("mine")
        try #require(try Bookcase.all("Book", in: other).first)["title"] = .text("theirs")
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(book["title"] == .text("mine"))
        #expect(throws: ObjectGraphError.self) { try bookcase.context.save() }
        bookcase.context.mergePolicy = .mergeByPropertyObjectTrump
        try bookcase.context.save()
        #expect(book["title"] == .text("mine"))
    }

    @Test func `a rollback reads the values that another coordinator has saved`() throws {
        let book = try #require(try bookcase.books.first)
        book["title"] = .text("mine")
        try #require(try Bookcase.all("Book", in: other).first)["number"] = .integer(50)
        try other.save()
        bookcase.context.processPendingChanges()
        bookcase.context.rollback()
        #expect(book["title"] == .text("book 1"))
        #expect(book["number"] == .integer(50))
    }

    @Test func `a commit is reported to the others only, and hundreds are merged as one`() throws {
        let (own, others) = (Guarded(0), Guarded(0))
        bookcase.context.coordinator.onCommitByOthers = { _, _ in own.withLock { $0 += 1 } }
        let results = bookcase.follow()
        other.coordinator.onCommitByOthers = { _, _ in others.withLock { $0 += 1 } }
        let book = try #require(try bookcase.books.first)
        for number in 0..<5 {
            book["number"] = .integer(Int64(number))
            try bookcase.context.save()
        }
        #expect(own.withLock { $0 } == 0)
        #expect(others.withLock { $0 } == 5)
        #expect(results.fetchCount == 1)
        for number in 0..<300 {
            try Bookcase.insertBook(100 + number, in: other)
            try other.save()
        }
        bookcase.context.processPendingChanges()
        #expect(results.fetchCount == 2)
        #expect(try bookcase.shownTitles == bookcase.storedTitles)
    }

    @Test func `changes of objects that move nothing are reported as modifications`() throws {
        var updates: [LiveResults.Update] = []
        bookcase.follow { updates.append($0) }.reportsModifications = true
        let changed = try #require(try Bookcase.all("Book", in: other).last)
        changed["number"] = .integer(50)
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(updates.map(\.changes) == [IndexChanges()])
        #expect(updates.first?.modifications.map(\.position) == [2])
    }

    @Test func `results of another store of the same coordinator are not fetched`() throws {
        let entities = ["A", "B"].map { EntityDescription($0, attributes: [AttributeDescription("name", .string)]) }
        let stores = try (0..<2).map { _ in try SplitStore(folder.url, [entities[0]], [entities[1]]) }
        for name in ["A", "B"] { stores[0].insert(name, ["name": .text("first")]) }
        try stores[0].context.save()
        let context = stores[0].context
        let results = ["A", "B"].map { name in
            let request = FetchRequest(stores[0].entity(name))
            return LiveResults(
                LiveResults.Query(request) { [unowned context] in try context.fetch(request, as: ManagedObject.self) },
                in: context
            )
        }
        stores[1].insert("A", ["name": .text("second")])
        try stores[1].context.save()
        context.processPendingChanges()
        #expect(results.map(\.entries.count) == [2, 1])
        #expect(results.map(\.fetchCount) == [2, 1])
    }
}
