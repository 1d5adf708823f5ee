import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// A file that is deleted, moved or replaced while it is open.
@Suite struct MovedFileTests {
    private let folder = TemporaryFolder()
    private let path: String
    private let database: Database

    init() throws {
        path = folder.filePath("store")
        database = try openSample(path)
        try database.write { try insert(1...3, into: $0) }
    }

    private func move(_ name: String, to newName: String) throws {
        for suffix in ["", "-wal", "-shm"] {
            let (old, new) = (folder.filePath(name) + suffix, folder.filePath(newName) + suffix)
            guard FileManager.default.fileExists(atPath: old) else { continue }
            #expect(rename(old, new) == 0)
        }
    }

    private func removeFile() throws {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func expectRefusedWrites(sourceLocation: SourceLocation = #_sourceLocation) {
        let moved = DatabaseError.moved(path: path)
        #expect(throws: moved, sourceLocation: sourceLocation) { try database.write { try insert(4...4, into: $0) } }
        #expect(throws: moved, sourceLocation: sourceLocation) {
            try database.writeWithoutTransaction { try $0.execute("DELETE FROM item") }
        }
    }

    @Test func `a deleted file takes no writes`() throws {
        try removeFile()
        expectRefusedWrites()
        #expect(try database.read { try $0.itemCount() } == 3, "the open file can still be read")
    }

