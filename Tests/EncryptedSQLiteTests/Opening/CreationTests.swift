import CSQLCipher
import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@Suite struct CreationTests {
    struct Refusal: Error {}

    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }

    private func permissions(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.filePath(name))[.posixPermissions] as? Int
    }

    @Test func `database, log and shared memory can be read by their owner only`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...10, into: $0) }
        for name in ["store", "store-wal", "store-shm"] { #expect(try permissions(name) == 0o600, "\(name)") }
        try database.close()
    }

    @Test func `folders of other programs with a similar name stay`() throws {
        for name in [".upload.creating", ".x.creating", ".store.12345678901234567.creating", ".12ab.creating"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
        }
        let before = try folder.names()
        let database = try openSample(path)
        try database.write { try insert(1...10, into: $0) }
        try database.close()
        try openSample(path).close()
        #expect(try folder.names() == (before + ["store"]).sorted())
    }

    @Test func `after closing there is one file`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...10, into: $0) }
        _ = try database.read { try $0.itemCount() }
        try database.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `the numbers that identify the file are set`() throws {
        let database = try openSample(path)
        #expect(try database.read { try $0.integer("PRAGMA application_id") } == 0x5EA1)
        #expect(try database.read { try $0.integer("PRAGMA user_version") } == 1)
        #expect(try database.read { try $0.string("PRAGMA journal_mode") } == "wal")
    }

    @Test func `a user version set by the creation is kept`() throws {
        let options = sampleOptions { $0.newestUserVersion = 5 }
        let database = try Database(.file(path), key: rawKey(), options: options) { connection in
            try connection.execute("PRAGMA user_version = 3")
        }
        #expect(try database.read { try $0.integer("PRAGMA user_version") } == 3)
    }

    @Test func `a failed creation leaves no file`() throws {
        #expect(throws: Refusal.self) {
            try Database(.file(path), key: rawKey(), options: sampleOptions()) { connection in
                try connection.execute("CREATE TABLE item (name TEXT)")
                throw Refusal()
            }
        }
        #expect(try folder.names() == [])
    }

    @Test func `creation runs once`() throws {
        try makeSample(path)
        _ = try Database(.file(path), key: rawKey(), options: sampleOptions()) { _ in
            Issue.record("The file exists already.")
        }
    }

    @Test func `an encrypted file without any content is completed`() throws {
        _ = try run("sqlcipher", [path], input: "PRAGMA key = 'secret'; PRAGMA journal_mode = WAL;")
        let database = try openSample(path, key: .passphrase("secret"))
        #expect(try database.read { try $0.itemCount() } == 0)
        #expect(try database.read { try $0.integer("PRAGMA application_id") } == 0x5EA1)
    }

    @Test func `a creation removes the old leftovers of an interrupted creation`() throws {
        let (old, new) = (folder.filePath(".store.0a.creating"), folder.filePath(".store.0b.creating"))
        // A long transaction writes only the log.
        let used = folder.filePath(".store.0c.creating")
        for path in [old, old + "-wal", new, used, used + "-wal"] {
            try Data([1]).write(to: URL(fileURLWithPath: path))
        }
        let yesterday = Date(timeIntervalSinceNow: -86_400)
        for path in [old, old + "-wal", used] {
            try FileManager.default.setAttributes([.modificationDate: yesterday], ofItemAtPath: path)
        }
        try openSample(path).close()
        #expect(
            try folder.names() == [".store.0b.creating", ".store.0c.creating", ".store.0c.creating-wal", "store"]
        )
    }

    @Test func `files and folders take a free name on a file system without a call for it`() throws {
        let taken = folder.filePath("taken")
        try FileManager.default.createDirectory(atPath: taken, withIntermediateDirectories: false)
        try Data([1]).write(to: folder.file("file"))
        try FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
        try Data([2]).write(to: folder.file("folder/content"))
        for name in ["file", "folder"] {
            #expect(csqlcipher_link_exclusively(folder.filePath(name), taken) == -1 && errno == EEXIST)
            #expect(csqlcipher_link_exclusively(folder.filePath(name), folder.filePath("new \(name)")) == 0)
        }
        #expect(try folder.names() == ["new file", "new folder", "taken"])
        #expect(try Data(contentsOf: folder.file("new folder/content")) == Data([2]))
    }

    @Test func `threads that create the same file concurrently open the same database`() throws {
        let path = path
        let barrier = Barrier(count: 4)
        inThreads(4) { number in
            barrier.arrive()
            do {
                let options = sampleOptions { $0.busyTimeoutMilliseconds = 10_000 }
                let database = try openSample(path, options: options)
                try database.write { try insert(number * 10 + 1...number * 10 + 10, into: $0) }
            } catch {
                Issue.record(error)
            }
        }
        #expect(try openSample(path).read { try $0.itemCount() } == 40)
    }

    @Test func `processes that create the same file concurrently open the same database`() async throws {
        let path = path
        await withTaskGroup { group in
            for number in 0..<3 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
                        do {
                            let options = sampleOptions { $0.busyTimeoutMilliseconds = 10_000 }
                            let database = try openSample(path, options: options)
                            try database.write { try insert(number * 10 + 1...number * 10 + 10, into: $0) }
                            try database.close()
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
        }
        #expect(try openSample(path).read { try $0.itemCount() } == 30)
    }
}
