import Foundation
import Guarded
import TestSupport
import Testing

@testable import EncryptedSQLite

@Suite("A copy of a database is complete, or does not exist") struct CopyTests {
    private let folder = TemporaryFolder()

    private func sample(rows: Int = 2000) throws -> Database {
        let database = try openSample(folder.filePath("source.db"))
        try database.write { connection in
            try connection.execute("CREATE INDEX byName ON item (name)")
            try connection.execute("CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one two')")
            try insert(1...rows, into: connection)
        }
        return database
    }

    /// The content of a copy, and the result of the full check.
    private func content(_ path: String, _ key: EncryptionKey? = nil) throws -> [Int64?] {
        let database = try openSample(path, key: key)
        let content = try database.read { connection in
            #expect(try connection.string("PRAGMA integrity_check") == "ok")
            #expect(try connection.string("PRAGMA cipher_integrity_check") == nil)
            #expect(try connection.string("PRAGMA journal_mode") == "wal")
            return [
                try connection.itemCount(), try connection.integer("SELECT max(_id) FROM item"),
                try connection.integer("PRAGMA user_version"), try connection.integer("PRAGMA application_id"),
                try connection.integer("SELECT count(*) FROM words WHERE words MATCH 'two'"),
            ]
        }
        try database.close()
        return content
    }

