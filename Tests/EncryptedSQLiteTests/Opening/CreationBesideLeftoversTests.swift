import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A new file never meets the log, shared memory or journal of an earlier database of its name.
@Suite struct CreationBesideLeftoversTests {
    let folder = TemporaryFolder()
    var path: String { folder.filePath("store") }

    /// Leaves the log and shared memory of a database whose file alone was removed.
    private func leaveLog(key: EncryptionKey? = nil) throws {
        let other = TemporaryFolder()
        let database = try openSample(other.filePath("store"), key: key)
        try database.write { try insert(1...300, into: $0) }
        for suffix in ["-wal", "-shm"] {
            try FileManager.default.copyItem(atPath: other.filePath("store") + suffix, toPath: path + suffix)
        }
        try database.close()
    }

    /// A raw key with a salt: all its files have the same page keys.
    private static func saltedKey() throws -> EncryptionKey {
        try .raw(repeatElement(1, count: 32), salt: [UInt8](repeating: 9, count: 16))
    }

    private func expectEmpty(_ database: Database) throws {
        #expect(try database.read { try $0.itemCount() } == 0)
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
        try database.write { try insert(1...3, into: $0) }
        try database.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `an old log of the same key does not restore objects`() throws {
        try leaveLog(key: try Self.saltedKey())
        try expectEmpty(try openSample(path, key: try Self.saltedKey()))
        #expect(try openSample(path, key: try Self.saltedKey()).read { try $0.itemCount() } == 3)
    }

    @Test func `an old log of another key does not damage the file`() throws {
        try leaveLog(key: .passphrase("secret"))
        try expectEmpty(try openSample(path, key: .passphrase("secret")))
        #expect(try openSample(path, key: .passphrase("secret")).read { try $0.itemCount() } == 3)
    }

    @Test func `an old journal is not rolled back into the file`() throws {
        let other = TemporaryFolder()
        try makeInterruptedDatabase(other.filePath("store"), passphrase: "secret")
        try FileManager.default.moveItem(atPath: other.filePath("store-journal"), toPath: path + "-journal")
        try expectEmpty(try openSample(path, key: .passphrase("secret")))
    }

    @Test func `a failed creation leaves the old log`() throws {
        struct Refusal: Error {}
        try leaveLog()
        let before = try folder.contents()
        #expect(throws: Refusal.self) {
            try Database(.file(path), key: rawKey(), options: sampleOptions()) { _ in throw Refusal() }
        }
        #expect(try folder.contents() == before)
    }

    @Test func `opening without creating leaves the old log`() throws {
        try leaveLog()
        let before = try folder.contents()
        let options = sampleOptions { $0.createsIfMissing = false }
        #expect(databaseError { try openSample(path, options: options) } == .fileNotFound(path: path))
        #expect(try folder.contents() == before)
    }

    // The database that is still open must not share memory with the new database.
    //
    //     old database       new database      at the path
    //     open, commits                        file, log, shared memory
    //                                          log, shared memory (the file is removed)
    //                        created, commits  all three of the new database
    //     closes                               all three of the new database
    @Test func `an open database whose file was removed stays separate`() throws {
        let old = try openSample(path)
        try old.write { try insert(1...300, into: $0) }
        try FileManager.default.removeItem(atPath: path)
        let new = try openSample(path)
        try new.write { try insert(1...5, into: $0) }
        try? old.close()
        #expect(try new.read { try $0.itemCount() } == 5)
        #expect(try new.read { try $0.string("PRAGMA integrity_check") } == "ok")
        try new.close()
        #expect(try openSample(path).read { try $0.itemCount() } == 5)
    }

    @Test func `a file that was renamed away and back opens with its log`() throws {
        let other = TemporaryFolder()
        let database = try openSample(other.filePath("store"))
        try database.write { try insert(1...300, into: $0) }
        try Leftover.log.copy(other.filePath("store"), to: path)
        try FileManager.default.moveItem(atPath: path, toPath: folder.filePath("away"))
        #expect(databaseError { try openSample(path, options: sampleOptions { $0.readOnly = true }) } != nil)
        try FileManager.default.moveItem(atPath: folder.filePath("away"), toPath: path)
        #expect(try openSample(path).read { try $0.itemCount() } == 300)
    }

    // Each round begins with an old log and no file. Each process creates or opens the database, commits, and is killed
    // with its log in place: no process may remove the commits of another.
    @Test func `processes that create the same file concurrently lose no commit`() async throws {
        for round in 0..<5 {
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
            try leaveLog(key: try Self.saltedKey())
            let path = path
            await withTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        await #expect(processExitsWith: .signal(SIGKILL)) {
                            [path = path as String, number = number as Int] in
                            let options = sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
                            let key = try EncryptionKey.raw(
                                repeatElement(1, count: 32),
                                salt: [UInt8](repeating: 9, count: 16)
                            )
                            do {
                                let database = try openSample(path, key: key, options: options)
                                try database.write { try insert(number * 10 + 1...number * 10 + 10, into: $0) }
                            } catch {
                                Issue.record(error)
                            }
                            kill(getpid(), SIGKILL)
                        }
                    }
                }
            }
            let database = try openSample(path, key: try Self.saltedKey())
            #expect(try database.read { try $0.itemCount() } == 40, "round \(round)")
            #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok", "round \(round)")
            try database.close()
        }
    }

    @Test func `threads that create the same file concurrently lose no commit`() throws {
        for round in 0..<10 {
            for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.filePath(name)) }
            try leaveLog()
            let path = path
            let barrier = Barrier(count: 4)
            inThreads(4) { number in
                barrier.arrive()
                do {
                    let options = sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
                    let database = try openSample(path, options: options)
                    try database.write { try insert(number * 10 + 1...number * 10 + 10, into: $0) }
                } catch {
                    Issue.record(error)
                }
            }
            #expect(try openSample(path).read { try $0.itemCount() } == 40, "round \(round)")
        }
    }

    #if os(Linux)
        // The next opening finds an empty database or creates one, and what was acknowledged.
        @Test(.enabled(if: HiddenSecret.isSearchable, "a sanitizer defines the functions that record"))
        func `a process that is killed after any change to the files while it creates one`() throws {
            var outcomes: [Int64: Int] = [:]
            for change in 1... {
                for name in try folder.names() { try FileManager.default.removeItem(atPath: folder.filePath(name)) }
                try leaveLog(key: try Self.saltedKey())
                let process = try RecordedProcess(.create, in: folder.url, killedAfter: change)
                guard process.wasKilled else {
                    #expect(process.result.status == 0, "\(process.result)")
                    break
                }
                let database = try openSample(path, key: try Self.saltedKey())
                let count = try #require(try database.read { try $0.itemCount() })
                #expect(count == 1 || count == 0 && process.notes.isEmpty, "change \(change)")
                #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok", "change \(change)")
                try database.close()
                // A temporary file is removed by a creation one hour later.
                #expect(try folder.names().filter { !$0.hasPrefix(".store.") } == ["store"], "change \(change)")
                outcomes[Int64(count), default: 0] += 1
            }
            #expect(outcomes[0, default: 0] > 5 && outcomes[1, default: 0] > 0, "\(outcomes)")
        }
    #endif
}
