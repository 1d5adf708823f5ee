@testable import EncryptedSQLite
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Contexts on a file with a history, to which other coordinators of this process write. The commits of others are read
/// from the history.
@Suite struct HistoryFollowingTests {
    private let folder = TemporaryFolder()
    private let bookcase: FollowedBookcase
    private let other: ManagedObjectContext

    init() throws {
        bookcase = try FollowedBookcase(folder.file("books.store"), history: HistoryOptions())
        other = try Bookcase.open(bookcase.url)
        other.mergePolicy = .mergeByPropertyObjectTrump
    }

    private func theirBook(_ index: Int) throws -> ManagedObject {
        let books = try Bookcase.all("Book", in: other)
        return try #require(books.indices.contains(index) ? books[index] : nil)
    }

    /// The number of statements that read all books, which is 0 unless a book is outdated.
    private func statementsToRead(_ books: [ManagedObject]) -> Int {
        bookcase.statements { for book in books { _ = book["number"] } }
    }

    @Test func `a save of another coordinator reads the changed objects only`() throws {
        let results = bookcase.follow()
        let books = try bookcase.books
        try theirBook(1)["title"] = .text("book 9")
        let reading = try bookcase.statements { try other.save() }
        // Under load, the position is read again for the events of the same commit.
        #expect((1...20).contains(reading), "the position in the history and the transactions after it")
        // On the queue of the scheduled checks for commits, whose statements would be counted, too.
        let merging = FileWatcher.shared.queue.sync {
            bookcase.statements { bookcase.context.processPendingChanges() }
        }
        #expect(merging == 1, "the changed book")
        #expect(statementsToRead(books) == 0)
        #expect(bookcase.shownTitles == ["book 1", "book 3", "book 9"].map { .text($0) })
        try Bookcase.insertBook(4, in: other)
        other.delete(try theirBook(0))
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles == ["book 3", "book 4", "book 9"].map { .text($0) })
        #expect(results.fetchCount == 1)
        #expect(try bookcase.shelf.members(forRelationship: "books").count == 3)
        #expect(try bookcase.context.storeProblems() == [])
    }

    @Test func `a batch deletion of another coordinator removes its objects without a fetch`() throws {
        let results = bookcase.follow()
        let shelf = try bookcase.shelf
        #expect(shelf.members(forRelationship: "books").count == 3)
        try Bookcase.deleteBooks(from: 2, in: other)
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles == [.text("book 1")])
        #expect(results.fetchCount == 1)
        #expect(shelf.members(forRelationship: "books").count == 1)
    }

    @Test func `an undone deletion of another coordinator brings its object back`() throws {
        let results = bookcase.follow()
        let undo = UndoManager()
        undo.groupsByEvent = false
        other.undoManager = undo
        let book = try theirBook(1)
        undo.beginUndoGrouping()
        other.delete(book)
        other.processPendingChanges()
        undo.endUndoGrouping()
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles.count == 2)
        undo.undo()
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(try bookcase.shownTitles == bookcase.storedTitles && bookcase.shownTitles.count == 3)
        #expect(results.fetchCount == 1)
    }

    @Test func `commits that change no object refresh nothing`() throws {
        let results = bookcase.follow()
        let books = try bookcase.books
        let reports = Guarded(0)
        bookcase.context.coordinator.onCommitByOthers = { _, _ in reports.withLock { $0 += 1 } }
        try other.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max)))
        _ = try other.coordinator.sealedStores[0].opened.obtainPermanentIDs(for: books[0].entity, count: 100)
        #expect(reports.withLock { $0 } == 0)
        #expect(bookcase.statements { bookcase.context.processPendingChanges() } == 0)
        #expect(statementsToRead(books) == 0)
        #expect(results.fetchCount == 1)
        try theirBook(0)["title"] = .text("book 7")
        try other.save()
        #expect(reports.withLock { $0 } == 1)
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles.last == .text("book 7"))
        #expect(results.fetchCount == 1)
    }

    @Test func `keys that others reserve while the history is read refresh nothing`() throws {
        let results = bookcase.follow()
        let reports = Guarded(0)
        bookcase.context.coordinator.onCommitByOthers = { _, _ in reports.withLock { $0 += 1 } }
        let (store, theirs) = (bookcase.store.opened, other.coordinator.sealedStores[0].opened)
        let book = bookcase.context.model.entitiesByName["Book"]!
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            for _ in 0..<300 {
                // Each commit is announced by its own thread, and by the queue of the file's events.
                if number == 0 {
                    _ = try? theirs.obtainPermanentIDs(for: book, count: 100)
                } else {
                    store.database.commitWatcher.onCommit?()
                }
            }
        }
        #expect(reports.withLock { $0 } == 0)
        bookcase.context.processPendingChanges()
        #expect(results.fetchCount == 1)
        #expect(try bookcase.context.storeProblems() == [])
    }

    // other coordinator                    | context
    // makes a change set, acknowledges it  | reads nothing again
    // saves, makes a change set            | reads the changed object again
    // makes the same change set again      | reads nothing again
    @Test func `an exchange of changes by another coordinator refreshes nothing`() throws {
        let options = HistoryOptions(identifiesObjects: true)
        let bookcase = try FollowedBookcase(folder.file("exchanged.store"), history: options)
        let other = try Bookcase.open(bookcase.url)
        let results = bookcase.follow()
        let books = try bookcase.books
        try other.coordinator.apply(try #require(try other.coordinator.changeSet()))
        #expect(bookcase.statements { bookcase.context.processPendingChanges() } == 0)
        try Bookcase.all("Book", in: other)[1]["title"] = .text("book 9")
        try other.save()
        let changes = try #require(try other.coordinator.changeSet())
        #expect(bookcase.statements { bookcase.context.processPendingChanges() } == 1, "the changed book")
        #expect(try other.coordinator.changeSet()?.id == changes.id)
        #expect(bookcase.statements { bookcase.context.processPendingChanges() } == 0)
        #expect(bookcase.statements { for book in books { _ = book["number"] } } == 0)
        #expect(results.fetchCount == 1)
        #expect(bookcase.shownTitles.last == .text("book 9"))
        #expect(try bookcase.context.storeProblems() == [])
    }

    @Test func `all is read again after transactions were deleted that were not read`() throws {
        let results = bookcase.follow()
        let book = try #require(try bookcase.books.first)
        book["title"] = .text("book 6")
        try bookcase.context.save()
        try other.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max)))
        bookcase.context.processPendingChanges()
        #expect(results.fetchCount == 1, "the deleted transaction was that of the store itself")
        // A commit whose transaction is deleted before anything is read.
        try other.coordinator.sealedStores[0].opened.writeTransaction { _ in
            try theirBook(0)["title"] = .text("book 7")
            try other.save()
            try other.coordinator.deleteHistory(HistoryDeletionRequest(.through(.max)))
        }
        bookcase.context.processPendingChanges()
        #expect(results.fetchCount == 2)
        #expect(try bookcase.shownTitles == bookcase.storedTitles)
    }

    @Test func `all is read again after a commit by a program that records no history`() throws {
        let results = bookcase.follow()
        let tool = try Database(
            .file(bookcase.url.path),
            key: .raw(Array(repeating: 7, count: 32)),
            options: Database.Options(
                applicationID: StoreFile.applicationID,
                newestUserVersion: Int32(StoreFormat.newest)
            )
        )
        defer { try? tool.close() }
        try tool.write { try $0.execute(#"UPDATE "Book" SET "title" = 'foreign', "_version" = "_version" + 1"#) }
        bookcase.context.processPendingChanges()
        #expect(results.fetchCount == 2)
        #expect(bookcase.shownTitles == Array(repeating: .text("foreign"), count: 3))
    }

    @Test func `after a history was removed and begun again all is read again`() throws {
        let results = bookcase.follow()
        let store = other.coordinator.sealedStores[0]
        try store.removeHistory()
        try theirBook(0)["title"] = .text("book 7")
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles.last == .text("book 7"))
        let again = try Bookcase.open(bookcase.url, history: HistoryOptions())
        try Bookcase.insertBook(8, in: again)
        try again.save()
        bookcase.context.processPendingChanges()
        let fetches = results.fetchCount
        #expect(bookcase.shownTitles.count == 4)
        try Bookcase.insertBook(9, in: again)
        try again.save()
        bookcase.context.processPendingChanges()
        #expect(bookcase.shownTitles.count == 5)
        #expect(results.fetchCount == fetches, "the transactions of the new history are read")
    }

    @Test func `the first commit to a store that gets its history later is unknown, and the next ones are read`() throws
    {
        let plain = try FollowedBookcase(folder.file("plain.store"))
        let results = plain.follow()
        let recording = try Bookcase.open(plain.url, history: HistoryOptions())
        try Bookcase.insertBook(4, in: recording)
        try recording.save()
        plain.context.processPendingChanges()
        #expect(results.fetchCount == 2)
        try Bookcase.insertBook(5, in: recording)
        try recording.save()
        plain.context.processPendingChanges()
        #expect(results.fetchCount == 2)
        #expect(try plain.shownTitles == plain.storedTitles)
    }

    @Test func `a repair is not in the history, and its readers get an error`() throws {
        let last = try bookcase.context.coordinator.historyState().lastTransaction
        try bookcase.store.opened.database.write { try $0.execute(#"UPDATE "Book" SET "shelf" = 77 WHERE "_id" = 1"#) }
        let report = try other.coordinator.sealedStores[0].repair([.references])
        #expect(!report.repaired.isEmpty)
        #expect(throws: PersistentHistoryError.self) {
            try bookcase.context.coordinator.history(HistoryFetchRequest(after: last))
        }
        #expect(try bookcase.context.storeProblems() == [])
    }
}

/// Contexts on a file with a history, to which another process writes.
///
///     test                     journal-writer
///     follows the results      –
///     sends a command          changes the store, commits
///     the events of the log    acknowledges
///     reads the history        –
@Suite struct HistoryFollowingProcessTests {
    private let folder = TemporaryFolder()
    private let bookcase: FollowedBookcase

    init() throws { bookcase = try FollowedBookcase(folder.file("books.store"), history: HistoryOptions()) }

    private func writer() throws -> WriterProcess {
        let writer = try WriterProcess(bookcase.url, "commands")
        writer.waitForLines(1)
        return writer
    }

    @Test func `changes of another process are read from the history, and nothing else is`() throws {
        for number in 10..<300 { try Bookcase.insertBook(number, in: bookcase.context) }
        try bookcase.context.save()
        let writer = try writer()
        let results = bookcase.follow()
        let books = try bookcase.books
        for command in ["rename 10 9", "insert 4", "trim", "delete 2", "erase 290", "rename 11 8"] {
            writer.run(command)
            try bookcase.waitForResults(command)
        }
        #expect(bookcase.shownTitles.count == 283)
        #expect(results.fetchCount == 1)
        #expect(bookcase.statements { for book in books { _ = book["number"] } } == 0, "no book is outdated")
        #expect(try bookcase.context.storeProblems() == [])
    }

    @Test func `hundreds of commits of another process are read without a fetch`() throws {
        let writer = try writer()
        let results = bookcase.follow()
        writer.run("burst 300")
        try bookcase.waitForResults("burst")
        #expect(results.entries.count == 303)
        #expect(results.fetchCount == 1)
    }

    /// The commits of the process are not noticed until another coordinator of this process commits.
    @Test(arguments: [
        ["insert 4"], ["insert 4", "trim"], ["erase 3", "insert 4", "insert 5"], ["restart 4"], ["burst 1100"],
    ])
    func `commits from before the following are not missed`(commands: [String]) throws {
        let shelf = try bookcase.shelf
        let books = try bookcase.books
        #expect(shelf.members(forRelationship: "books").count == 3)
        let writer = try writer()
        for command in commands { writer.run(command) }
        let other = try Bookcase.open(bookcase.url)
        try #require(try Bookcase.all("Book", in: other).first)["title"] = .text("book 7")
        try other.save()
        bookcase.context.processPendingChanges()
        #expect(books[0]["title"] == .text("book 7"))
        #expect(shelf.members(forRelationship: "books").count == (try Bookcase.all("Book", in: other).count))
        #expect(books.map(\.isObjectDeleted) == [false, false, commands.contains("erase 3")])
    }

    @Test(arguments: SeededGenerator.seeds(3))
    func `results equal a fetch after every change by two coordinators and a process`(seed: UInt64) throws {
        try bookcase.expectCurrentResults(seed: seed, writer())
    }
}
