import Dispatch
import EncryptedSQLite
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// A context on a store with a shelf and three books, which tests follow while others write.
final class FollowedBookcase {
    let url: URL
    let context: ManagedObjectContext
    private let signal = DispatchSemaphore(value: 0)
    private(set) var results: LiveResults?

    /// Opens the store, and creates its content if it is new.
    init(_ url: URL, history: HistoryOptions? = nil) throws {
        self.url = url
        context = try Bookcase.open(url, history: history)
        if try Bookcase.all("Shelf", in: context).isEmpty {
            for name in ["art", "law"] { Bookcase.insertShelf(name, in: context) }
            for number in 1...3 { try Bookcase.insertBook(number, in: context) }
            try context.save()
        }
        context.onRemoteChange = { [signal] in signal.signal() }
    }

    var store: SealedStore { context.coordinator.sealedStores[0] }
    var shelf: ManagedObject {
        get throws { try #require(try Bookcase.all("Shelf", in: context).first) }
    }
    var books: [ManagedObject] {
        get throws { try Bookcase.all("Book", in: context) }
    }

    /// Begins to follow the books by title.
    @discardableResult
    func follow(onUpdate: ((LiveResults.Update) -> Void)? = nil) -> LiveResults {
        let book = context.model.entitiesByName["Book"]!
        let request = FetchRequest(book, sort: [QuerySort(.path(book.propertiesByName["title"]!))])
        let context = context
        let results = LiveResults(
            LiveResults.Query(request) { [unowned context] in try context.fetch(request, as: ManagedObject.self) },
            in: context
        )
        results.onUpdate = onUpdate
        self.results = results
        return results
    }

    var shownTitles: [Value] {
        guard let entries = results?.entries else { return [] }
        return (0..<entries.count).map { (entries[$0].object as! ManagedObject)["title"] }
    }

    /// The titles that the store has.
    var storedTitles: [Value] {
        get throws {
            let context = ManagedObjectContext(coordinator: context.coordinator)
            return try Bookcase.all("Book", in: context).map { $0["title"] }
        }
    }

    /// Processes the changes of others until a condition holds. Fails if none arrive for a long time.
    func waitUntil(_ text: String, _ condition: () throws -> Bool) throws {
        while true {
            context.processPendingChanges()
            if try condition() { return }
            try #require(signal.wait(timeout: .now() + maximumWait) == .success, "nothing has arrived: \(text)")
        }
    }

    /// Waits until the followed results are those of the store.
    func waitForResults(_ text: String) throws {
        try waitUntil(text) { try shownTitles == storedTitles }
    }

    /// The number of statements that the store runs for a body.
    func statements(_ body: () throws -> Void) rethrows -> Int {
        let before = store.opened.database.statistics
        try body()
        return (store.opened.database.statistics - before).statementsRun
    }

    // MARK: Random changes

    /// Expects that followed results, the values of their objects and the members of the shelves equal those of the
    /// store after each of some random changes by this and another coordinator and by a process.
    func expectCurrentResults(seed: UInt64, _ writer: WriterProcess) throws {
        var random = SeededGenerator(seed: seed)
        let other = try Bookcase.open(url)
        for context in [context, other] { context.mergePolicy = .mergeByPropertyObjectTrump }
        follow()
        for step in 0..<40 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                try Bookcase.change(context, &random)
                try Bookcase.save(context)
            case 1:
                try Bookcase.change(other, &random)
                try Bookcase.save(other)
            default: writer.run("random \(Int.random(in: 0..<1_000_000, using: &random))")
            }
            try waitForResults("\(random) step \(step)")
            // A change of numbers or shelves does not change the results.
            try waitUntil("values, \(random) step \(step)") {
                let stored = ManagedObjectContext(coordinator: context.coordinator)
                let books = try self.books
                guard try books.map({ $0["number"] }) == Bookcase.all("Book", in: stored).map({ $0["number"] }) else {
                    return false
                }
                return try Bookcase.all("Shelf", in: context).allSatisfy { shelf in
                    shelf.members(forRelationship: "books").count
                        == books.count { $0.destination(forRelationship: "shelf") === shelf }
                }
            }
        }
        #expect(writer.isRunning)
        #expect(try context.storeProblems() == [])
    }
}
