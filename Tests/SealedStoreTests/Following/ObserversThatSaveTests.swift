import Dispatch
import EncryptedSQLite
import Foundation
import Journal
import ObjectGraph
import SealedStore
import TestSupport
import Testing

/// Observers of commits that use the stores, which no lock may prevent.
@Suite struct ObserversThatSaveTests {
    private let folder = TemporaryFolder()

    private static func insertBook(_ coordinator: PersistentStoreCoordinator) throws {
        let context = ManagedObjectContext(coordinator: coordinator)
        try Bookcase.insertBook(1, in: context)
        try context.save()
    }

    /// Two coordinators of one file. A context of each saves when the other commits, on the thread of the commit.
    @Test(arguments: [nil, HistoryOptions()])
    func `observers of two coordinators that save do not wait for each other`(history: HistoryOptions?) throws {
        let url = folder.file("books.store")
        let contexts = [try Bookcase.open(url, history: history), try Bookcase.open(url, history: history)]
        let coordinators = contexts.map(\.coordinator)
        for (context, coordinator) in zip(contexts, coordinators) {
            context.onRemoteChange = { try? Self.insertBook(coordinator) }
        }
        let rounds = 60
        let finished = DispatchSemaphore(value: 0)
        for number in 0...1 {
            // The thread is the only one that uses the watching context of the other coordinator.
            nonisolated(unsafe) let watching = contexts[1 - number]
            Thread.detachNewThread {
                for _ in 0..<rounds {
                    try? Self.insertBook(coordinators[number])
                    watching.processPendingChanges()
                }
                finished.signal()
            }
        }
        for _ in 0...1 {
            try #require(finished.wait(timeout: .now() + 120) == .success, "the threads wait for each other")
        }
        let context = ManagedObjectContext(coordinator: coordinators[0])
        #expect(try Bookcase.all("Book", in: context).count >= 2 * rounds)
        #expect(try context.storeProblems() == [])
    }

    @Test func `the handler of a warning uses the store`() throws {
        final class Handler: @unchecked Sendable {
            var library: Library?
            var counts: [Int] = []
        }
        // Used by one thread.
        let handler = Handler()
        let warnings = ScanWarnings(threshold: 10) { _ in
            guard let library = handler.library else { return }
            handler.counts.append((try? library.context.count(FetchRequest(library.entity("Book")))) ?? -1)
            library.insert("Book", ["title": .text("from the handler")])
            try? library.context.save()
        }
        let inserted = try Library(nil, scanWarnings: warnings)
        handler.library = inserted
        for number in 0..<20 {
            inserted.insert("Book", ["title": .text("\(number)"), "pages": .integer(Int64(number))])
        }
        try inserted.context.save()
        let third = QueryExpression.comparison(.equal, inserted.path("Book", "pages"), .literal(.integer(3)))
        #expect(try inserted.keys("Book", third).count == 1)
        #expect(handler.counts == [20])
        #expect(try inserted.context.count(FetchRequest(inserted.entity("Book"))) == 21)
    }
}
