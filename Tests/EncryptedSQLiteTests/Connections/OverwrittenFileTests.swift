@testable import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A file whose content another program overwrites in place, as `cp` does, while it is open.
@Suite struct OverwrittenFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    /// The file that overwrites the database.
    enum Content: CaseIterable {
        /// A backup.
        case otherSalt
        /// A plain copy of an earlier state.
        case sameSalt
        /// The same under a key with a plaintext header.
        case plaintextHeader
        /// Nothing yet: the program has truncated the file.
        case nothing

        func key() throws -> EncryptionKey {
            guard self == .plaintextHeader else { return try rawKey() }
            return try rawKey().withPlaintextHeader(salt: repeatElement(7, count: 16))
        }
    }

    private func checkpoint(_ database: Database) throws {
        try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(PASSIVE)") }
    }

    /// Overwrites the file by another process: this one would release its locks with the descriptor.
    private func overwrite(_ content: Data) throws {
        try content.write(to: folder.file("content"))
        #expect(try run("cp", [folder.filePath("content"), path]).status == 0)
    }

    // this process                  | another program
    // opens, saves, backs up        |
    // saves, writes the log back    |
    //                               | copies the backup over the file
    // saves: throws `moved`         |
    // closes, writes nothing        |
    @Test(arguments: Content.allCases)
    func `a file that is overwritten in place takes no writes`(_ content: Content) throws {
        let database = try openSample(path, key: content.key())
        try database.write { try insert(1...300, into: $0) }
        try checkpoint(database)
        let copy = folder.filePath("copy")
        if content == .otherSalt {
            try database.copy(to: copy)
        } else {
            #expect(try run("cp", [path, copy]).status == 0)
        }
        let bytes = content == .nothing ? Data() : try Data(contentsOf: URL(filePath: copy))
        try database.write { connection in
            try insert(301...900, into: connection)
            try connection.execute("CREATE TABLE other (value INTEGER) STRICT")
        }
        try checkpoint(database)
        try database.write { try insert(901...901, into: $0) }
        try overwrite(bytes)
        let moved = DatabaseError.moved(path: path)
        for _ in 0..<2 {
            #expect(databaseError { try database.write { try insert(902...902, into: $0) } } == moved)
        }
        #expect(databaseError { try checkpoint(database) } == moved)
        #expect(databaseError { try database.compact() } == moved)
        // A further connection.
        #expect(databaseError { try database.snapshot() } == moved)
        try database.close()
        #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
        #expect(try Data(contentsOf: URL(filePath: path + "-wal")).count > 0, "the log is not lost")
        guard content == .otherSalt else { return }
        #expect(databaseError { try openSample(path, key: content.key()) } == .foreignLog(path: path))
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(try openSample(path, key: content.key()).read { try $0.itemCount() } == 300)
    }

    @Test func `a page of an overwritten file is no damage of the file that was open`() throws {
        // The cache holds a part of the pages.
        let database = try openSample(path, options: sampleOptions { $0.cacheKilobytes = 100 })
        try database.write { try insert(1...3000, into: $0) }
        try checkpoint(database)
        try database.copy(to: folder.filePath("copy"))
        #expect(try database.read { try $0.itemCount() } == 3000)
        try overwrite(Data(contentsOf: folder.file("copy")))
        #expect(databaseError { try database.read { try $0.itemCount() } } == .moved(path: path))
    }

    // Checkpoints by other connections and processes write the first page at any instant.
    //
    //     this process          | another process
    //     saves, checks          | saves, writes the log back, …
    @Test(arguments: [Content.sameSalt, .plaintextHeader])
    func `checkpoints of others are no overwriting`(_ content: Content) async throws {
        let database = try openSample(
            path,
            key: content.key(),
            options: sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
        )
        let path = path
        let isHeader = content == .plaintextHeader
        async let other: Void = {
            await #expect(processExitsWith: .success) { [path = path as String, isHeader = isHeader as Bool] in
                do {
                    let options = sampleOptions { $0.busyTimeoutMilliseconds = 60_000 }
                    let key = try (isHeader ? OverwrittenFileTests.Content.plaintextHeader : .sameSalt).key()
                    let database = try openSample(path, key: key, options: options)
                    for number in 0..<300 {
                        try database.write { try insert(10_000 + 10 * number...10_009 + 10 * number, into: $0) }
                        if number % 3 == 0 {
                            let mode = number % 2 == 0 ? "PASSIVE" : "RESTART"
                            try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(\(mode))") }
                        }
                    }
                    try database.close()
                } catch {
                    Issue.record(error)
                }
            }
        }()
        for number in 1...300 {
            try database.write { try insert(10 * number...10 * number + 9, into: $0) }
            if number % 4 == 0 { try checkpoint(database) }
        }
        await other
        #expect(try database.read { try $0.itemCount() } == 6000)
    }
}
