import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// The failure model: a process ends at a step of ``FileSwap``, and other connections have the file open before and
/// after. The locks of the process are released, and what it wrote remains.
@Suite struct InterruptedSwapTests {
    /// The last step before the end of the process.
    enum Step: CaseIterable {
        case invalidateIndex, emptyLog, removeIndex, rename
    }

    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    /// Changes the key up to a step.
    private func changeKey(of database: Database, to key: EncryptionKey, endingAfter step: Step) throws {
        let session = try database.openSession()
        let replacement = FileReplacement(session: session, options: database.options, counters: database.counters)
        let built = try replacement.build(key, progress: Progress(totalUnitCount: 100)) { source, target, progress in
            try PageCopy.run(from: source, to: target, progress: progress)
        }
        let gate = OpeningGate.at(path)
        try built.file.lock.lockReading(timeoutMilliseconds: 1000, gate) { session.file.endIdleTransactions() }
        // The gate ends with its process.
        gate.open()
        try built.file.lock.lockOpening(timeoutMilliseconds: 1000)
        let swap = FileSwap(session: session, options: database.options)
        let file = try #require(csqlcipher_main_file(built.file.lock.connection.handle))
        try swap.invalidateIndex(file)
        if step != .invalidateIndex { try swap.emptyLog() }
        if step == .removeIndex || step == .rename { try swap.removeIndex() }
        if step == .rename { #expect(rename(built.file.files.path, path) == 0) }
        // A process that ends does not remove its new file.
        built.file.isNamed = true
    }

    private func count(_ key: EncryptionKey) throws -> Int64? {
        let database = try openSample(path, key: key)
        defer { try? database.close() }
        return try database.read { try $0.itemCount() }
    }

    // ended process                | database             | others
    //                              | open                 |
    // invalidates the index, ends  |                      |
    //                              |                      | open the file with the old key
    //                              | reads and writes     | read the new row
    @Test(arguments: [Step.invalidateIndex, .emptyLog])
    func `before the rename, the old file opens at once and its connections continue`(step: Step) throws {
        let database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
        try changeKey(of: database, to: rawKey(2), endingAfter: step)
        #expect(databaseError { try count(rawKey(2)) } == .wrongKey(path: path))
        #expect(try count(rawKey()) == 100)
        #expect(try database.read { try $0.itemCount() } == 100)
        try database.write { try insert(101...110, into: $0) }
        #expect(try count(rawKey()) == 110)
        try database.close()
        #expect(try count(rawKey()) == 110)
        #expect(try folder.names() == ["store"], "the unfinished new file is removed")
    }

    @Test func `after the rename, the new file opens at once and connections to the old one fail`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
        try changeKey(of: database, to: rawKey(2), endingAfter: .rename)
        #expect(databaseError { try count(rawKey()) } == .wrongKey(path: path))
        #expect(try count(rawKey(2)) == 100)
        let new = try openSample(path, key: rawKey(2))
        try new.write { try insert(101...110, into: $0) }
        #expect(databaseError { try database.read { try $0.itemCount() } } == .moved(path: path))
        #expect(databaseError { try database.write { try insert(200...201, into: $0) } } == .moved(path: path))
        try database.close()
        try new.write { try insert(111...120, into: $0) }
        #expect(try count(rawKey(2)) == 120)
        #expect(try new.read { try $0.string("PRAGMA integrity_check") } == "ok")
        try new.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `between the removal of the index and the rename, other processes open the old file at once`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
        try changeKey(of: database, to: rawKey(2), endingAfter: .removeIndex)
        let digits = (1...32).map { String(format: "%02x", $0) }.joined()
        let script = "PRAGMA key = \"x'\(digits)'\"; INSERT INTO item VALUES (1000, 'x'); SELECT count(*) FROM item;"
        let result = try run("sqlcipher", [path], input: script)
        #expect(result.output.hasSuffix("101\n"), "\(result)")
        #expect(databaseError { try database.read { try $0.itemCount() } } == .moved(path: path))
        // Connections of one process to one file share their memory.
        try database.close()
        #expect(try count(rawKey()) == 101)
    }

    @Test(arguments: [Step.invalidateIndex, .emptyLog, .rename]) func `the key can be changed again`(step: Step) throws
    {
        let bystander = try openSample(path)
        try bystander.write { try insert(1...100, into: $0) }
        try changeKey(of: bystander, to: rawKey(2), endingAfter: step)
        let database = try openSample(path, key: rawKey(step == .rename ? 2 : 1))
        try database.changeKey(to: rawKey(3))
        #expect(try count(rawKey(3)) == 100)
        #expect(databaseError { try bystander.read { try $0.itemCount() } } == .moved(path: path))
    }

    @Test func `a connection that finds the invalid index opens again`() throws {
        let database = try openSample(path)
        try database.write { try insert(1...100, into: $0) }
        try changeKey(of: database, to: rawKey(2), endingAfter: .emptyLog)
        // A further connection of the same database repairs the index.
        #expect(try database.snapshot() != nil)
        #expect(try database.read { try $0.itemCount() } == 100)
    }

    // MARK: Synchronization

    @Test func `only folders may lack a function that writes them to the disk`() throws {
        let files = DatabaseFiles(path: path, namedPath: path)
        #if os(Linux)
            // Both calls of fsync(2) fail with EINVAL.
            #expect(throws: DatabaseError.self) { try FileCreation.synchronize(file: "/dev/null", for: files) }
            try FileCreation.synchronize(folder: "/proc/self", for: files)
        #endif
        try Data([1]).write(to: folder.file("file"))
        try FileCreation.synchronize(file: folder.filePath("file"), for: files)
        try FileCreation.synchronize(folder: folder.path, for: files)
        #expect(throws: DatabaseError.self) {
            try FileCreation.synchronize(folder: folder.filePath("file"), for: files)
        }
    }
}