    /// Writes until the clock has ticked since the last change of the folder: from then on, its times tell a further
    /// change.
    private func writeUntilFolderIsSettled() throws {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.path)
        let modified = try #require(attributes[.modificationDate] as? Date)
        while Date().timeIntervalSince(modified) < 0.1 { try database.write { try $0.execute("DELETE FROM item") } }
        try database.write { try insert(1...3, into: $0) }
    }

    @Test func `a file that is deleted after the folder was unchanged for a while takes no writes`() throws {
        try writeUntilFolderIsSettled()
        try removeFile()
        expectRefusedWrites()
    }

    @Test func `a file in a folder that another one replaced after a while takes no writes`() throws {
        try writeUntilFolderIsSettled()
        let place = folder.url.path
        #expect(rename(place, place + ".old") == 0)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: place + ".old") }
        expectRefusedWrites()
        #expect(rmdir(place) == 0)
        #expect(rename(place + ".old", place) == 0)
        try database.write { try insert(4...4, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
    }

    @Test func `a write transaction of a deleted file cannot commit`() throws {
        let error = databaseError {
            try database.write { connection in
                try insert(4...4, into: connection)
                try removeFile()
            }
        }
        #expect(error == .moved(path: path))
        #expect(error?.recoverySuggestion != nil)
        #expect(try database.read { try $0.itemCount() } == 3)
    }

    @Test func `a moved file takes no writes until it is moved back`() throws {
        try move("store", to: "elsewhere")
        expectRefusedWrites()
        try move("elsewhere", to: "store")
        try database.write { try insert(4...4, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
    }

    @Test func `a replaced file takes no writes, and the new file stays unchanged`() throws {
        let other = try openSample(folder.filePath("other"))
        try other.write { try insert(1...7, into: $0) }
        try other.close()
        try move("store", to: "elsewhere")
        try move("other", to: "store")
        let content = try Data(contentsOf: URL(filePath: path))
        expectRefusedWrites()
        try database.close()
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        let replacement = try openSample(path)
        #expect(try replacement.read { try $0.itemCount() } == 7)
        try replacement.close()
        let moved = try openSample(folder.filePath("elsewhere"))
        #expect(try moved.read { try $0.itemCount() } == 3, "the log was moved, too")
    }

    // MARK: The log and its index

    /// Removals and replacements of a file beside the database, and the file that the error names.
    enum Companion: CaseIterable {
        case noLog, noIndex, noLogAndIndex, emptyLog, folderForLog, linkForLog, otherIndex

        var suffix: String { self == .noIndex || self == .otherIndex ? "-shm" : "-wal" }

        func apply(to path: String) throws {
            let manager = FileManager.default
            try manager.removeItem(atPath: path + suffix)
            switch self {
            case .noLog, .noIndex: break
            // The failed opening of another process leaves an empty log.
            case .emptyLog: try Data().write(to: URL(filePath: path + "-wal"))
            case .noLogAndIndex: try manager.removeItem(atPath: path + "-shm")
            case .folderForLog: try manager.createDirectory(atPath: path + "-wal", withIntermediateDirectories: false)
            case .linkForLog:
                try manager.createSymbolicLink(atPath: path + "-wal", withDestinationPath: "/dev/null")
            case .otherIndex: try Data(count: 32768).write(to: URL(filePath: path + "-shm"))
            }
        }

        /// Whether no other process can have written to the database.
        var isUnused: Bool { self != .folderForLog && self != .linkForLog && self != .otherIndex }
    }

    @Test(arguments: Companion.allCases)
    func `no save is acknowledged without a log and an index that have their names`(_ companion: Companion) throws {
        try companion.apply(to: path)
        let moved = DatabaseError.moved(path: path + companion.suffix)
        for _ in 0..<2 {
            #expect(throws: moved) { try database.write { try insert(4...4, into: $0) } }
        }
        #expect(throws: moved) { try database.writeWithoutTransaction { try $0.execute("DELETE FROM item") } }
        #expect(throws: moved) { try database.snapshot() }
        #expect(try database.read { try $0.itemCount() } == 3, "the open file can still be read")
        let file = try Data(contentsOf: URL(filePath: path))
        try database.close()
        if !companion.isUnused {
            #expect(try Data(contentsOf: URL(filePath: path)) == file, "the log is not written back")
            try FileManager.default.removeItem(atPath: path + companion.suffix)
        }
        let reopened = try openSample(path)
        #expect(try reopened.read { try $0.string("PRAGMA integrity_check") } == "ok")
        if companion.isUnused || companion == .otherIndex {
            #expect(try reopened.read { try $0.itemCount() } == 3, "the last commits are kept")
        }
    }

    @Test func `another database of the process does not open a file whose log lost its name`() throws {
        try FileManager.default.removeItem(atPath: path + "-wal")
        #expect(databaseError { try openSample(path) } == .moved(path: path + "-wal"))
    }

    // The tool finds no index, and makes a new one for the same log:
    //
    //     this database              tool                      log
    //     open, has written 1...3                              1...3
    //                                removes the index
    //                                writes 10                 1...3, 10
    //     would overwrite 10: throws `moved`
    //     closes, writes no log back                           1...3, 10
    @Test func `another process whose index is a different one is not disturbed`() throws {
        try FileManager.default.removeItem(atPath: path + "-shm")
        let digits = (0..<32).map { String(format: "%02x", $0 + 1) }.joined()
        let result = try run(
            "sqlcipher",
            [path],
            input: "PRAGMA key = \"x'\(digits)'\"; INSERT INTO item VALUES (10, 'tool'); SELECT count(*) FROM item;"
        )
        #expect(result.output.contains("4"), "\(result)")
        let moved = DatabaseError.moved(path: path + "-shm")
        #expect(throws: moved) { try database.write { try insert(4...4, into: $0) } }
        try database.close()
        let reopened = try openSample(path)
        #expect(try reopened.read { try $0.itemCount() } == 4)
        #expect(try reopened.read { try $0.string("PRAGMA integrity_check") } == "ok")
    }

    @Test func `a database whose connections were all closed continues with a new log`() throws {
        database.suspend()
        #expect(try folder.names() == ["store"])
        try database.resume()
        try database.write { try insert(4...4, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 4)
    }

    // A process that opens the link names the log after the target.
    @Test func `a file that is behind a symbolic link at its path has moved`() throws {
        #expect(rename(path, folder.filePath("target")) == 0)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target")
        expectRefusedWrites()
        let file = try Data(contentsOf: folder.file("target"))
        try database.close()
        #expect(try Data(contentsOf: folder.file("target")) == file)
        #expect(try folder.names().contains("store-wal"))
    }

    // MARK: Further connections

    @Test func `no connection to another file joins the database`() throws {
        // The database has one reader so far; the nested one and the snapshot need further connections.
        let other = try openSample(folder.filePath("other"))
        try other.write { try insert(1...7, into: $0) }
        try other.close()
        try move("store", to: "elsewhere")
        try move("other", to: "store")
        let database = database
        let result = Guarded<DatabaseError?>(nil)
        let count = try database.read { connection in
            inThreads(1) { _ in
                let error = databaseError { try database.read { try $0.itemCount() } }
                result.withLock { $0 = error }
            }
            return try connection.itemCount()
        }
        #expect(result.withLock { $0 } == .moved(path: path))
        #expect(count == 3)
        #expect(databaseError { try database.snapshot() } == .moved(path: path))
    }

    @Test func `a database keeps the file that it was opened with when a symbolic link changes`()
        throws
    {
        let link = folder.filePath("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let linked = try openSample(link)
        #expect(try linked.read { try $0.itemCount() } == 3)
        try makeSample(folder.filePath("other"), rows: 7)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.filePath("other"))
        #expect(try linked.snapshot() != nil)
        try linked.write { try insert(4...4, into: $0) }
        try linked.close()
        #expect(try database.read { try $0.itemCount() } == 4)
        #expect(try openSample(link).read { try $0.itemCount() } == 7)
    }
}
