import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// Damage that is detected only when a page is read.
@Suite struct DamagedPageTests {
    let folder = TemporaryFolder()
    let path: String

    init() throws {
        path = folder.filePath("store")
        try makeSample(path, rows: 2000)
        let database = try openSample(path)
        try database.write { connection in
            try connection.execute("CREATE TABLE other (value INTEGER) STRICT; INSERT INTO other VALUES (42)")
        }
        try database.close()
        try patch(path, at: 20 * 4096 + 123) { $0 ^ 0x80 }
    }

    @Test func `reading the page fails, and other pages can be read`() throws {
        let database = try openSample(path)
        #expect(
            databaseError { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
                == .damaged(path: path)
        )
        #expect(try database.read { try $0.integer("SELECT value FROM other") } == 42)
    }

    @Test func `a connection runs no statement after it detected damage`() throws {
        let database = try openSample(path)
        let error = databaseError {
            try database.write { connection in
                _ = try? connection.integer("SELECT sum(length(name)) FROM item")
                try connection.execute("INSERT INTO other VALUES (43)")
            }
        }
        #expect(error == .damaged(path: path))
        #expect(try database.read { try $0.integer("SELECT count(*) FROM other") } == 1)
    }

    @Test func `a transaction that detected damage is not committed even if the program catches the error`() throws {
        let database = try openSample(path)
        let error = databaseError {
            try database.write { connection in
                try connection.execute("INSERT INTO other VALUES (43)")
                _ = try? connection.integer("SELECT sum(length(name)) FROM item")
            }
        }
        #expect(error == .damaged(path: path))
        #expect(try database.read { try $0.integer("SELECT count(*) FROM other") } == 1)
    }

    @Test func `a file that proved damaged takes no writes, and is read further`() throws {
        let (database, other) = (try openSample(path), try openSample(path))
        _ = databaseError { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
        for database in [database, other] {
            let insertion = "INSERT INTO other VALUES (43)"
            #expect(databaseError { try database.write { try $0.execute(insertion) } } == .damaged(path: path))
            let error = databaseError { try database.writeWithoutTransaction { try $0.execute(insertion) } }
            #expect(error == .damaged(path: path))
            #expect(try database.read { try $0.integer("SELECT value FROM other") } == 42)
        }
    }

    // The damage changes the application ID in the page. The log has an intact copy of the page.
    @Test func `a first page that is damaged in the file is read from the log`() throws {
        let (logged, copy) = (folder.filePath("logged"), folder.filePath("copy"))
        let original = try openSample(logged)
        try original.write { try insert(1...1000, into: $0) }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: logged + suffix, toPath: copy + suffix) }
        // In the block before that of the ID: decryption passes the changed bit on.
        try patch(copy, at: 52) { $0 ^ 1 }
        #expect(try openSample(copy).read { try $0.itemCount() } == 1000)
    }

    // A checkpoint would write the log into a damaged file and remove it, and with it a part of what a salvage recovers.
    @Test func `a file that proved damaged keeps its log when it is closed`() throws {
        let copy = folder.filePath("copy")
        let original = try openSample(path)
        try original.write { try $0.execute("UPDATE other SET value = 43") }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let contents = try folder.contents()
        let database = try openSample(copy)
        _ = databaseError { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
        #expect(try database.read { try $0.integer("SELECT value FROM other") } == 43)
        try database.close()
        #expect(try folder.contents()["copy"] == contents["copy"])
        #expect(try folder.contents()["copy-wal"] == contents["copy-wal"])
    }

    @Test func `a file that proved damaged takes writes again after it was restored and opened`() throws {
        let database = try openSample(path)
        _ = databaseError { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
        database.suspend()
        try patch(path, at: 20 * 4096 + 123) { $0 ^ 0x80 }
        try database.resume()
        try database.write { try $0.execute("UPDATE other SET value = 44") }
        #expect(try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } != nil)
    }

    @Test func `a file whose pages verify again takes writes again, on all connections`() throws {
        let (database, other) = (try openSample(path), try openSample(path))
        _ = databaseError { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
        #expect(try database.verifyPages { _, _ in }.damagedPageCount == 1)
        let insertion = "INSERT INTO other VALUES (43)"
        #expect(databaseError { try other.write { try $0.execute(insertion) } } == .damaged(path: path))
        try patch(path, at: 20 * 4096 + 123) { $0 ^ 0x80 }
        #expect(databaseError { try other.write { try $0.execute(insertion) } } == .damaged(path: path))
        #expect(try database.verifyPages { _, _ in }.damagedPageCount == 0)
        for database in [database, other] { try database.write { try $0.execute(insertion) } }
        #expect(try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } != nil)
    }

    @Test func `damage is not logged to standard error`() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [path = path as String] in
            let database = try openSample(path)
            _ = try? database.read { try $0.integer("SELECT sum(length(name)) FROM item") }
            _ = try? openSample(path, key: rawKey(2))
        }
        let printed = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(!printed.localizedCaseInsensitiveContains("error"), "\(printed)")
    }
}
