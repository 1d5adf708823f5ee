import EncryptedSQLite
import Foundation
import TestSupport
import Testing

@Suite struct ReadOnlyTests {
    let folder = TemporaryFolder()
    let path: String
    let options = sampleOptions { $0.readOnly = true }

    init() throws {
        path = folder.filePath("store")
    }

    @Test func `reading works and writing does not`() throws {
        try makeSample(path)
        let before = try folder.contents()["store"]
        let database = try openSample(path, options: options)
        #expect(try database.read { try $0.itemCount() } == 3)
        #expect(databaseError { try database.write { try $0.execute("DELETE FROM item") } } == .readOnly)
        try database.close()
        #expect(try folder.contents()["store"] == before)
    }

    @Test func `a read-only database sees the commits of another database`() throws {
        let writer = try openSample(path)
        let database = try openSample(path, options: options)
        try writer.write { try insert(1...5, into: $0) }
        #expect(try database.read { try $0.itemCount() } == 5)
    }

    @Test func `no file is created`() throws {
        #expect(databaseError { try openSample(path, options: options) } == .fileNotFound(path: path))
        #expect(try folder.names() == [])
    }
}
