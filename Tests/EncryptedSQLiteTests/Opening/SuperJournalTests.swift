import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// A rollback journal that names another file, which SQLite deletes after the rollback.
@Suite struct SuperJournalTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }
    private var journal: String { path + "-journal" }
    private var victim: URL { folder.file("victim") }

    private func plant(pageByteCount: Int = 4096) throws {
        try Data("precious".utf8).write(to: victim)
        let pageCount = try Data(contentsOf: folder.file("store")).count / pageByteCount
        let bytes = HotJournal.naming(victim.path, pageCount: pageCount, pageByteCount: pageByteCount)
        try bytes.write(to: URL(filePath: journal))
    }

    private func expectRefusal(_ open: () throws -> Void) throws {
        let before = try folder.contents()
        let error = databaseError(open)
        #expect(error == .superJournal(path: journal))
        #expect(error?.recoverySuggestion?.contains("Remove the journal") == true)
        #expect(try folder.contents() == before)
    }

    @Test func `the journal has SQLite delete the file through its own file system`() throws {
        _ = try run("sqlite3", [path], input: "CREATE TABLE item (a);")
        try plant()
        let result = try run("sqlite3", [path], input: "SELECT count(*) FROM item;")
        #expect(result.output == "0\n", "\(result)")
        #expect(!FileManager.default.fileExists(atPath: victim.path))
    }

    @Test func `every opening of a database refuses the journal, and changes nothing`() throws {
        try makeSample(path)
        try plant()
        for readOnly in [false, true] {
            try expectRefusal { _ = try openSample(path, options: sampleOptions { $0.readOnly = readOnly }) }
        }
        try expectRefusal { _ = try rawKey().opens(folder.file("store")) }
        try expectRefusal { _ = try DamagedFile(path: path, key: rawKey()) }
        try expectRefusal { try Database.examine(.file(path), key: rawKey(), options: sampleOptions()) { _ in } }
        try expectRefusal { _ = try ForeignDatabase(folder.file("store"), key: rawKey()) }
        #expect(try StoreFile(at: folder.file("store")).kind == .encrypted)
    }

    @Test func `an import refuses the journal of a database without encryption`() throws {
        _ = try run("sqlite3", [path], input: "CREATE TABLE item (a);")
        try plant()
        try expectRefusal { _ = try ForeignDatabase(folder.file("store"), key: nil) }
    }

    @Test func `a connection that finds the journal at its first read deletes no other file`() throws {
        _ = try run("sqlite3", [path], input: "CREATE TABLE item (a);")
        let options = Database.Options()
        let connection = try ConnectionOpener.connect(
            DatabaseFiles(at: path),
            options: options,
            counters: StatisticsCounters()
        )
        try plant()
        #expect(throws: DatabaseError.self) { try connection.setting("SELECT count(*) FROM item") }
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test func `a FIFO in place of the other file blocks no opening`() throws {
        try makeSample(path)
        try plant()
        try FileManager.default.removeItem(at: victim)
        try #require(mkfifo(victim.path, 0o600) == 0)
        #expect(databaseError { try openSample(path) } == .superJournal(path: journal))
    }

    @Test func `a journal that is no longer valid is not refused`() throws {
        try makeSample(path)
        try plant()
        try patch(journal, at: 0) { _ in 0 }
        let database = try openSample(path)
        #expect(try database.read { try $0.itemCount() } == 3)
        #expect(FileManager.default.fileExists(atPath: victim.path))
    }
}
