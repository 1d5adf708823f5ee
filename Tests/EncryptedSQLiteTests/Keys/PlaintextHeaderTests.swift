import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// Files whose first 32 bytes are not encrypted, and whose salt the program keeps.
@Suite struct PlaintextHeaderTests {
    private static let salt = (0..<16).map { UInt8(0xA0 + $0) }
    private static let digits = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"

    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }
    private var url: URL { folder.file("store") }

    private func headerKey(_ first: UInt8 = 1, salt: [UInt8] = Self.salt) throws -> EncryptionKey {
        try rawKey(first).withPlaintextHeader(salt: salt)
    }

    private func beginning(_ name: String = "store") throws -> Data {
        try Data(contentsOf: folder.file(name)).prefix(32)
    }

    private func hasHeader(_ name: String = "store") throws -> Bool {
        try beginning(name).starts(with: "SQLite format 3\0".utf8)
    }

    /// The number of items that a key opens.
    private func count(_ name: String = "store", _ key: EncryptionKey) throws -> Int64? {
        let database = try openSample(folder.filePath(name), key: key)
        let count = try database.read { connection in
            #expect(try connection.string("PRAGMA integrity_check") == "ok")
            #expect(try connection.string("PRAGMA cipher_integrity_check") == nil)
            return try connection.itemCount()
        }
        try database.close()
        return count
    }

    @Test func `the file begins with SQLite's header in WAL mode, and contains neither salt nor content`() throws {
        try makeSample(path, key: headerKey(), rows: 500)
        let beginning = try beginning()
        #expect(try hasHeader())
        #expect(beginning[16..<24] == Data([0x10, 0, 2, 2, 80, 64, 32, 32]))
        let content = try Data(contentsOf: url)
        #expect(content.range(of: Data(Self.salt)) == nil)
        #expect(content.range(of: Data("CREATE".utf8)) == nil && content.range(of: Data("item".utf8)) == nil)
        #expect(try count(headerKey()) == 500)
        let file = try StoreFile(at: url)
        #expect(file.kind == .encrypted && file.hasPlaintextHeader)
        #expect(try folder.names() == ["store"])
    }

    private func count(_ key: EncryptionKey) throws -> Int64? { try count("store", key) }

    @Test func `another key or salt is wrong, and a key without salt is reported`() throws {
        try makeSample(path, key: headerKey())
        let before = try folder.contents()
        let otherSalt = try headerKey(salt: Array(repeating: 1, count: 16))
        #expect(databaseError { try openSample(path, key: otherSalt) } == .wrongKey(path: path))
        #expect(databaseError { try openSample(path, key: try headerKey(2)) } == .wrongKey(path: path))
        #expect(databaseError { try openSample(path) } == .invalidKey(.missingSalt))
        #expect(try headerKey().opens(url))
        #expect(try !otherSalt.opens(url))
        #expect(databaseError { try rawKey().opens(url) } == .invalidKey(.missingSalt))
        #expect(databaseError { try rawKey().withPlaintextHeader(salt: [1]) } == .invalidKey(.saltLength(1)))
        #expect(try folder.contents() == before)
        let withSalt = try EncryptionKey.raw((0..<32).map { 1 + $0 }, salt: Self.salt)
        #expect(try count(withSalt) == 3, "a raw key with its salt opens the file, too")
    }

    @Test func `a key with a salt opens a file that begins with another salt`() throws {
        try makeSample(path)
        #expect(try count(headerKey()) == 3)
        #expect(try headerKey().opens(url))
    }

    @Test func `the sqlcipher tool opens the file with the passphrase and the salt, and the other way round`() throws {
        let key = try EncryptionKey.passphrase("correct horse").withPlaintextHeader(salt: Self.salt)
        try makeSample(path, key: key)
        let settings = """
            PRAGMA key = 'correct horse';
            PRAGMA cipher_plaintext_header_size = 32;
            PRAGMA cipher_salt = "x'\(Self.digits)'";
            """
        let result = try run("sqlcipher", [path], input: settings + "SELECT count(*) FROM item;")
        #expect(result.output.hasSuffix("3\n"), "\(result)")
        let other = folder.filePath("other")
        let script = """
            \(settings)
            CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO item VALUES (1, 'one');
            PRAGMA application_id = \(0x5EA1);
            """
        _ = try run("sqlcipher", [other], input: script)
        #expect(try count("other", key) == 1)
        let foreign = try ForeignDatabase(folder.file("other"), key: key)
        #expect(try foreign.read { try $0.itemCount() } == 1)
        foreign.close()
        #expect(
            databaseError { try ForeignDatabase(folder.file("other"), key: nil) }
                == .notADatabase(path: other, .unrecognised)
        )
    }

    @Test func `a file and its log are read after the end of a process`() throws {
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(1...10, into: $0) }
        for leftover in Leftover.allCases {
            let name = "copy-\(leftover)"
            try leftover.copy(path, to: folder.filePath(name))
            #expect(try headerKey().opens(folder.file(name)))
            #expect(try count(name, headerKey()) == (leftover.hasLog ? 10 : 0), "\(leftover)")
        }
    }

    // MARK: New files

    @Test func `a change of the key adds, keeps and removes the header`() throws {
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(1...300, into: $0) }
        try database.changeKey(to: headerKey(2, salt: Array(repeating: 9, count: 16)))
        #expect(try hasHeader())
        try database.write { try insert(301...310, into: $0) }
        try database.changeKey(to: rawKey(3))
        #expect(try !hasHeader())
        #expect(databaseError { try openSample(path, key: try headerKey()) } == .wrongKey(path: path))
        try database.changeKey(to: headerKey(4))
        #expect(try hasHeader())
        try database.write { try insert(311...320, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 320)
        try database.close()
        #expect(try count(headerKey(4)) == 320)
        #expect(try folder.names() == ["store"])
    }

    @Test(arguments: [Database.CopyForm.pages, .compact])
    func `a copy has the layout of its key`(form: Database.CopyForm) throws {
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(1...300, into: $0) }
        try database.copy(to: folder.filePath("same"), form: form)
        try database.copy(to: folder.filePath("other"), key: rawKey(2), form: form)
        #expect(try hasHeader("same"))
        #expect(try !hasHeader("other"))
        #expect(try count("same", headerKey()) == 300)
        #expect(try count("other", rawKey(2)) == 300)
        let standard = try openSample(folder.filePath("other"), key: rawKey(2))
        try standard.copy(to: folder.filePath("third"), key: headerKey(3), form: form)
        #expect(try hasHeader("third"))
        #expect(try count("third", headerKey(3)) == 300)
    }

    @Test func `a compaction in place keeps the header`() throws {
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(1...2000, into: $0) }
        try database.write { try $0.execute("DELETE FROM item WHERE _id > 100") }
        try database.compact()
        #expect(try hasHeader())
        #expect(try database.read { try $0.itemCount() } == 100)
        try database.close()
        #expect(try count(headerKey()) == 100)
        #expect(try Data(contentsOf: url).count < 20 * 4096)
        #expect(try folder.names() == ["store"])
    }

    @Test func `a database in memory is copied to a file with a header`() throws {
        let database = try Database(.memory, key: nil, options: sampleOptions()) { connection in
            try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
        }
        try database.write { try insert(1...300, into: $0) }
        try database.copy(to: path, key: headerKey())
        #expect(try hasHeader())
        #expect(try count(headerKey()) == 300)
    }

    @Test func `a database is suspended, resumed, locked and unlocked`() throws {
        let database = try openSample(path, key: headerKey())
        try database.write { try insert(1...10, into: $0) }
        database.suspend()
        try database.resume()
        #expect(try database.read { try $0.itemCount() } == 10)
        database.lock()
        #expect(databaseError { try database.unlock(with: try rawKey()) } == .invalidKey(.missingSalt))
        try database.unlock(with: headerKey())
        #expect(try database.read { try $0.itemCount() } == 10)
    }

    // MARK: Damage

    @Test func `a changed byte of the header never leads to wrong content`() throws {
        try makeSample(path, key: headerKey(), rows: 200)
        let original = try Data(contentsOf: url)
        for offset in 0..<32 {
            for change: UInt8 in [1, 0x80, 0xFF] {
                var bytes = original
                bytes[offset] ^= change
                try bytes.write(to: url)
                do {
                    let database = try openSample(path, key: headerKey())
                    #expect(try database.read { try $0.itemCount() } == 200, "byte \(offset)")
                    #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok", "byte \(offset)")
                    try database.close()
                } catch {
                    #expect(error is DatabaseError, "byte \(offset)")
                }
                for companion in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + companion) }
            }
        }
    }

    @Test func `a changed constant of the header is damage, and the key still belongs to the file`() throws {
        let key = try EncryptionKey.passphrase("secret", derivation: .pbkdf2(rounds: 1000)).withPlaintextHeader(
            salt: Self.salt
        )
        try makeSample(path, key: key, rows: 200)
        let original = try Data(contentsOf: url)
        for offset in 0..<24 {
            var bytes = original
            bytes[offset] ^= 4
            try bytes.write(to: url)
            #expect(databaseError { try openSample(path, key: key) } == .damaged(path: path), "byte \(offset)")
            #expect(try key.opens(url), "byte \(offset)")
            #expect(try Data(contentsOf: url) == bytes && folder.names() == ["store"], "byte \(offset)")
            let report = try DamagedFile(path: path, key: key).verifyPages { _, _ in }
            #expect(report.damagedPageCount == 0 && report.pageCount == bytes.count / 4096, "byte \(offset)")
        }
    }

    @Test func `a wrong key for a file with a damaged header is no key of the file`() throws {
        try makeSample(path, key: headerKey())
        let original = try Data(contentsOf: url)
        for (offset, isPlaintext) in [(0, false), (16, true), (20, true)] {
            var bytes = original
            bytes[offset] ^= 4
            try bytes.write(to: url)
            let refusal =
                isPlaintext ? DatabaseError.notADatabase(path: path, .plaintextSQLite) : .wrongKey(path: path)
            #expect(databaseError { try openSample(path, key: try headerKey(2)) } == refusal)
            #expect(databaseError { try DamagedFile(path: path, key: headerKey(2)) } == refusal)
        }
    }

    @Test(arguments: [0, 40, 3000]) func `the intact pages of a file with a damaged first page are read`(
        offset: Int
    ) throws {
        try makeSample(path, key: headerKey(), rows: 200)
        var bytes = try Data(contentsOf: url)
        bytes[offset] ^= 1
        try bytes.write(to: url)
        let file = try DamagedFile(path: path, key: headerKey())
        let report = try file.verifyPages { _, _ in }
        // The header itself is not authenticated.
        #expect(report.damagedPageCount == (offset < 32 ? 0 : 1))
        #expect(report.pageCount == bytes.count / 4096)
    }

    @Test func `an unencrypted database with reserved bytes has no plaintext header`() throws {
        let script = "PRAGMA journal_mode = DELETE;\n.filectrl reserve_bytes 80\nVACUUM;\nCREATE TABLE item (a);"
        _ = try run("sqlcipher", [path], input: script)
        #expect(try Data(contentsOf: url)[20] == 80)
        #expect(
            databaseError { try openSample(path, key: try headerKey()) } == .notADatabase(path: path, .plaintextSQLite)
        )
        #expect(try StoreFile(at: url).kind == .plaintextSQLite)
    }
}
