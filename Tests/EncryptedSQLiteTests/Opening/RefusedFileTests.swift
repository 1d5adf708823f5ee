import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Files that do not open: each has its own error and stays unchanged, with no new files beside it.
@Suite struct RefusedFileTests {
    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }

    private func refusal(
        key: EncryptionKey? = nil,
        options: Database.Options = sampleOptions(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> DatabaseError? {
        let before = try folder.contents()
        let error = databaseError { try openSample(path, key: key, options: options) }
        #expect(try folder.contents() == before, "nothing is touched", sourceLocation: sourceLocation)
        return error
    }

    private func write(_ content: Data) throws {
        try content.write(to: URL(fileURLWithPath: path))
    }

    @Test func `a wrong raw key`() throws {
        try makeSample(path)
        #expect(try refusal(key: rawKey(2)) == .wrongKey(path: path))
    }

    @Test func `a wrong passphrase`() throws {
        try makeSample(path, key: .passphrase("right"))
        #expect(try refusal(key: .passphrase("wrong")) == .wrongKey(path: path))
    }

    @Test func `a wrong key for a file with the log of a crashed process`() throws {
        let other = TemporaryFolder()
        let database = try openSample(other.filePath("store"))
        try database.write { try insert(1...100, into: $0) }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: other.filePath("store") + suffix, toPath: path + suffix)
        }
        #expect(try refusal(key: rawKey(2)) == .wrongKey(path: path))
    }

    @Test func `a damaged first page is different from a wrong key`() throws {
        try makeSample(path, rows: 500)
        try patch(path, at: 1000) { $0 ^ 1 }
        #expect(try refusal() == .damaged(path: path))
    }

    @Test func `a damaged first page with a wrong key`() throws {
        try makeSample(path, rows: 500)
        try patch(path, at: 1000) { $0 ^ 1 }
        #expect(try refusal(key: rawKey(2)) == .wrongKey(path: path))
    }

    @Test func `a truncated file`() throws {
        try makeSample(path, rows: 500)
        try write(Data(contentsOf: URL(fileURLWithPath: path)).dropLast(3 * 4096))
        #expect(try refusal() == .damaged(path: path))
    }

    @Test func `a file truncated within a page`() throws {
        try makeSample(path, rows: 500)
        try write(Data(contentsOf: URL(fileURLWithPath: path)).dropLast(100))
        #expect(try refusal() == .damaged(path: path))
    }

    @Test func `a plaintext SQLite database`() throws {
        _ = try run("sqlite3", [path, "CREATE TABLE item (name); INSERT INTO item VALUES ('x');"])
        #expect(try refusal() == .notADatabase(path: path, .plaintextSQLite))
    }

    @Test func `a short text file`() throws {
        try write(Data("hello\n".utf8))
        #expect(try refusal() == .notADatabase(path: path, .shorterThanOnePage))
    }

    @Test(arguments: [4096, 8192, 10_000]) func `a long text file`(_ count: Int) throws {
        try write(Data(String(repeating: "Lorem ipsum dolor sit amet. ", count: 1000).utf8.prefix(count)))
        #expect(try refusal() == .notADatabase(path: path, .unrecognised))
    }

    @Test func `random bytes look like a wrong key`() throws {
        try write(Data((0..<8192).map { _ in UInt8.random(in: 0...255) }))
        #expect(try refusal() == .wrongKey(path: path))
    }

    @Test func `an empty file, although every key opens it`() throws {
        try write(Data())
        #expect(try refusal() == .emptyFile(path: path))
    }

    @Test func `a newer format`() throws {
        _ = try openSample(path, options: sampleOptions { $0.newestUserVersion = 2 })
        #expect(try refusal() == .newerFormat(path: path, found: 2, supported: 1))
    }

    @Test func `a newer format without an application identifier`() throws {
        let options = sampleOptions { ($0.applicationID, $0.newestUserVersion) = (0, 2) }
        _ = try openSample(path, options: options)
        let older = sampleOptions { ($0.applicationID, $0.newestUserVersion) = (0, 1) }
        #expect(
            databaseError { try openSample(path, options: older) } == .newerFormat(path: path, found: 2, supported: 1)
        )
    }

    @Test func `a newer format that is only in the log`() throws {
        let other = TemporaryFolder()
        let database = try openSample(other.filePath("store"))
        try database.write { try $0.execute("PRAGMA user_version = 2") }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: other.filePath("store") + suffix, toPath: path + suffix)
        }
        let before = try folder.contents()
        #expect(databaseError { try openSample(path) } == .newerFormat(path: path, found: 2, supported: 1))
        // SQLite creates shared memory to read a log; database and log stay unchanged.
        #expect(try folder.contents().filter { $0.key != "store-shm" } == before)
    }

    @Test func `another application's database`() throws {
        _ = try openSample(path, options: sampleOptions { $0.applicationID = 77 })
        #expect(try refusal() == .foreignApplication(path: path, found: 77, expected: 0x5EA1))
    }

    @Test func `a database with tables and without an application identifier`() throws {
        _ = try openSample(path, options: sampleOptions { $0.applicationID = 0 })
        #expect(try refusal() == .foreignApplication(path: path, found: 0, expected: 0x5EA1))
    }

    @Test func `a path without a file, if none may be created`() throws {
        #expect(try refusal(options: sampleOptions { $0.createsIfMissing = false }) == .fileNotFound(path: path))
    }

    @Test func `a path in a folder that does not exist`() throws {
        let path = folder.filePath("missing/store")
        #expect(
            databaseError { try openSample(path) } == .cannotOpen(path: path, reason: "its folder does not exist")
        )
    }

    @Test func `a folder`() throws {
        #expect(
            databaseError { try openSample(folder.path) }
                == .cannotOpen(path: folder.path, reason: "it is not a regular file")
        )
    }

    @Test func `errors name the cause and the remedy, without keys`() {
        let error = DatabaseError.wrongKey(path: "/data/store")
        #expect(error.description == "The key does not open the database at /data/store.")
        #expect((error as any Error).localizedDescription == error.description)
        #expect(error.recoverySuggestion?.hasPrefix("Check the passphrase.") == true)
    }
}
