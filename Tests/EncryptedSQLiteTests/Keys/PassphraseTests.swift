import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@Suite struct PassphraseTests {
    let folder = TemporaryFolder()

    @Test func `the sqlcipher tool opens a file with the same passphrase`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .passphrase("it's a \"secret\" ÄÖ 🔑"))
        let script = """
            PRAGMA key = 'it''s a "secret" ÄÖ 🔑';
            SELECT count(*) FROM item;
            """
        let result = try run("sqlcipher", [path], input: script)
        #expect(result.output.hasSuffix("3\n"), "\(result)")
    }

    @Test func `plain SQLite refuses the file`() throws {
        let path = folder.filePath("store")
        try makeSample(path)
        let result = try run("sqlite3", [path, "SELECT count(*) FROM item"])
        #expect(result.status != 0)
        #expect(result.errors.contains("not a database"), "\(result)")
    }

    @Test func `a file of the sqlcipher tool opens`() throws {
        let path = folder.filePath("store")
        let script = """
            PRAGMA key = 'correct horse';
            CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO item VALUES (1, 'one');
            PRAGMA application_id = \(0x5EA1);
            """
        _ = try run("sqlcipher", [path], input: script)
        let database = try openSample(path, key: .passphrase("correct horse"))
        #expect(try database.read { try $0.string("SELECT name FROM item") } == "one")
    }

    @Test(
        arguments: [
            "'", "\"'; DROP TABLE item; --", "\0a", "X'" + String(repeating: "FF", count: 48) + "'",
            "パスワード 🔐 e\u{301}", String(repeating: "long ", count: 200),
        ]
    )
    func `any text is a passphrase`(_ text: String) throws {
        let path = folder.filePath("store")
        _ = try openSample(path, key: .passphrase(text))
        let database = try openSample(path, key: .passphrase(Array(text.utf8)))
        #expect(try database.read { try $0.itemCount() } == 0)
    }

    @Test func `a passphrase in the notation of a raw key is a passphrase`() throws {
        let path = folder.filePath("store")
        let digits = (1...32).map { String(format: "%02x", $0) }.joined()
        try makeSample(path, key: .passphrase("x'\(digits)'"))
        #expect(databaseError { try openSample(path, key: try rawKey(1)) } == .wrongKey(path: path))
    }

    @Test func `a passphrase does not end at its first zero byte`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .passphrase([1, 0, 2] as [UInt8]))
        #expect(
            databaseError { try openSample(path, key: .passphrase([1, 0, 3] as [UInt8])) } == .wrongKey(path: path)
        )
    }

    @Test func `composed and decomposed letters are different passphrases`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .passphrase("\u{e9}"))
        #expect(databaseError { try openSample(path, key: .passphrase("e\u{301}")) } == .wrongKey(path: path))
    }

    @Test func `an empty passphrase is refused and creates no file`() throws {
        let error = databaseError { try openSample(folder.filePath("store"), key: .passphrase("")) }
        #expect(error == .invalidKey(.emptyPassphrase))
        #expect(try folder.names() == [])
    }

    // The key derivation pads passphrases with zero bytes to 128 bytes.
    @Test(arguments: [[UInt8]([0]), [1, 0], [UInt8](repeating: 7, count: 127) + [0]])
    func `a passphrase that ends with zero bytes is refused`(_ bytes: [UInt8]) throws {
        let path = folder.filePath("store")
        let error = databaseError { try openSample(path, key: .passphrase(bytes)) }
        #expect(error == .invalidKey(.trailingZeros))
        #expect(error?.recoverySuggestion?.contains("without them") == true)
        #expect(try folder.names() == [])
        try makeSample(path, key: .passphrase("another"))
        #expect(databaseError { try openSample(path, key: .passphrase(bytes)) } == .invalidKey(.trailingZeros))
    }

    @Test func `a long passphrase may end with a significant zero byte`() throws {
        let path = folder.filePath("store")
        let long = [UInt8](repeating: 7, count: 128)
        try makeSample(path, key: .passphrase(long + [0]))
        #expect(databaseError { try openSample(path, key: .passphrase(long)) } == .wrongKey(path: path))
        #expect(try openSample(path, key: .passphrase(long + [0])).read { try $0.itemCount() } == 3)
    }

    @Test func `a file needs a key`() throws {
        let path = folder.filePath("store")
        #expect(databaseError { try Database(.file(path), key: nil) } == .missingKey(path: path))
        #expect(try folder.names() == [])
    }

    @Test func `one derivation serves the writer and four readers`() throws {
        let database = try openSample(folder.filePath("store"), key: .passphrase("secret"))
        let barrier = Barrier(count: 4)
        inThreads(4) { _ in
            try? database.read { _ in barrier.arrive() }
        }
        #expect(database.statistics.connectionsOpened == 5, "a creator and four readers")
        try database.write { _ in }
        #expect(database.statistics.connectionsOpened == 6, "and a writer")
        #expect(database.statistics.keyDerivations == 1)
    }
}