    @Test(arguments: [Database.CopyForm.pages, .compact])
    func `a copy has the content of the source, under the same or another key`(form: Database.CopyForm) throws {
        let database = try sample()
        try database.write { try $0.execute("DELETE FROM item WHERE _id % 2 = 0 AND _id > 10") }
        let expected: [Int64?] = [1005, 1999, 1, 0x5EA1, 1]
        try database.copy(to: folder.filePath("same.db"), form: form)
        #expect(try content(folder.filePath("same.db")) == expected)
        let passphrase = EncryptionKey.passphrase("another key")
        try database.copy(to: folder.filePath("other.db"), key: passphrase, form: form)
        #expect(try content(folder.filePath("other.db"), passphrase) == expected)
        #expect(
            databaseError { try openSample(folder.filePath("other.db")) }
                == .wrongKey(path: folder.filePath("other.db"))
        )
        #expect(try folder.names().filter { $0.hasSuffix(".creating") } == [])
        let permissions = try FileManager.default.attributesOfItem(atPath: folder.filePath("same.db"))[
            .posixPermissions
        ]
        #expect(permissions as? Int == 0o600)
        if form == .compact {
            let sizes = try ["source.db", "same.db"].map { name in
                try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
                return try Data(contentsOf: folder.file(name)).count
            }
            #expect(sizes[1] < sizes[0] * 3 / 4)
        }
    }

    @Test func `a database in memory is copied to a file with a key`() throws {
        let database = try Database(.memory, key: nil, options: sampleOptions()) { connection in
            try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT) STRICT")
            try connection.execute("CREATE VIRTUAL TABLE words USING fts5(text); INSERT INTO words VALUES ('one two')")
        }
        try database.write { try insert(5...300, into: $0) }
        let path = folder.filePath("memory.db")
        #expect(databaseError { try database.copy(to: path) } == .missingKey(path: path))
        try database.copy(to: path, key: rawKey(9))
        #expect(try content(path, rawKey(9)) == [296, 300, 1, 0x5EA1, 1])
        // The rules for statements are in force again.
        #expect(throws: DatabaseError.notAuthorized) {
            try database.write { try $0.execute("ATTACH 'x.db' AS x") }
        }
        try database.write { try insert(301...302, into: $0) }
    }

    // copy                      | writer
    // begins a read transaction |
    //                           | commits further rows, one transaction each
    // copies, verifies, renames | commits further rows
    //                           | ends
    @Test(arguments: [Database.CopyForm.pages, .compact])
    func `a copy is one committed state, whatever is committed meanwhile`(form: Database.CopyForm) throws {
        let database = try sample()
        let writer = try openSample(folder.filePath("source.db"))
        let isDone = Guarded(false)
        let isBegun = DispatchSemaphore(value: 0)
        let thread = Thread {
            var next = 2001
            while !isDone.withLock({ $0 }) {
                try? writer.write { try insert(next...next + 9, into: $0) }
                next += 10
                if next == 2011 { isBegun.signal() }
            }
            isBegun.signal()
        }
        thread.start()
        isBegun.wait()
        for number in 1...5 {
            try database.copy(to: folder.filePath("copy\(number).db"), form: form)
            let content = try content(folder.filePath("copy\(number).db"))
            let count = try #require(content[0])
            #expect(count >= 2010 && count % 10 == 0)
            #expect(content[1] == count)
        }
        isDone.withLock { $0 = true }
        isBegun.wait()
    }

    @Test(arguments: [Database.CopyForm.pages, .compact])
    func `a cancelled copy leaves nothing`(form: Database.CopyForm) throws {
        let database = try sample()
        let before = try folder.names()
        let progress = Progress(totalUnitCount: 100)
        progress.cancel()
        #expect(throws: CancellationError.self) {
            try database.copy(to: folder.filePath("copy.db"), form: form, progress: progress)
        }
        #expect(try folder.names() == before)
        // At another instant each time, from another thread.
        for spins in stride(from: 0, to: 60_000, by: 3000) {
            let late = Progress(totalUnitCount: 100)
            let thread = Thread {
                for _ in 0..<spins { sched_yield() }
                late.cancel()
            }
            thread.start()
            do {
                try database.copy(to: folder.filePath("copy.db"), form: form, progress: late)
                #expect(try content(folder.filePath("copy.db"))[0] == 2000)
                try FileManager.default.removeItem(at: folder.file("copy.db"))
            } catch is CancellationError {
                #expect(try folder.names() == before)
            }
        }
        #expect(try database.read { try $0.itemCount() } == 2000)
    }

    @Test func `a database is compacted while it is open`() throws {
        let database = try sample()
        try database.write { try $0.execute("DELETE FROM item WHERE _id % 2 = 0 AND _id > 10") }
        let other = try openSample(folder.filePath("source.db"))
        #expect(try other.read { try $0.itemCount() } == 1005)
        func pageCount() throws -> Int64? { try database.read { try $0.integer("PRAGMA page_count") } }
        let before = try #require(try pageCount())
        try database.compact()
        #expect(try pageCount() ?? before < before * 3 / 4)
        #expect(try database.read { try $0.integer("PRAGMA freelist_count") } == 0)
        try database.write { try insert(5000...5001, into: $0) }
        // The other database still has the old file.
        #expect(databaseError { try other.read { try $0.itemCount() } } == .moved(path: folder.filePath("source.db")))
        try other.close()
        try database.close()
        #expect(try content(folder.filePath("source.db")) == [1007, 5001, 1, 0x5EA1, 1])
        #expect(try folder.names().filter { $0.hasPrefix(".") } == [])
    }

    @Test func `an existing file is replaced only if that is asked for and no connection uses it`() throws {
        let database = try sample()
        let path = folder.filePath("copy.db")
        let other = try openSample(path, key: rawKey(3))
        try other.write { try insert(1...5, into: $0) }
        #expect(
            databaseError { try database.copy(to: path) }
                == .cannotOpen(path: path, reason: "a file exists at this path")
        )
        #expect(databaseError { try database.copy(to: path, replacesExisting: true) } == .busy)
        #expect(try other.read { try $0.itemCount() } == 5)
        try other.close()
        try database.copy(to: path, replacesExisting: true)
        #expect(try content(path) == [2000, 2000, 1, 0x5EA1, 1])
        // A source is in use by itself.
        #expect(databaseError { try database.copy(to: folder.filePath("source.db"), replacesExisting: true) } == .busy)
    }

    @Test(arguments: [Database.CopyForm.pages, .compact])
    func `a damaged page of the source is never copied`(form: Database.CopyForm) throws {
        try sample(rows: 300).close()
        let path = folder.filePath("source.db")
        let content = try Data(contentsOf: folder.file("source.db"))
        var refusals = 0
        for page in 2...content.count / 4096 {
            var damaged = content
            damaged[(page - 1) * 4096 + 1000] ^= 4
            try damaged.write(to: folder.file("source.db"))
            guard let database = try? openSample(path) else { continue }
            do {
                try database.copy(to: folder.filePath("copy.db"), form: form)
                // A page that holds nothing.
                #expect(try self.content(folder.filePath("copy.db"))[0] == 300, "page \(page)")
                try FileManager.default.removeItem(atPath: folder.filePath("copy.db"))
            } catch DatabaseError.damaged {
                refusals += 1
            }
            try database.close()
            #expect(!FileManager.default.fileExists(atPath: folder.filePath("copy.db")), "page \(page)")
        }
        #expect(refusals > 5)
        #expect(try folder.names().filter { $0.hasSuffix(".creating") } == [])
    }

    @Test func `the sqlcipher tool opens a copy with the passphrase`() throws {
        let database = try sample(rows: 40)
        try database.copy(to: folder.filePath("copy.db"), key: .passphrase("secret"))
        let result = try run(
            "sqlcipher",
            [folder.filePath("copy.db")],
            input: "PRAGMA key = 'secret'; SELECT count(*) FROM item; PRAGMA integrity_check;"
        )
        #expect(result.output.split(separator: "\n").suffix(2) == ["40", "ok"], "\(result)")
    }
}
