import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Files and logs that claim more pages than they have.
@Suite struct PageCountTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    /// The log of one transaction with one page, whose frame gives a size of the database.
    private func writeLog(page: UInt32, _ content: Data, size: UInt32) throws {
        var log = ForgedLog()
        log.append(page: page, content, size: size)
        try log.bytes.write(to: URL(filePath: path + "-wal"))
    }

    @Test func `the size of the database in a log is no number of pages`() throws {
        try makeSample(path, rows: 200)
        let content = try Data(contentsOf: URL(filePath: path))
        let pageCount = content.count / 4096
        // The first page of the file, and a page that was not written with the key.
        for (page, bytes) in [(1, content.prefix(4096)), (1 << 24, Data(repeating: 7, count: 4096))] {
            try writeLog(page: UInt32(page), Data(bytes), size: 1 << 24)
            let file = try DamagedFile(path: path, key: rawKey())
            #expect(file.pageCount == pageCount, "page \(page)")
            let report = try file.verifyPages { _, _ in }
            #expect(report.pageCount == pageCount && report.damagedPageCount == 0, "page \(page)")
            #expect(file.ignoresLog == (page != 1) && report.logFrameCount == (page == 1 ? 1 : 0))
        }
    }

    @Test func `pages of a log behind the end of the file are read`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...200, into: $0) }
        let copy = folder.filePath("copy")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let pageCount = try database.read { try $0.integer("PRAGMA page_count") }
        let filePageCount = try Data(contentsOf: URL(filePath: copy)).count / 4096
        let file = try DamagedFile(path: copy, key: rawKey())
        #expect(Int64(file.pageCount) == pageCount && file.pageCount > filePageCount)
        let schema = try #require(try file.schema())
        let root = try #require(schema.objects.first { $0.name == "item" }).rootPage
        var count = 0
        let losses = try file.readTable(at: root) { _, _ in count += 1 }
        #expect(count == 200 && losses.areNone)
        try database.close()
    }

    @Test func `pages behind the end of a truncated file are missing`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...200, into: $0) }
        try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        try database.write { try $0.execute("UPDATE item SET name = 'changed' WHERE _id = 1") }
        let copy = folder.filePath("copy")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let pageCount = try #require(try database.read { try $0.integer("PRAGMA page_count") })
        try database.close()
        try #require(pageCount > 6 && truncate(copy, 4 * 4096) == 0)
        for suffix in ["-wal", nil] {
            let file = try DamagedFile(path: copy, key: rawKey())
            let report = try file.verifyPages { _, _ in }
            #expect(report.pageCount == Int(pageCount))
            #expect(report.damagedPageCount == file.missingPageCount && file.missingPageCount >= Int(pageCount) - 6)
            if let suffix { try FileManager.default.removeItem(atPath: copy + suffix) }
        }
    }

    @Test(arguments: ["", "-wal"]) func `a file or log that is nearly all a hole is damaged`(suffix: String) throws {
        let database = try openSample(path)
        try database.write { try insert(1...200, into: $0) }
        let copy = folder.filePath("copy")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        try database.close()
        try #require(truncate(copy + suffix, 20 << 30) == 0)
        #expect(databaseError { try DamagedFile(path: copy, key: rawKey()) } == .damaged(path: copy))
    }
}
