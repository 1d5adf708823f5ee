import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Keys and files that are examined without opening a database.
@Suite struct KeyCheckTests {
    private let folder = TemporaryFolder()

    @Test func `the key of a file opens it, and another one does not`() throws {
        try makeSample(folder.filePath("store"))
        let before = try folder.contents()
        #expect(try rawKey().opens(folder.file("store")))
        #expect(try !rawKey(2).opens(folder.file("store")))
        #expect(try !EncryptionKey.passphrase("passphrase").opens(folder.file("store")))
        #expect(try folder.contents() == before)
    }

    @Test func `a file with a log is examined while other connections use it`() throws {
        let database = try openSample(folder.filePath("store"))
        try database.write { try insert(1...10, into: $0) }
        let before = try folder.contents()
        #expect(try rawKey().opens(folder.file("store")))
        #expect(try !rawKey(2).opens(folder.file("store")))
        #expect(try folder.contents() == before)
        try database.write { try insert(11...20, into: $0) }
        #expect(try StoreFile(at: folder.file("store")).hasLog)
        #expect(try database.read { try $0.itemCount() } == 20, "the locks of the connections remain")
    }

    @Test func `a copy with the log of an ended process stays as it is`() throws {
        let database = try openSample(folder.filePath("store"))
        try database.write { try insert(1...10, into: $0) }
        for leftover in Leftover.allCases {
            let other = TemporaryFolder()
            try leftover.copy(folder.filePath("store"), to: other.filePath("store"))
            let before = try other.contents()
            #expect(try rawKey().opens(other.file("store")), "\(leftover)")
            #expect(try !rawKey(2).opens(other.file("store")), "\(leftover)")
            #expect(try StoreFile(at: other.file("store")).kind == .encrypted)
            #expect(try other.contents() == before, "\(leftover)")
        }
    }

    @Test func `files that no key opens are errors`() throws {
        let url = folder.file("store")
        #expect(databaseError { try rawKey().opens(url) } == .fileNotFound(path: url.path))
        try Data().write(to: url)
        #expect(databaseError { try rawKey().opens(url) } == .emptyFile(path: url.path))
        try Data(repeating: 65, count: 8192).write(to: url)
        #expect(databaseError { try rawKey().opens(url) } == .notADatabase(path: url.path, .unrecognised))
        #expect(databaseError { try EncryptionKey.passphrase("").opens(url) } != nil)
    }

    @Test func `a pipe in place of the log is an error`() throws {
        try makeSample(folder.filePath("store"))
        #expect(mkfifo(folder.filePath("store-wal"), 0o600) == 0)
        #expect(throws: DatabaseError.self) { try rawKey(2).opens(folder.file("store")) }
    }

    @Test func `the kind of a file is found without a key`() throws {
        let url = folder.file("store")
        #expect(try StoreFile(at: url).kind == .missing)
        try Data().write(to: url)
        #expect(try StoreFile(at: url).kind == .empty)
        try Data("text".utf8).write(to: url)
        #expect(try StoreFile(at: url).kind == .other)
        try FileManager.default.removeItem(at: url)
        _ = try run("sqlcipher", [url.path], input: "CREATE TABLE item (_id);")
        #expect(try StoreFile(at: url).kind == .plaintextSQLite)
        try FileManager.default.removeItem(at: url)
        try makeSample(url.path)
        let file = try StoreFile(at: url)
        #expect(file.kind == .encrypted)
        #expect(file.byteCount == (try Data(contentsOf: url)).count)
        #expect(!file.hasLog && !file.hasJournal)
        #expect(throws: DatabaseError.self) { try StoreFile(at: folder.url) }
    }
}
