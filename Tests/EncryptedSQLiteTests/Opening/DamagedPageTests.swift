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
        try database.write { try $0.execute("INSERT INTO other VALUES (44)") }
        #expect(try database.read { try $0.integer("SELECT count(*) FROM other") } == 2)
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
