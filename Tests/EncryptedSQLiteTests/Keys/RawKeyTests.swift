import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@Suite struct RawKeyTests {
    let folder = TemporaryFolder()
    let bytes = (0..<32).map { UInt8($0 * 7) }

    @Test func `a raw key needs no derivation`() throws {
        let database = try openSample(folder.filePath("store"), key: .raw(bytes))
        #expect(database.statistics.keyDerivations == 0)
    }

    @Test func `a raw key opens the file again with the salt from the file`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .raw(Data(bytes)))
        let database = try openSample(path, key: .raw(bytes))
        #expect(try database.read { try $0.itemCount() } == 3)
    }

    @Test func `a new file begins with the given salt`() throws {
        let path = folder.filePath("store")
        let salt = Data((0..<16).map { UInt8(200 + $0) })
        try makeSample(path, key: .raw(bytes, salt: salt))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(16) == salt)
    }

    @Test func `another salt than that of the file is a wrong key`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .raw(bytes))
        let key = try EncryptionKey.raw(bytes, salt: repeatElement(1, count: 16))
        #expect(databaseError { try openSample(path, key: key) } == .wrongKey(path: path))
    }

    @Test func `two files with the same key have different salts`() throws {
        for name in ["a", "b"] { try makeSample(folder.filePath(name), key: .raw(bytes)) }
        let contents = try folder.contents()
        #expect(contents["a"]?.prefix(16) != contents["b"]?.prefix(16))
    }

    @Test func `the sqlcipher tool opens a file with the same raw key`() throws {
        let path = folder.filePath("store")
        try makeSample(path, key: .raw(bytes))
        let digits = bytes.map { String(format: "%02x", $0) }.joined()
        let result = try run("sqlcipher", [path], input: "PRAGMA key = \"x'\(digits)'\"; SELECT count(*) FROM item;")
        #expect(result.output.hasSuffix("3\n"), "\(result)")
    }

    @Test(arguments: [0, 31, 33]) func `a raw key of another length is refused`(_ count: Int) {
        #expect(
            databaseError { try EncryptionKey.raw(repeatElement(1, count: count)) } == .invalidKey(.rawKeyLength(count))
        )
    }

    @Test(arguments: [0, 15, 17]) func `a salt of another length is refused`(_ count: Int) {
        let salt = [UInt8](repeating: 1, count: count)
        #expect(databaseError { try EncryptionKey.raw(bytes, salt: salt) } == .invalidKey(.saltLength(count)))
    }

    @Test func `no description shows a key`() throws {
        let key = EncryptionKey.passphrase("hush")
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("hush"))
            #expect(!text.contains("104"))
        }
    }
}
