import EncryptedSQLite
import Foundation
import Guarded
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

/// The log of a store lacks a block that did not reach the disk before a power failure. Reports have one handler for the
/// process, so that each test runs in a separate one.
@Suite struct LostTransactionsTests {
    /// Runs `body`, and returns the reports about a file.
    private static func reports(about url: URL, _ body: () throws -> Void) rethrows -> [String] {
        let messages = Guarded<[String]>([])
        let previous = RuntimeIssues.handler
        RuntimeIssues.handler = { message in
            if message.contains(url.path) { messages.withLock { $0.append(message) } } else { previous(message) }
        }
        defer { RuntimeIssues.handler = previous }
        try body()
        return messages.withLock(\.self)
    }

    private static func tagCount(_ library: Library) throws -> Int {
        try ManagedObjectContext(coordinator: library.coordinator).count(FetchRequest(library.entity("Tag")))
    }

    // library                 | copy of its files           | second container
    // saves 20 times          |                             |
    //                         | is made, without a block    |
    //                         | opens, reports the loss     |
    //                         |                             | opens, reports nothing
    //                         | saves, and opens again      |
    @Test func `a store opens with the saves before the lost block, and reports the others once`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let url = folder.file("library.store")
            let library = try Library(url)
            try library.opened().database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
            for number in 0..<20 {
                library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: 3000))])
                try library.context.save()
            }
            let copy = folder.file("copy.store")
            try FileManager.default.copyItem(at: url, to: copy)
            var log = try Data(contentsOf: folder.file("library.store-wal"))
            let block = log.count / 2 / 512 * 512
            log.resetBytes(in: block..<block + 512)
            try log.write(to: folder.file("copy.store-wal"))
            let found = try SealedStore.check(copy, key: Library.key).problems
            let lost = try #require(found.first { $0.kind == .lostTransactions }?.count)
            #expect(found.count == 1 && lost > 5)
            var opened: [Library] = []
            let messages = try LostTransactionsTests.reports(about: copy) {
                for _ in 1...2 { opened.append(try Library(copy)) }
            }
            #expect(
                messages.count == 1 && messages.first?.contains("\(lost) of its transactions") == true,
                "\(messages)"
            )
            let remaining = try LostTransactionsTests.tagCount(opened[0])
            // The transaction with the block is lost, too, and cannot be counted if the block is on its last page.
            #expect([20 - lost, 19 - lost].contains(remaining))
            #expect(try opened[1].check() == found)
            opened[0].insert("Tag", ["label": .text("new")])
            try opened[0].context.save()
            let messagesAfterSaving = try LostTransactionsTests.reports(about: copy) {
                let store = try #require(opened[0].coordinator.sealedStores.first)
                store.suspend()
                try store.resume()
            }
            #expect(messagesAfterSaving == [])
            #expect(try LostTransactionsTests.tagCount(opened[1]) == remaining + 1)
            for library in opened { try library.coordinator.removeAllStores() }
            #expect(try SealedStore.check(copy, key: Library.key).isSound)
        }
    }

    @Test func `a store that is resumed reports the loss`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let url = folder.file("library.store")
            let library = try Library(url)
            for number in 0..<10 {
                library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: 3000))])
                try library.context.save()
            }
            var log = try Data(contentsOf: folder.file("library.store-wal"))
            let content = try Data(contentsOf: url)
            let store = try #require(library.coordinator.sealedStores.first)
            store.suspend()
            log.resetBytes(in: log.count / 2 / 4096 * 4096..<log.count / 2 / 4096 * 4096 + 4096)
            let file = try FileHandle(forWritingTo: url)
            try file.write(contentsOf: content)
            try file.truncate(atOffset: UInt64(content.count))
            try file.close()
            try log.write(to: folder.file("library.store-wal"))
            let messages = try LostTransactionsTests.reports(about: url) { try store.resume() }
            #expect(messages.count == 1, "\(messages)")
            try library.coordinator.removeAllStores()
        }
    }
}
