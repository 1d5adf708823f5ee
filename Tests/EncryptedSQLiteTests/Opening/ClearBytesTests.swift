import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Bytes of a file and its log that are neither encrypted nor authenticated, changed by another program.
@Suite struct ClearBytesTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }
    private var log: URL { folder.file("store-wal") }

    private func headerKey() throws -> EncryptionKey {
        try rawKey().withPlaintextHeader(salt: (0..<16).map { UInt8($0) })
    }

    /// Changes bytes of the header.
    enum Change: CaseIterable {
        case fewerPages, morePages, smallerPages, otherVersion

        func apply(to page: inout Data) {
            let start = page.startIndex
            switch self {
            case .fewerPages: page[start + 31] -= 1
            case .morePages: page[start + 31] += 1
            case .smallerPages: page.replaceSubrange(start + 16..<start + 18, with: [2, 0])
            case .otherVersion: page[start + 18] = 7
            }
        }
    }

    @Test(arguments: Change.allCases) func `a changed header of a file is damage`(change: Change) throws {
        try makeSample(path, key: headerKey(), rows: 200)
        var bytes = try Data(contentsOf: folder.file("store"))
        change.apply(to: &bytes)
        try bytes.write(to: folder.file("store"))
        #expect(databaseError { try openSample(path, key: try headerKey()) } == .damaged(path: path))
        #expect(try Data(contentsOf: folder.file("store")) == bytes)
    }

    // this process              | another program
    // opens the file, reads     |
    //                           | changes the header in place
    // opens a writer: damaged   |
    @Test(arguments: Change.allCases) func `a changed header of an open file is damage`(change: Change) throws {
        try makeSample(path, key: headerKey(), rows: 200)
        let database = try openSample(path, key: headerKey())
        #expect(try database.read { try $0.itemCount() } == 200)
        var bytes = try Data(contentsOf: folder.file("store"))
        change.apply(to: &bytes)
        try bytes.prefix(4096).write(to: folder.file("page"))
        _ = try run("dd", ["if=\(folder.filePath("page"))", "of=\(path)", "bs=4096", "conv=notrunc"])
        #expect(databaseError { try database.write { try insert(1000...1000, into: $0) } } == .damaged(path: path))
        #expect(try Data(contentsOf: folder.file("store")) == bytes)
    }

    // this process                          | log                              | file
    // adds pages                            | page 1, ..., the last page       |
    // begins a snapshot                     |                                  |
    // changes the last page                 | the last page again              |
    // writes the log back up to the snapshot|                                  | page 1, not the last page
    // opens another connection, writes      |                                  |
    @Test func `a header that a checkpoint has written before the last page is right`() throws {
        try makeSample(path, key: headerKey(), rows: 20)
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(100...400, into: $0) }
        let snapshot = try database.snapshot()
        try database.write { try $0.execute("UPDATE item SET name = upper(name) WHERE _id = 400") }
        try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(PASSIVE)") }
        let file = try Data(contentsOf: folder.file("store"))
        let pageCount = file[28..<32].reduce(0) { $0 << 8 | Int($1) }
        try #require(pageCount * 4096 > file.count, "the file lacks its last page")
        let other = try openSample(path, key: headerKey())
        #expect(try other.read { try $0.itemCount() } == 321)
        try other.write { try insert(500...600, into: $0) }
        try database.write { try insert(601...700, into: $0) }
        #expect(try snapshot?.perform { try database.read { try $0.itemCount() } } == 321)
        for database in [database, other] {
            #expect(try database.read { try $0.itemCount() } == 522)
            try database.close()
        }
        let reopened = try openSample(path, key: headerKey())
        #expect(try reopened.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    /// A file with a log of which the first page is a part, as a killed process leaves them.
    private func makeLog(_ key: EncryptionKey) throws -> Data {
        let original = folder.filePath("original")
        try makeSample(original, key: key, rows: 60)
        try FileManager.default.copyItem(atPath: original, toPath: path)
        let database = try openSample(original, key: key)
        try database.write { try insert(100...400, into: $0) }
        let bytes = try Data(contentsOf: URL(filePath: original + "-wal"))
        try database.close()
        return bytes
    }

    @Test(arguments: Change.allCases) func `a changed header in the log is damage`(change: Change) throws {
        let intact = try makeLog(headerKey())
        var changes = 0
        let forged = ForgedLog(intact) { _, page in
            guard page.starts(with: "SQLite format 3\0".utf8) else { return }
            change.apply(to: &page)
            changes += 1
        }
        #expect(changes > 0)
        try forged.bytes.write(to: log)
        #expect(databaseError { try openSample(path, key: try headerKey()) } == .damaged(path: path))
        #expect(try Data(contentsOf: log) == forged.bytes)
        try ForgedLog(intact) { _, _ in }.bytes.write(to: log)
        let database = try openSample(path, key: headerKey())
        #expect(try database.read { try $0.itemCount() } == 361)
    }

    @Test(arguments: [false, true]) func `a log with another page size is refused`(hasHeader: Bool) throws {
        let key = hasHeader ? try headerKey() : try rawKey()
        _ = try makeLog(key)
        let pages = ForgedLog(pageByteCount: 512)
        try pages.bytes.write(to: log)
        for readOnly in [false, true] {
            let options = sampleOptions { $0.readOnly = readOnly }
            do {
                let database = try openSample(path, key: key, options: options)
                #expect(try database.read { try $0.itemCount() } == 60)
                try database.close()
            } catch {
                #expect(error is DatabaseError)
            }
        }
    }

    @Test func `many saves beside readers of other connections never contradict the header`() throws {
        let database = try openSample(
            path,
            key: headerKey(),
            options: sampleOptions { $0.busyTimeoutMilliseconds = 5000 }
        )
        let other = try openSample(path, key: headerKey(), options: sampleOptions { $0.busyTimeoutMilliseconds = 5000 })
        for round in 0..<40 {
            let first = round * 200 + 1
            try (round % 2 == 0 ? database : other).write { try insert(first...first + 199, into: $0) }
            if round % 5 == 4 { try other.write { try $0.execute("DELETE FROM item WHERE _id % 3 = 0") } }
            let counts = try [database, other].map { try $0.read { try $0.itemCount() } }
            #expect(counts[0] == counts[1])
        }
        try other.close()
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }
}
