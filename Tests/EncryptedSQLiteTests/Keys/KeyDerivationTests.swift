import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Keys that are derived by other functions than SQLCipher's own.
@Suite struct KeyDerivationTests {
    private let folder = TemporaryFolder()
    private let path: String

    init() { path = folder.filePath("store") }

    private func create(_ derivation: KeyDerivation) throws -> String {
        try makeSample(path, key: .passphrase("correct horse", derivation: derivation))
        try openSample(path, key: .passphrase("correct horse", derivation: derivation)).close()
        #expect(databaseError { try openSample(path, key: .passphrase("correct horse")) } == .wrongKey(path: path))
        let salt = try Data(contentsOf: URL(filePath: path)).prefix(16)
        return salt.map { String(format: "%02x", $0) }.joined()
    }

    /// Opens the file with the sqlcipher tool and statements that set the key.
    private func count(_ settings: String) throws -> String {
        try run("sqlcipher", [path], input: settings + "\nSELECT count(*) FROM item;").output
    }

    @Test func `scrypt derives the key that openssl derives, with which sqlcipher opens the file`() throws {
        let salt = try create(.scrypt(cost: 16_384, blockSize: 8, parallelism: 2))
        let arguments = [
            "kdf", "-keylen", "32", "-kdfopt", "pass:correct horse", "-kdfopt", "hexsalt:\(salt)", "-kdfopt", "n:16384",
            "-kdfopt", "r:8", "-kdfopt", "p:2", "-kdfopt", "maxmem_bytes:1073741824", "SCRYPT",
        ]
        let derived = try run("openssl", arguments).output.filter(\.isHexDigit).lowercased()
        try #require(derived.count == 64)
        #expect(try count("PRAGMA key = \"x'\(derived)'\";") == "ok\n3\n")
    }

    @Test func `sqlcipher opens a file with more rounds of PBKDF2 if it knows the number`() throws {
        _ = try create(.pbkdf2(rounds: 300_000))
        #expect(try count("PRAGMA key = 'correct horse'; PRAGMA kdf_iter = 300000;") == "ok\n3\n")
    }

    @Test func `the standard derivation is SQLCipher's`() throws {
        try makeSample(path, key: .passphrase("correct horse", derivation: .standard))
        #expect(try count("PRAGMA key = 'correct horse';") == "ok\n3\n")
        #expect(KeyDerivation.standard == .pbkdf2(rounds: 256_000))
    }

    @Test func `Argon2id works or is refused by name`() throws {
        let key = EncryptionKey.passphrase(
            "correct horse",
            derivation: .argon2id(kibibytes: 1024, iterations: 1, lanes: 1)
        )
        do {
            try makeSample(path, key: key)
            try openSample(path, key: key).close()
        } catch DatabaseError.cipherUnavailable(let reason) {
            #expect(reason == "its libcrypto has no Argon2id")
            #expect(try folder.names() == [])
        }
    }

    @Test(arguments: [
        KeyDerivation.pbkdf2(rounds: 0), .pbkdf2(rounds: -1), .pbkdf2(rounds: .max), .scrypt(cost: 1000),
        .scrypt(cost: 0), .scrypt(cost: 1 << 40), .scrypt(blockSize: 0), .scrypt(blockSize: .max),
        .scrypt(parallelism: 0), .argon2id(kibibytes: 1), .argon2id(kibibytes: .max), .argon2id(iterations: 0),
        .argon2id(lanes: 0),
    ])
    func `parameters out of their range are refused`(derivation: KeyDerivation) throws {
        let key = EncryptionKey.passphrase("correct horse", derivation: derivation)
        #expect(databaseError { try makeSample(path, key: key) } == .invalidKey(.derivationParameters))
        #expect(try folder.names() == [])
    }

    @Test func `the key of a file changes from one derivation to another`() throws {
        try makeSample(path, key: .passphrase("correct horse"))
        let database = try openSample(path, key: .passphrase("correct horse"))
        let key = EncryptionKey.passphrase("correct horse", derivation: .scrypt(cost: 1024))
        try database.changeKey(to: key)
        try database.close()
        #expect(try key.opens(URL(filePath: path)))
        #expect(try !EncryptionKey.passphrase("correct horse").opens(URL(filePath: path)))
    }
}
