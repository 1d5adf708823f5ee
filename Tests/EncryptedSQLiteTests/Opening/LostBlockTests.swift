import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// The failure model: with the default durability, the power fails before the disk has all blocks of the log. A block
/// that never reached the disk has zeros, or the content of an earlier log: SQLite writes a log again from its beginning
/// once all of it is in the file. The header of a log is synchronized before its frames are written.
@Suite struct LostBlockTests {
    private let folder = TemporaryFolder()
    private let originals = TemporaryFolder()

    enum Content: CaseIterable {
        case zeros, earlierLog
    }

    /// A file with its log of more than 700 frames, and the earlier log that had the same place.
    private struct CrashedFiles {
        let file: Data
        let log: Data
        let earlierLog: Data
        /// The frames that end a transaction, from 0 on.
        let commits: [Int]
        /// The `user_version` before the first transaction of the log, each of which adds one.
        let version: Int64
    }

    private static let frameCount = 700

    /// Transaction *n* of the second log writes *n* into each of several pages.
    private func crashedFiles() throws -> CrashedFiles {
        let (path, log) = (originals.filePath("store"), originals.file("store-wal"))
        try makeSample(path, rows: 400)
        let database = try openSample(path)
        func fill(_ number: Int) throws {
            try database.write { connection in
                for part in 0..<3 {
                    try connection.execute(
                        "UPDATE item SET name = '\(number)' || substr(name, 4) WHERE _id = 1 + 90 * \(part) + \(number) % 80"
                    )
                }
                try connection.execute("PRAGMA user_version = \(number)")
            }
        }
        var number = 0
        let size = 32 + Self.frameCount * 4120
        while try Data(contentsOf: log).count < size {
            number += 1
            try fill(number)
        }
        let earlierLog = try Data(contentsOf: log)
        try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(RESTART)") }
        let file = try Data(contentsOf: URL(filePath: path))
        for transaction in 1...number { try fill(number + transaction) }
        let bytes = try Data(contentsOf: log)
        let salts = bytes[16..<24]
        let commits = (0..<(bytes.count - 32) / 4120).filter { frame in
            let start = 32 + frame * 4120
            return bytes[start + 8..<start + 16] == salts && bytes[start + 4..<start + 8] != Data(count: 4)
        }
        try database.close()
        try #require(commits.count == number && commits.last! >= Self.frameCount - 50)
        // The logs have the same transactions, and nearly the same length.
        let count = min(bytes.count, earlierLog.count)
        return CrashedFiles(
            file: file,
            log: bytes.prefix(count),
            earlierLog: earlierLog.prefix(count),
            commits: commits.filter { 32 + ($0 + 1) * 4120 <= count },
            version: Int64(number)
        )
    }

