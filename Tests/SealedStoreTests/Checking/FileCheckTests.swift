import EncryptedSQLite
import Foundation
@testable import ObjectGraph
@testable import SealedStore
import TestSupport
import Testing

@Suite("The check of a file needs no model, and changes nothing") struct FileCheckTests {
    private let folder = TemporaryFolder()
    private var url: URL { folder.file("library.store") }

    private func fill(_ count: Int = 100) throws -> Library {
        let library = try Library(url)
        for number in 0..<count {
            library.insert("Tag", ["label": .text("\(number) " + String(repeating: "x", count: 500))])
        }
        try library.context.save()
        return library
    }

    @Test func `a sound file has an empty report, and stays as it is`() throws {
        try fill().coordinator.removeAllStores()
        let before = try Data(contentsOf: url)
        let progress = Progress(totalUnitCount: 1)
        let report = try SealedStore.check(url, key: Library.key, progress: progress)
        #expect(report.isSound && report.pageCount == before.count / 4096)
        #expect(progress.isFinished)
        #expect(try Data(contentsOf: url) == before)
    }

    @Test func `each damaged page is reported, also one without which the file does not open`() throws {
        try fill(20).coordinator.removeAllStores()
        let content = try Data(contentsOf: url)
        for page in 1...content.count / 4096 {
            var bytes = content
            bytes[(page - 1) * 4096 + 2000] ^= 8
            try bytes.write(to: url)
            let report = try SealedStore.check(url, key: Library.key)
            #expect(report.problems == [StoreProblem(.damagedPages, count: 1, firstKey: Int64(page))], "page \(page)")
            #expect(try Data(contentsOf: url) == bytes)
        }
    }

    // library             | copy of its files
    // saves 5 times       |
    //                     | is made
    //                     | a bit in the third commit of its log changes
    @Test func `transactions behind a damaged part of the log are reported`() throws {
        let library = try fill(5)
        try library.opened().database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        for number in 0..<5 {
            library.insert("Tag", ["label": .text("later \(number)")])
            try library.context.save()
        }
        let copy = folder.file("copy.store")
        try FileManager.default.copyItem(at: url, to: copy)
        var log = try Data(contentsOf: folder.file("library.store-wal"))
        let frameCount = (log.count - 32) / 4120
        log[32 + frameCount / 2 * 4120 + 24 + 700] ^= 1
        try log.write(to: folder.file("copy.store-wal"))
        let report = try SealedStore.check(copy, key: Library.key)
        let lost = report.problems.first { $0.kind == .lostTransactions }
        #expect(lost.map { $0.count >= 1 && $0.count <= 5 } == true, "\(report)")
        #expect(try library.check() == [])
    }

    /// A damage of a log.
    enum LogDamage: CaseIterable {
        case bitOfFrame, zeroFrame, zeroBlock, zeroNumber, otherSalt, bitOfHeader, zeroBeginning, allZero, noise
    }

    // library             | copy of its files
    // saves 5 times       |
    //                     | is made
    //                     | a part of its log is damaged
    @Test(arguments: LogDamage.allCases)
    func `a log of which SQLite ignores a part is no sound store, and its salvage is not complete`(
        damage: LogDamage
    ) throws {
        let library = try fill(5)
        try library.opened().database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        for number in 0..<5 {
            library.insert("Tag", ["label": .text("later \(number)")])
            try library.context.save()
        }
        let tagCount = try library.context.count(FetchRequest(library.entity("Tag")))
        let copy = folder.file("copy.store")
        try FileManager.default.copyItem(at: url, to: copy)
        var log = try Data(contentsOf: folder.file("library.store-wal"))
        let frame = 32 + (log.count - 32) / 4120 / 2 * 4120
        switch damage {
        case .bitOfFrame: log[frame + 100] ^= 1
        case .zeroFrame: log.resetBytes(in: frame..<frame + 4120)
        case .zeroBlock: log.resetBytes(in: frame / 4096 * 4096..<frame / 4096 * 4096 + 4096)
        case .zeroNumber: log.resetBytes(in: frame..<frame + 4)
        case .otherSalt: log[frame + 9] ^= 0x40
        case .bitOfHeader: log[20] ^= 1
        case .zeroBeginning: log.resetBytes(in: 0..<4096)
        case .allZero: log.resetBytes(in: 0..<log.count)
        case .noise: for index in log.indices { log[index] = UInt8(truncatingIfNeeded: index &* 167 &+ 13) }
        }
        try log.write(to: folder.file("copy.store-wal"))
        let report = try SealedStore.check(copy, key: Library.key)
        let isUnreadable = damage == .allZero || damage == .noise
        let problem = report.problems.first { $0.kind == (isUnreadable ? .unreadableLog : .lostTransactions) }
        #expect(problem != nil, "\(report)")
        let salvage = try SealedStore.salvage(copy, key: Library.key, to: folder.file("new.store"))
        if damage == .bitOfHeader {
            // The frames are authentic by themselves.
            #expect(salvage.isComplete, "\(salvage)")
            #expect(salvage.entities.first { $0.entity == "Tag" }?.recoveredCount == tagCount)
        } else {
            #expect(!salvage.isComplete)
            #expect(salvage.lostTransactionCount > 0 || salvage.ignoresLog)
        }
        #expect(try Data(contentsOf: folder.file("copy.store-wal")) == log)
        #expect(try library.check() == [])
    }

    // The log begins anew after a checkpoint: frames of the earlier one remain behind its end.
    @Test func `frames of an earlier log are no damage`() throws {
        let library = try fill(40)
        try library.opened().database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(RESTART)") }
        library.insert("Tag", ["label": .text("later")])
        try library.context.save()
        #expect(try library.check() == [])
        let copy = folder.file("copy.store")
        try FileManager.default.copyItem(at: url, to: copy)
        try FileManager.default.copyItem(at: folder.file("library.store-wal"), to: folder.file("copy.store-wal"))
        #expect(try SealedStore.check(copy, key: Library.key).isSound)
        let report = try SealedStore.salvage(copy, key: Library.key, to: folder.file("new.store"))
        #expect(report.isComplete, "\(report)")
    }

    @Test func `a foreign schema and a wrong key are distinguished from damage`() throws {
        let library = try fill(5)
        try library.opened().database.write { try $0.execute("CREATE TABLE foreign_table (x)") }
        try library.coordinator.removeAllStores()
        let report = try SealedStore.check(url, key: Library.key)
        #expect(report.problems == [StoreProblem(.foreignSchema("foreign_table"))])
        #expect(throws: DatabaseError.wrongKey(path: url.path)) {
            try SealedStore.check(url, key: .passphrase("wrong"))
        }
        #expect(throws: DatabaseError.fileNotFound(path: folder.filePath("none"))) {
            try SealedStore.check(folder.file("none"), key: Library.key)
        }
    }

    @Test func `a check is cancelled`() throws {
        let library = try fill(5)
        let progress = Progress(totalUnitCount: 1)
        progress.cancel()
        let store = try #require(try library.store() as? SealedStore)
        #expect(throws: CancellationError.self) { try store.check(progress: progress) }
        #expect(try store.check(progress: Progress(totalUnitCount: 1)).isSound)
    }
}
