import EncryptedSQLite
import Foundation
import Guarded
import Journal
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// Live results of this process, while other processes write.
///
///     test                     journal-writer
///     follows the results      –
///     sends a command          changes the store, commits
///     the events of the log    acknowledges
///     waits for the results    –
@Suite struct SeveralProcessesFollowingTests {
    private let folder = TemporaryFolder()
    private let bookcase: FollowedBookcase

    init() throws { bookcase = try FollowedBookcase(folder.file("books.store")) }

    private func writer() throws -> WriterProcess {
        let writer = try WriterProcess(bookcase.url, "commands")
        writer.waitForLines(1)
        return writer
    }

    @Test func `insertions, changes and deletions of another process arrive`() throws {
        let writer = try writer()
        bookcase.follow()
        for command in ["insert 4", "rename 1 9", "delete 2", "insert 5"] {
            writer.run(command)
            try bookcase.waitForResults(command)
        }
        #expect(bookcase.shownTitles == ["book 3", "book 4", "book 5", "book 9"].map { .text($0) })
        #expect(try bookcase.context.storeProblems() == [])
    }

    @Test func `loaded members of objects follow another process`() throws {
        let writer = try writer()
        bookcase.follow()
        let shelf = try bookcase.shelf
        #expect(shelf.members(forRelationship: "books").count == 3)
        writer.run("insert 4")
        try bookcase.waitUntil("the members") { shelf.members(forRelationship: "books").count == 4 }
    }

    @Test func `hundreds of commits of another process cost few fetches`() throws {
        let writer = try writer()
        let results = bookcase.follow()
        writer.run("burst 300")
        try bookcase.waitForResults("burst")
        #expect(results.entries.count == 303)
        // A commit can become visible during each fetch, but the context processes all commits before it at once.
        #expect(results.fetchCount < 10)
    }

    @Test func `saves of this process between those of another one are not reported`() throws {
        let writer = try writer()
        let reports = Guarded(0)
        let results = bookcase.follow()
        bookcase.context.coordinator.onCommitByOthers = { _, _ in reports.withLock { $0 += 1 } }
        let book = try #require(try bookcase.books.first)
        for number in 0..<100 {
            book["number"] = .integer(Int64(number))
            try bookcase.context.save()
        }
        writer.run("insert 4")
        try bookcase.waitForResults("the other process")
        #expect(results.entries.count == 4)
        // The last report is announced before it is counted. A reservation of identifiers can precede the save.
        #expect((0...2).contains(reports.withLock { $0 }))
    }

    @Test func `a store for reading only is followed`() throws {
        let writer = try writer()
        let coordinator = PersistentStoreCoordinator(model: try Bookcase.model())
        try coordinator.addPersistentStore(
            PersistentStoreDescription(
                type: SealedStore.storeType,
                url: bookcase.url,
                isReadOnly: true,
                options: [SealedStore.keyOption: EncryptionKey.raw(Array(repeating: 7, count: 32))]
            )
        )
        let reader = ManagedObjectContext(coordinator: coordinator)
        let shelf = try #require(try Bookcase.all("Shelf", in: reader).first)
        #expect(shelf.members(forRelationship: "books").count == 3)
        let following = coordinator.followOtherProcesses()
        let signal = DispatchSemaphore(value: 0)
        reader.onRemoteChange = { signal.signal() }
        writer.run("insert 4")
        #expect(signal.wait(timeout: .now() + maximumWait) == .success)
        reader.processPendingChanges()
        #expect(shelf.members(forRelationship: "books").count == 4)
        withExtendedLifetime(following) {}
    }

    @Test func `changes during a lock and a suspension arrive after it`() throws {
        let writer = try writer()
        bookcase.follow()
        bookcase.store.lock()
        writer.run("insert 4")
        try bookcase.store.unlock(with: .raw(Array(repeating: 7, count: 32)))
        try bookcase.waitForResults("after the lock")
        bookcase.store.suspend()
        writer.run("insert 5")
        try bookcase.store.resume()
        try bookcase.waitForResults("after the suspension")
        writer.run("insert 6")
        try bookcase.waitForResults("later")
        #expect(bookcase.shownTitles.count == 6)
    }

    @Test func `the new file is followed after a change of the key`() throws {
        bookcase.follow()
        let key = try EncryptionKey.raw(Array(repeating: 7, count: 32))
        try bookcase.store.changeKey(to: key)
        let writer = try writer()
        writer.run("insert 4")
        try bookcase.waitForResults("after the change of the key")
        #expect(bookcase.shownTitles.count == 4)
    }

    @Test func `a change of the key by another process is shown as an error`() throws {
        let writer = try writer()
        let results = bookcase.follow()
        writer.run("rekey 8")
        try bookcase.waitUntil("the error") { results.error != nil }
        guard case .moved = results.error as? DatabaseError else {
            Issue.record("\(String(describing: results.error))")
            return
        }
        #expect(bookcase.shownTitles.count == 3)
    }

    @Test func `closing, locking and changing the key leave no descriptors`() throws {
        let writer = try WriterProcess(bookcase.url, "following")
        #expect(try writer.waitUntilExit() == 0)
        let lines = writer.output.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int($0) } }
        #expect(lines.count == 12)
        #expect(lines.allSatisfy { $0.count == 3 && $0[0] == 1 && $0[1] == 0 }, "\(lines)")
        #expect(Set(lines.dropFirst().compactMap(\.last)).count == 1, "\(lines)")
    }

    @Test(arguments: SeededGenerator.seeds(3))
    func `results equal a fetch after every change by two coordinators and a process`(seed: UInt64) throws {
        try bookcase.expectCurrentResults(seed: seed, writer())
    }
}