    /// Opens the files without a block of the log, and compares what is there with the transactions before the block.
    private func open(_ files: CrashedFiles, without block: Range<Int>, _ content: Content, checks: Bool) throws {
        let comment: Comment = "\(content), bytes \(block)"
        let path = folder.filePath("store-\(UUID().uuidString)")
        defer {
            for suffix in ["", "-wal", "-shm", "-wal.lost"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        var log = files.log
        switch content {
        case .zeros: log.resetBytes(in: block)
        case .earlierLog: log.replaceSubrange(block, with: files.earlierLog[block])
        }
        try files.file.write(to: URL(filePath: path))
        try log.write(to: URL(filePath: path + "-wal"))
        let firstFrame = (block.lowerBound - 32) / 4120
        let present = files.commits.count { $0 < firstFrame }
        let lost = files.commits.count { 32 + $0 * 4120 >= block.upperBound }
        let options = sampleOptions { $0.newestUserVersion = 1_000_000 }
        let database: Database
        do {
            database = try openSample(path, options: options)
        } catch {
            Issue.record("\(error) \(comment)")
            return
        }
        #expect(try database.read { try $0.integer("PRAGMA user_version") } == files.version + Int64(present), comment)
        let loss = database.takeLogLoss()
        // The frame of a commit can have the page of an earlier log, which is authentic: it is exactly a block.
        let hasEarlierPage = files.commits.contains { 32 + 24 + $0 * 4120 == block.lowerBound } && block.count >= 4096
        #expect((lost...(hasEarlierPage ? lost + 1 : lost)).contains(loss?.commitCount ?? 0), comment)
        if let copy = loss?.copyPath {
            #expect(content == .earlierLog, comment)
            #expect(try Data(contentsOf: URL(filePath: copy)) == log, comment)
        } else {
            #expect(
                lost == 0 || content == .zeros || loss == nil || firstFrame * 4120 + 32 >= block.lowerBound,
                comment
            )
        }
        if checks {
            #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok", comment)
            try database.write { try $0.execute("PRAGMA user_version = 999999") }
            try database.close()
            let reopened = try openSample(path, options: options)
            #expect(try reopened.read { try $0.integer("PRAGMA user_version") } == 999_999, comment)
            #expect(reopened.takeLogLoss() == nil, comment)
            try reopened.close()
        } else {
            try database.close()
        }
    }

    // `KILL_COUNT` is the number of places; all of them from 300 on.
    @Test(arguments: [512, 1024, 4096, 65_536], Content.allCases)
    func `a file whose log lacks a block opens with the transactions before the block`(
        unit: Int,
        content: Content
    ) throws {
        let files = try crashedFiles()
        var generator = SeededGenerator()
        let places = Array(1..<(files.log.count / unit))
        let count = killCount(5)
        let chosen = count >= 300 ? places : (0..<count).compactMap { _ in generator.pick(places) }
        for (index, place) in chosen.enumerated() {
            let block = place * unit..<(place + 1) * unit
            try open(files, without: block, content, checks: index % 5 == 0)
        }
        // A block that is exactly the page of a frame: its header is on the disk.
        let aligned = files.commits.map { 32 + 24 + $0 * 4120 }.filter { $0 % unit == 0 }
        for start in aligned.prefix(count) where start + unit <= files.log.count {
            try open(files, without: start..<start + unit, content, checks: true)
        }
    }

    // The salt is the same in each version of the page, and its code does not cover the salt.
    @Test(arguments: Content.allCases)
    func `a log opens that lacks the first page of the file except for a part of the salt`(content: Content) throws {
        let files = try crashedFiles()
        let starts = (0..<(files.log.count / 4120 - 2)).compactMap { frame -> Int? in
            let number = files.log[32 + frame * 4120..<36 + frame * 4120]
            let page = 32 + 24 + frame * 4120
            let start = (page + 511) / 512 * 512
            return number == Data([0, 0, 0, 1]) && start <= page + 16 ? start : nil
        }
        try #require(starts.count > 2)
        for start in starts { try open(files, without: start..<start + 4096, content, checks: true) }
    }

    @Test func `an opening for reading only reports the loss, and changes nothing`() throws {
        let files = try crashedFiles()
        var log = files.log
        log.replaceSubrange(340 * 4096..<341 * 4096, with: files.earlierLog[340 * 4096..<341 * 4096])
        try files.file.write(to: folder.file("store"))
        try log.write(to: folder.file("store-wal"))
        let before = try folder.contents()
        for _ in 1...2 {
            let options = sampleOptions { ($0.readOnly, $0.newestUserVersion) = (true, 1_000_000) }
            let database = try openSample(folder.filePath("store"), options: options)
            let loss = try #require(database.takeLogLoss())
            #expect(loss.commitCount > 50 && loss.copyPath == nil)
            try database.close()
            #expect(try folder.contents().filter { !$0.key.hasSuffix("-shm") } == before)
        }
    }

    // this process                            | files
    // opens the file                          | the log lacks a block; a copy of it is made
    // saves, which overwrites a part of it    |
    // ends                                    | the rest of the lost transactions follows the new one
    //                                         | the next opening keeps the copy, and may report them again
    @Test func `transactions that overwrite a part of the loss leave its copy`() throws {
        let files = try crashedFiles()
        var log = files.log
        log.replaceSubrange(5 * 65_536..<6 * 65_536, with: files.earlierLog[5 * 65_536..<6 * 65_536])
        try files.file.write(to: folder.file("store"))
        try log.write(to: folder.file("store-wal"))
        let options = sampleOptions { $0.newestUserVersion = 1_000_000 }
        let database = try openSample(folder.filePath("store"), options: options)
        let copy = try #require(database.takeLogLoss()?.copyPath)
        #expect(try Data(contentsOf: URL(filePath: copy)) == log)
        try database.write { try $0.execute("PRAGMA user_version = 999999") }
        let crashed = TemporaryFolder()
        for (name, bytes) in try folder.contents() where !name.hasSuffix("-shm") {
            try bytes.write(to: crashed.file(name))
        }
        try database.close()
        let reopened = try openSample(crashed.filePath("store"), options: options)
        #expect(try reopened.read { try $0.integer("PRAGMA user_version") } == 999_999)
        #expect(try Data(contentsOf: crashed.file("store-wal.lost")) == log)
        try reopened.close()
    }
}
