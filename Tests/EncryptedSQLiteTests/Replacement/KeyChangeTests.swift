import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// A change of the key of an open database.
@Suite struct KeyChangeTests {
    private let folder = TemporaryFolder()
    private let path: String
    private let database: Database

    init() throws {
        path = folder.filePath("store")
        database = try openSample(path)
        try database.write { try insert(1...1000, into: $0) }
    }

    private func expectOldKey(sourceLocation: SourceLocation = #_sourceLocation) throws {
        try database.write { try insert(2000...2000, into: $0) }
        try database.close()
        #expect(databaseError { try openSample(path, key: rawKey(2)) } == .wrongKey(path: path))
        let reopened = try openSample(path)
        #expect(try reopened.read { try $0.itemCount() } == 1001, sourceLocation: sourceLocation)
        try reopened.close()
        let names = try folder.names()
        #expect(names.filter { $0.contains("replacing") } == [], sourceLocation: sourceLocation)
    }

    @Test func `the new key opens the file and the old key does not`() throws {
        try database.changeKey(to: rawKey(2))
        #expect(databaseError { try openSample(path) } == .wrongKey(path: path))
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 1000)
        #expect(try folder.names().filter { $0.contains("replacing") } == [])
    }

    @Test func `the database continues to read and write under the new key`() throws {
        try database.changeKey(to: rawKey(2))
        #expect(try database.read { try $0.itemCount() } == 1000)
        try database.write { try insert(1001...1001, into: $0) }
        try database.changeKey(to: rawKey(3))
        try database.write { try insert(1002...1002, into: $0) }
        try database.close()
        #expect(try folder.names() == ["store"])
        #expect(try openSample(path, key: rawKey(3)).read { try $0.itemCount() } == 1002)
    }

    @Test func `the new file keeps the numbers of the header, statistics and full-text indexes`() throws {
        try database.write { connection in
            try connection.execute("CREATE VIRTUAL TABLE words USING fts5(word); INSERT INTO words VALUES ('sealed')")
            try connection.execute("CREATE INDEX names ON item (name); ANALYZE; PRAGMA user_version = 1")
        }
        let version = try database.read { try $0.schemaVersion() }
        let statistics = try database.read { try $0.integer("SELECT count(*) FROM sqlite_stat1") }
        try database.changeKey(to: rawKey(2))
        try database.read { connection throws in
            #expect(try connection.schemaVersion() == version + 1)
            #expect(try connection.integer("PRAGMA user_version") == 1)
            #expect(try connection.integer("PRAGMA application_id") == 0x5EA1)
            #expect(try connection.integer("SELECT count(*) FROM sqlite_stat1") == statistics)
            #expect(try connection.integer("SELECT count(*) FROM words WHERE words MATCH 'sealed'") == 1)
            #expect(try connection.string("PRAGMA integrity_check") == "ok")
            #expect(try connection.string("PRAGMA cipher_integrity_check") == nil)
            #expect(try connection.string("PRAGMA journal_mode") == "wal")
        }
    }

    @Test func `the sqlcipher tool opens the file with the new passphrase`() throws {
        try database.changeKey(to: .passphrase("new passphrase"))
        try database.close()
        let script = "PRAGMA key = 'new passphrase'; SELECT count(*) FROM item;"
        #expect(try run("sqlcipher", [path], input: script).output == "ok\n1000\n")
        try openSample(path, key: .passphrase("new passphrase")).close()
    }

    // this database        | other database
    // opens                | opens, reads: its transaction stays open
    // changes the key      |
    //                      | reads: moved
    //                      | writes: moved
    // writes               | closes
    // reads its write      |
    @Test func `another database of the process gets an error at its next use`() throws {
        let other = try openSample(path)
        #expect(try other.read { try $0.itemCount() } == 1000)
        try database.changeKey(to: rawKey(2))
        let moved = DatabaseError.moved(path: path)
        #expect(databaseError { try other.read { try $0.itemCount() } } == moved)
        #expect(databaseError { try other.read { try $0.itemCount() } } == moved)
        #expect(databaseError { try other.write { try insert(5000...5000, into: $0) } } == moved)
        #expect(databaseError { try other.snapshot() } == moved)
        try database.write { try insert(1001...1001, into: $0) }
        try other.close()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"), "the log belongs to the new file")
        #expect(try database.read { try $0.itemCount() } == 1001)
        try database.close()
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 1001)
    }

    @Test func `the old file's content is not left behind`() throws {
        let old = try FileHandle(forReadingFrom: URL(filePath: path))
        try database.changeKey(to: rawKey(2))
        let byteCount = try old.seekToEnd()
        #expect(byteCount == 4096)
        try old.close()
    }

    @Test func `a hard link to the old file keeps its content`() throws {
        let link = folder.filePath("link")
        try FileManager.default.linkItem(atPath: path, toPath: link)
        try database.changeKey(to: rawKey(2))
        #expect(try openSample(link).read { try $0.itemCount() } == 1000)
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 1000)
    }

    @Test func `the new file has the permissions of the old one`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try database.changeKey(to: rawKey(2))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
    }

    @Test func `a symbolic link leads to the new file`() throws {
        try database.close()
        let link = folder.filePath("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let linked = try openSample(link)
        try linked.changeKey(to: rawKey(2))
        try linked.close()
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 1000)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    }

    // MARK: Failures

    @Test func `a cancelled change leaves the old file in use`() throws {
        let progress = Progress(totalUnitCount: 100)
        progress.cancel()
        #expect(throws: CancellationError.self) { try database.changeKey(to: rawKey(2), progress: progress) }
        try expectOldKey()
    }

    @Test func `a failing copy leaves the old file in use`() throws {
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try database.replaceFile(key: rawKey(2)) { source, target, progress in
                try PageCopy.run(from: source, to: target, progress: progress)
                throw Failure()
            }
        }
        try expectOldKey()
    }

    @Test func `a copy without the content's numbers gets them`() throws {
        try database.replaceFile { _, target, _ in try target.execute("CREATE TABLE item (_id, name)") }
        #expect(try database.read { try $0.itemCount() } == 0)
        #expect(try database.read { try $0.integer("PRAGMA application_id") } == 0x5EA1)
    }

    @Test(.enabled(if: Mounts.areAllowed, "mounting needs rights"))
    func `a file that is a mount point is refused while it is in use`() async {
        await #expect(processExitsWith: .success) {
            let folder = TemporaryFolder()
            let path = folder.filePath("a store")
            try makeSample(path, rows: 50)
            try Mounts.mountOnItself(path)
            let database = try openSample(path)
            #expect(throws: DatabaseError.self) { try database.changeKey(to: rawKey(2)) }
            try database.write { try insert(51...60, into: $0) }
            let count = try database.read { try $0.itemCount() }
            #expect(count == 60)
            try database.close()
        }
    }

    @Test func `an open snapshot prevents the change`() throws {
        let snapshot = try database.snapshot()
        #expect(databaseError { try database.changeKey(to: rawKey(2)) } == .busy)
        #expect(try snapshot?.perform { try database.read { try $0.itemCount() } } == 1000)
        withExtendedLifetime(snapshot) {}
    }

    @Test func `a writing database prevents the change`() throws {
        let (database, other) = (database, try openSample(path))
        try other.write { connection in
            try insert(2000...2000, into: connection)
            let busy = Guarded<DatabaseError?>(nil)
            inThreads(1) { _ in
                let error = databaseError { try database.changeKey(to: rawKey(2)) }
                busy.withLock { $0 = error }
            }
            #expect(busy.withLock { $0 } == .busy)
        }
        try database.changeKey(to: rawKey(2))
        #expect(try database.read { try $0.itemCount() } == 1001)
    }

    @Test func `an empty passphrase is refused before anything is written`() throws {
        #expect(databaseError { try database.changeKey(to: .passphrase("")) } == .invalidKey(.emptyPassphrase))
        try expectOldKey()
    }

    @Test func `a database in memory or for reading only has no key to change`() throws {
        let memory = try Database(.memory, key: nil)
        #expect(databaseError { try memory.changeKey(to: rawKey()) } == .noFile)
        let reader = try openSample(path, options: sampleOptions { $0.readOnly = true })
        #expect(databaseError { try reader.changeKey(to: rawKey(2)) } == .readOnly)
    }

    @Test(arguments: [1, 3, 20, 30]) func `a damaged page prevents the change`(page: Int) throws {
        try database.close()
        try patch(path, at: page * 4096 - 2000) { $0 ^ 1 }
        if let damaged = try? openSample(path) {
            #expect(databaseError { try damaged.changeKey(to: rawKey(2)) } == .damaged(path: path))
        }
        let script =
            "PRAGMA key = \"x'\((1...32).map { String(format: "%02x", $0) }.joined())'\"; PRAGMA cipher_integrity_check;"
        let report = try run("sqlcipher", [path], input: script).output
        #expect(report.contains("page \(page)"))
    }

    @Test func `the last overflow page of a value is verified, too`() throws {
        try database.write { connection in
            try connection.execute("CREATE TABLE large (value BLOB); INSERT INTO large VALUES (zeroblob(9000))")
        }
        try database.close()
        let last = try Data(contentsOf: URL(filePath: path)).count / 4096
        try patch(path, at: last * 4096 - 2000) { $0 ^ 1 }
        let damaged = try openSample(path)
        #expect(databaseError { try damaged.changeKey(to: rawKey(2)) } == .damaged(path: path))
    }

    @Test func `the unfinished files of a process that ended are removed by the next opening`() throws {
        try database.close()
        for suffix in ["", "-wal", "-journal"] {
            try Data("unfinished".utf8).write(to: folder.file(".store.replacing" + suffix))
            try Data("unfinished".utf8).write(to: folder.file(".store.compacting" + suffix))
        }
        try openSample(path).close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `an opening leaves the unfinished file of a running replacement`() throws {
        try database.replaceFile(key: rawKey(2)) { source, target, progress in
            try openSample(path).close()
            #expect(try folder.contents().keys.contains(".store.replacing"))
            try PageCopy.run(from: source, to: target, progress: progress)
        }
        #expect(try openSample(path, key: rawKey(2)).read { try $0.itemCount() } == 1000)
    }

    // MARK: Concurrent use

    // this thread          | readers, writers
    // changes the key      | read, save, take snapshots
    // changes the key      | read, save, take snapshots …
    @Test func `threads read and write while the key changes`() throws {
        let database = try openSample(path, options: sampleOptions { $0.busyTimeoutMilliseconds = 60_000 })
        let failures = Guarded<[String]>([])
        inThreads(5) { number in
            do {
                switch number {
                case 0: for round in 0..<8 { try database.changeKey(to: rawKey(UInt8(10 + round))) }
                case 4: for _ in 0..<200 { _ = try database.snapshot() }
                case 1:
                    for item in 2001...2200 { try database.write { try insert(item...item, into: $0) } }
                default:
                    var last: Int64 = 1000
                    for _ in 0..<500 {
                        let count = try database.read { try $0.itemCount() } ?? 0
                        if count < last { failures.withLock { $0.append("\(count) after \(last)") } }
                        last = count
                    }
                }
            } catch {
                failures.withLock { $0.append("\(number): \(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        try database.close()
        try self.database.close()
        let reopened = try openSample(path, key: rawKey(17))
        #expect(try reopened.read { try $0.itemCount() } == 1200)
        #expect(try reopened.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    @Test func `the progress reaches its end`() throws {
        let progress = Progress(totalUnitCount: 100)
        try database.changeKey(to: rawKey(2), progress: progress)
        #expect(progress.fractionCompleted == 1)
    }
}
