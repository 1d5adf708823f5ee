import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Each new file has a salt of its own, so that no log of another file is taken for its own.
@Suite struct FreshSaltTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    private static let salt = (0..<16).map { UInt8($0 * 3) }

    /// A key, and whether it names the salt.
    enum Key: CaseIterable {
        case passphrase, raw, rawWithSalt, plaintextHeader

        func make() throws -> EncryptionKey {
            switch self {
            case .passphrase: .passphrase("secret")
            case .raw: try rawKey()
            case .rawWithSalt: try .raw(repeatElement(1, count: 32), salt: FreshSaltTests.salt)
            case .plaintextHeader: try rawKey().withPlaintextHeader(salt: FreshSaltTests.salt)
            }
        }

        var namesSalt: Bool { self == .rawWithSalt || self == .plaintextHeader }
    }

    private func salt(_ name: String) throws -> Data { try Data(contentsOf: folder.file(name)).prefix(16) }

    @Test(arguments: Key.allCases)
    func `copies and compactions have salts of their own, unless the key names the salt`(_ key: Key) throws {
        let database = try openSample(path, key: key.make())
        try database.write { try insert(1...30, into: $0) }
        for name in ["first", "second"] { try database.copy(to: folder.filePath(name)) }
        try database.copy(to: folder.filePath("compact"), form: .compact)
        var salts = try ["store", "first", "second", "compact"].map(salt)
        try database.compact()
        salts.append(try salt("store"))
        #expect(Set(salts).count == (key.namesSalt ? 1 : 5))
        try database.write { try insert(31...31, into: $0) }
        try database.close()
        for name in ["first", "second", "compact", "store"] {
            let copy = try openSample(folder.filePath(name), key: key.make())
            #expect(try copy.read { try $0.itemCount() } == (name == "store" ? 31 : 30))
            #expect(try copy.read { try $0.string("PRAGMA integrity_check") } == "ok")
        }
    }

    @Test func `the sqlcipher tool opens a copy with the passphrase of the source`() throws {
        let database = try openSample(path, key: .passphrase("secret"))
        try database.write { try insert(1...40, into: $0) }
        try database.copy(to: folder.filePath("copy"))
        let result = try run(
            "sqlcipher",
            [folder.filePath("copy")],
            input: "PRAGMA key = 'secret'; SELECT count(*) FROM item; PRAGMA integrity_check;"
        )
        #expect(result.output.split(separator: "\n").suffix(2) == ["40", "ok"], "\(result)")
    }

    // process A         | process B              | at the path
    // backs up          |                        | file
    // saves, is killed  |                        | file, log
    //                   | copies the backup      | backup, log
    @Test(arguments: [Key.passphrase, .raw])
    func `a log that remains beside a backup is never applied to it`(_ key: Key) throws {
        let crashed = folder.filePath("crashed")
        let database = try openSample(crashed, key: key.make())
        try database.write { try insert(1...30, into: $0) }
        try database.copy(to: path)
        try database.write { try $0.execute("DELETE FROM item; CREATE INDEX byName ON item (name)") }
        try FileManager.default.copyItem(atPath: crashed + "-wal", toPath: path + "-wal")
        #expect(databaseError { try openSample(path, key: key.make()) } == .foreignLog(path: path))
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(try openSample(path, key: key.make()).read { try $0.itemCount() } == 30)
    }

    @Test(arguments: [Key.passphrase, .raw, .plaintextHeader])
    func `a suspended database continues with a backup in its place`(_ key: Key) throws {
        let database = try openSample(path, key: key.make())
        try database.write { try insert(1...30, into: $0) }
        try database.copy(to: folder.filePath("copy"))
        try database.write { try insert(31...31, into: $0) }
        database.suspend()
        #expect(rename(folder.filePath("copy"), path) == 0)
        try database.resume()
        #expect(try database.read { try $0.itemCount() } == 30)
        // The key is kept for the next copy, too.
        try database.copy(to: folder.filePath("copy"))
        #expect(try openSample(folder.filePath("copy"), key: key.make()).read { try $0.itemCount() } == 30)
    }
}
