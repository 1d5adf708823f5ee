import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A database beside a log that does not belong to it, or is damaged: a process was killed and left its log, and a backup
/// took the place of the file.
@Suite struct ForeignLogTests {
    private let folder = TemporaryFolder()
    private let originals = TemporaryFolder()
    private var path: String { folder.filePath("store") }
    private var log: URL { URL(filePath: path + "-wal") }

    enum Pages: CaseIterable {
        case withFirst, withoutFirst

        var statement: String {
            switch self {
            case .withFirst: "CREATE TABLE other (value INTEGER) STRICT"
            case .withoutFirst: "UPDATE item SET name = upper(name)"
            }
        }
    }

    /// Puts a file with 60 items beside the log of another file, or of the same one.
    private func putLog(_ pages: Pages, key: EncryptionKey, isOwn: Bool = false) throws {
        let crashed = originals.filePath("crashed")
        try makeSample(crashed, key: key, rows: 60)
        if isOwn {
            try FileManager.default.copyItem(atPath: crashed, toPath: path)
        } else {
            try makeSample(path, key: key, rows: 60)
        }
        let database = try openSample(crashed, key: key)
        try database.write { try $0.execute(pages.statement) }
        try FileManager.default.copyItem(atPath: crashed + "-wal", toPath: path + "-wal")
        try database.close()
    }

