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
