import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Reading a database of the `sqlcipher` tool without a write-ahead log.
@Suite struct RollbackJournalTests {
    let folder = TemporaryFolder()
    let path: String
    let options = sampleOptions { $0.readOnly = true }

    init() throws {
        path = folder.filePath("store")
        let script = """
            PRAGMA key = 'secret';
            CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO item VALUES (1, 'one');
            PRAGMA application_id = \(0x5EA1);
            """
        _ = try run("sqlcipher", [path], input: script)
    }

    private func openReader() throws -> Database { try openSample(path, key: .passphrase("secret"), options: options) }

    @Test func `reading creates no shared memory`() throws {
        let database = try openReader()
        for _ in 0..<3 { #expect(try database.read { try $0.itemCount() } == 1) }
        #expect(try folder.names() == ["store"])
        try database.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `an idle reader does not block writers`() throws {
        let database = try openReader()
        #expect(try database.read { try $0.itemCount() } == 1)
        let script = "PRAGMA key = 'secret'; INSERT INTO item VALUES (2, 'two');"
        let result = try run("sqlcipher", [path], input: script)
        #expect(!result.errors.contains("locked"), "\(result)")
        #expect(try database.read { try $0.itemCount() } == 2)
    }

    @Test func `a database that gets a log while it is open`() throws {
        let database = try openReader()
        #expect(try database.read { try $0.itemCount() } == 1)
        let script = "PRAGMA key = 'secret'; PRAGMA journal_mode = WAL; INSERT INTO item VALUES (2, 'two');"
        _ = try run("sqlcipher", [path], input: script)
        #expect(try database.read { try $0.itemCount() } == 2)
    }

    @Test func `opening leaks no descriptor`() async throws {
        await #expect(processExitsWith: .success) { [path = path as String] in
            let options = sampleOptions { $0.readOnly = true }
            func descriptorCount() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            func openOnce(_ key: String) throws {
                let database = try openSample(path, key: .passphrase(key), options: options)
                _ = try database.read { try $0.itemCount() }
                try database.close()
            }
            try openOnce("secret")
            let before = try descriptorCount()
            for _ in 0..<3 { try openOnce("secret") }
            for _ in 0..<3 { try? openOnce("wrong") }
            // The database has a log from here on.
            try openSample(path, key: .passphrase("secret")).close()
            for _ in 0..<3 { try openOnce("secret") }
            try #require(try descriptorCount() == before)
        }
    }
}