    @Test(arguments: Pages.allCases, [EncryptionKey.passphrase("secret"), try rawKey()])
    func `a file beside the log of another file is refused unchanged`(_ pages: Pages, _ key: EncryptionKey) throws {
        try putLog(pages, key: key)
        let before = try folder.contents()
        for readOnly in [false, true] {
            let error = databaseError {
                try openSample(path, key: key, options: sampleOptions { $0.readOnly = readOnly })
            }
            #expect(error == .foreignLog(path: path))
            #expect(error?.recoverySuggestion?.contains("-wal") == true)
            #expect(try folder.contents() == before)
        }
        // The remedy.
        try FileManager.default.removeItem(at: log)
        let database = try openSample(path, key: key)
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = lower(name)") } == 60)
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    @Test(arguments: Pages.allCases)
    func `a file that may only be read is refused beside the log of another file`(_ pages: Pages) async throws {
        try putLog(pages, key: rawKey())
        for (name, permissions) in [(path, 0o444), (log.path, 0o444), (folder.path, 0o777)] {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: name)
        }
        await #expect(processExitsWith: .success) { [path = path as String] in
            try becomeOrdinaryUser()
            let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = true }) }
            try #require(error == .foreignLog(path: path))
        }
    }

    // writing process       | this process
    // saves, its log stays  |
    //                       | opens the file for reading
    @Test func `a file that may only be read is opened beside its own log`() async throws {
        try makeSample(path, key: rawKey(), rows: 60)
        let writer = try openSample(path)
        try writer.write { try $0.execute("UPDATE item SET name = upper(name)") }
        for (suffix, permissions) in [("", 0o444), ("-wal", 0o444), ("-shm", 0o666)] {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path + suffix)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
        await #expect(processExitsWith: .success) { [path = path as String] in
            try becomeOrdinaryUser()
            let database = try openSample(path, options: sampleOptions { $0.readOnly = true })
            try #require(
                try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = upper(name)") } == 60
            )
        }
        try writer.close()
    }

    @Test func `a file whose own log has a damaged page is refused unchanged`() throws {
        try putLog(.withoutFirst, key: rawKey(), isOwn: true)
        let intact = try Data(contentsOf: log)
        // The checksums are valid: they need no key.
        try ForgedLog(intact) { if $0 == 1 { $1[1000] ^= 1 } }.bytes.write(to: log)
        let before = try folder.contents()
        #expect(databaseError { try openSample(path) } == .foreignLog(path: path))
        #expect(try folder.contents() == before)
        try ForgedLog(intact) { _, _ in }.bytes.write(to: log)
        let database = try openSample(path)
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = upper(name)") } == 60)
    }

    /// Makes a file with 60 items, and puts the log of several transactions beside it.
    ///
    /// - Returns: The log, and the offset of its third transaction of six.
    private func putTransactions() throws -> (log: Data, middle: Int) {
        let crashed = originals.filePath("crashed")
        try makeSample(crashed, key: rawKey(), rows: 60)
        try FileManager.default.copyItem(atPath: crashed, toPath: path)
        let database = try openSample(crashed)
        var middle = 0
        for number in 1...6 {
            try database.write { try $0.execute("UPDATE item SET name = 'name \(number)' WHERE _id <= 10 * \(number)") }
            if number == 2 { middle = try Data(contentsOf: URL(filePath: crashed + "-wal")).count }
        }
        let bytes = try Data(contentsOf: URL(filePath: crashed + "-wal"))
        try database.close()
        return (bytes, middle)
    }

    enum LogChange: CaseIterable {
        case number, size, salt, checksum, page, endOfPage, header, lastPage
    }

    @Test(arguments: LogChange.allCases)
    func `a log in which single bits have changed is refused unchanged if a transaction would be lost`(
        change: LogChange
    ) throws {
        var (bytes, frame) = try putTransactions()
        switch change {
        case .number: bytes[frame + 3] ^= 1
        case .size: bytes[frame + 7] ^= 1
        case .salt: bytes[frame + 9] ^= 1
        case .checksum: bytes[frame + 20] ^= 1
        case .page:
            // Four bytes that lie in one step of the checksum.
            for offset in 1000..<1004 { bytes[frame + offset] ^= 0x5A }
        case .endOfPage: bytes[frame + 4119] ^= 0x80
        case .header: bytes[17] ^= 1
        case .lastPage: bytes[bytes.count - 2000] ^= 1
        }
        try bytes.write(to: log)
        let before = try folder.contents()
        for readOnly in [false, true] {
            let error = databaseError { try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
            #expect(error == .foreignLog(path: path))
            #expect(try folder.contents() == before)
        }
        let report = try DamagedFile(path: path, key: rawKey()).verifyPages { _, _ in }
        #expect(report.lostCommitCount > 0 || change == .lastPage)
    }

    enum Interruption: CaseIterable {
        case missingBlock, olderBlock, cutOff, incompleteLastFrame
    }

    // What the end of a process or a power failure can leave.
    @Test(arguments: Interruption.allCases)
    func `the first transactions of an incomplete log are read`(interruption: Interruption) throws {
        var (bytes, frame) = try putTransactions()
        let block = (frame / 4096 + 1) * 4096
        let last: Int
        switch interruption {
        case .missingBlock:
            bytes.resetBytes(in: block..<block + 4096)
            last = 2
        case .olderBlock:
            // That of an earlier log, with other salts, but the same pages: it completes the frame.
            let older = ForgedLog(bytes) { _, _ in }.bytes
            bytes.replaceSubrange(block..<block + 4096, with: older[block..<block + 4096])
            last = 3
        case .cutOff:
            bytes.removeSubrange((frame + 2000)...)
            last = 2
        case .incompleteLastFrame:
            bytes.resetBytes(in: bytes.count - 2000..<bytes.count)
            last = 5
        }
        try bytes.write(to: log)
        let database = try openSample(path)
        #expect(try database.read { try $0.string("SELECT name FROM item WHERE _id = 1") } == "name \(last)")
        #expect((database.takeLogLoss() != nil) == [.missingBlock, .olderBlock].contains(interruption))
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    // one process               | another process
    // writes a long transaction |
    // is killed before its end  |
    //                           | writes a short one over the beginning of the long one
    @Test func `the rest of an abandoned transaction is no damage`() throws {
        let (bytes, middle) = try putTransactions()
        let other = originals.filePath("other")
        try FileManager.default.copyItem(atPath: path, toPath: other)
        try bytes[..<middle].write(to: URL(filePath: other + "-wal"))
        let database = try openSample(other)
        try database.write { try $0.execute("UPDATE item SET name = 'short' WHERE _id = 1") }
        let short = try Data(contentsOf: URL(filePath: other + "-wal"))
        try database.close()
        #expect(short.count > middle && short.count < bytes.count && short[..<middle] == bytes[..<middle])
        try (short + bytes[short.count...]).write(to: log)
        let opened = try openSample(path)
        #expect(opened.takeLogLoss() == nil)
        #expect(try opened.read { try $0.string("SELECT name FROM item WHERE _id = 1") } == "short")
        #expect(try opened.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    // SQLite reads the newest version of each page only.
    @Test func `an older version of a page in a log need not verify`() throws {
        try putLog(.withoutFirst, key: rawKey(), isOwn: true)
        let intact = try Data(contentsOf: log)
        var twice = ForgedLog(intact) { $1[1000] ^= 1 }
        twice.append(intact)
        try twice.bytes.write(to: log)
        let database = try openSample(path)
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = upper(name)") } == 60)
    }

    @Test func `a salvage ignores the log of another file`() throws {
        try putLog(.withFirst, key: rawKey())
        let file = try DamagedFile(path: path, key: rawKey())
        #expect(file.ignoresLog && file.mayHaveLostCommits)
        #expect(try file.verifyPages { _, _ in }.damagedPageCount == 0)
        #expect(try count(file) == 60)
    }

    @Test func `a salvage reads the file in place of damaged pages of its log`() throws {
        try putLog(.withoutFirst, key: rawKey(), isOwn: true)
        try ForgedLog(Data(contentsOf: log)) { if $0 == 1 { $1[1000] ^= 1 } }.bytes.write(to: log)
        let file = try DamagedFile(path: path, key: rawKey())
        #expect(try count(file) == 60)
        #expect(!file.ignoresLog && file.outdatedPageCount == 1 && file.damagedPages.count == 1)
        #expect(try file.verifyPages { _, _ in }.damagedPageCount == 1)
    }

    /// The number of items that a salvage reads.
    private func count(_ file: DamagedFile) throws -> Int {
        let root = try #require(try file.schema()?.objects.first { $0.name == "item" }).rootPage
        var count = 0
        let losses = try file.readTable(at: root) { _, _ in count += 1 }
        #expect(losses.areNone)
        return count
    }
}
