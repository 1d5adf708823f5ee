import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// A refused file stays unchanged, with the log, the shared memory and the journal of an earlier process.
@Suite struct UnchangedFileTests {
    enum Refusal: CaseIterable {
        case wrongKey, damagedFirstPage, damagedSchema, foreignApplication, newerFormat, failedVerification
    }

    struct VerificationError: Error {}

    let folder = TemporaryFolder()
    let originals = TemporaryFolder()
    var path: String { folder.filePath("store") }

    init() throws {
    }

    /// Creates a database whose schema fills several pages and whose log changes one page of items.
    private func withOriginal(for refusal: Refusal, _ body: (String) throws -> Void) throws {
        let original = originals.filePath("store")
        let application: Int32 = refusal == .foreignApplication ? 77 : 0x5EA1
        let options = sampleOptions {
            $0.applicationID = application
            $0.newestUserVersion = refusal == .newerFormat ? 2 : 1
        }
        let made = try openSample(original, options: options)
        try made.write { connection in
            for number in 0..<60 {
                try connection.execute(
                    "CREATE TABLE \"\(String(repeating: "long name ", count: 20))\(number)\" (a ANY) STRICT"
                )
            }
            try insert(1...50, into: connection)
        }
        try made.close()
        let database = try openSample(original, options: options)
        try database.write { try $0.execute("UPDATE item SET name = upper(name) WHERE _id = 30") }
        try body(original)
        try database.close()
    }

    private func damage(_ refusal: Refusal) throws {
        switch refusal {
        case .damagedFirstPage: try patch(path, at: 1000) { $0 ^ 1 }
        case .damagedSchema:
            // Every page but the first; some hold the schema.
            let count = try Data(contentsOf: URL(fileURLWithPath: path)).count / 4096
            for page in 1..<count { try patch(path, at: page * 4096 + 1000) { $0 ^ 1 } }
        default: break
        }
    }

    private func open(_ refusal: Refusal, _ path: String, readOnly: Bool) throws -> Database {
        let options = sampleOptions { $0.readOnly = readOnly }
        return try Database(
            .file(path),
            key: refusal == .wrongKey ? rawKey(2) : rawKey(),
            options: options
        ) { _ in
        } verify: { connection in
            guard try connection.itemCount() == 50, refusal == .failedVerification else { return }
            throw VerificationError()
        }
    }

    @Test(arguments: Refusal.allCases, Leftover.allCases)
    func `a refused file`(_ refusal: Refusal, _ leftover: Leftover) throws {
        try withOriginal(for: refusal) { original in
            try leftover.copy(original, to: path)
            try damage(refusal)
            let before = try folder.contents()
            do {
                _ = try open(refusal, path, readOnly: false)
                Issue.record("No error was thrown.")
            } catch let error as DatabaseError {
                switch refusal {
                case .wrongKey: #expect(error == .wrongKey(path: path))
                case .damagedFirstPage, .damagedSchema: #expect(error == .damaged(path: path))
                case .foreignApplication:
                    #expect(error == .foreignApplication(path: path, found: 77, expected: 0x5EA1))
                case .newerFormat: #expect(error == .newerFormat(path: path, found: 2, supported: 1))
                case .failedVerification: Issue.record(error)
                }
            } catch is VerificationError {
                #expect(refusal == .failedVerification)
            }
            let after = try folder.contents()
            #expect(after.keys.sorted() == before.keys.sorted())
            for (name, content) in before { #expect(after[name] == content, "\(name)") }
        }
    }

    @Test(arguments: Leftover.allCases)
    func `a file that is refused when it is opened read-only`(_ leftover: Leftover) throws {
        try withOriginal(for: .failedVerification) { original in
            try leftover.copy(original, to: path)
            let before = try folder.contents()
            #expect(throws: VerificationError.self) { try open(.failedVerification, path, readOnly: true) }
            let after = try folder.contents()
            #expect(after.keys.sorted() == before.keys.sorted())
            for (name, content) in before { #expect(after[name] == content, "\(name)") }
        }
    }

    @Test func `a file that is refused through a symbolic link`() throws {
        try withOriginal(for: .failedVerification) { original in
            try Leftover.log.copy(original, to: path)
            let link = originals.filePath("link")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
            let before = try folder.contents()
            #expect(throws: VerificationError.self) { try open(.failedVerification, link, readOnly: false) }
            #expect(try folder.contents() == before)
        }
    }

    // No log of an earlier process can lie beside a file that is open, so that nothing has to be checked on a further
    // connection.
    @Test func `opening a file that another database has open takes one connection`() throws {
        let first = try openSample(path)
        try first.write { try insert(1...3, into: $0) }
        let second = try openSample(path)
        #expect(second.statistics.connectionsOpened == 1)
        #expect(try second.read { try $0.itemCount() } == 3)
    }

    // The refused opening must not write the log back when it closes last.
    //
    //     this database            another database      files
    //                              open, commits         file, log, shared memory
    //     begins to open
    //     refuses                                        unchanged
    //                              still works
    @Test func `a refusal does not affect another open database`() throws {
        try withOriginal(for: .failedVerification) { original in
            let before = try originals.contents()
            #expect(throws: VerificationError.self) { try open(.failedVerification, original, readOnly: false) }
            let after = try originals.contents()
            #expect(after["store"] == before["store"])
            #expect(after["store-wal"] == before["store-wal"])
            #expect(after.keys.sorted() == before.keys.sorted())
        }
    }

    @Test(arguments: Leftover.allCases)
    func `an accepted file opens with its log`(_ leftover: Leftover) throws {
        try withOriginal(for: .wrongKey) { original in
            try leftover.copy(original, to: path)
            let database = try openSample(path)
            let name = try database.read { try $0.string("SELECT name FROM item WHERE _id = 30") }
            #expect(name?.hasPrefix(leftover.hasLog ? "ITEM" : "item") == true)
            try database.write { try insert(51...60, into: $0) }
            try database.close()
            #expect(try folder.names().filter { !$0.hasSuffix("-journal") } == ["store"])
        }
    }

    // MARK: Journals

    @Test func `an interrupted transaction is rolled back if the file is accepted`() throws {
        try makeInterruptedDatabase(path, passphrase: "secret")
        let database = try openSample(path, key: .passphrase("secret"))
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item WHERE name = 'before'") } == 2000)
        try database.close()
        #expect(try folder.names() == ["store"])
    }

    @Test func `an interrupted transaction is not rolled back if the file is refused`() throws {
        try makeInterruptedDatabase(path, passphrase: "secret")
        let before = try folder.contents()
        #expect(before.keys.sorted() == ["store", "store-journal"])
        #expect(
            databaseError { try openSample(path, key: .passphrase("wrong")) } == .wrongKey(path: path)
        )
        #expect(try folder.contents() == before)
        let key = EncryptionKey.passphrase("secret")
        var found: Int64?
        #expect(throws: VerificationError.self) {
            try Database(.file(path), key: key, options: sampleOptions()) { _ in
            } verify: { connection in
                found = try connection.integer("SELECT count(*) FROM item WHERE name = 'before'")
                throw VerificationError()
            }
        }
        #expect(found == 2000, "the state after the rollback is verified")
        #expect(try folder.contents() == before)
    }

    @Test func `an interrupted transaction cannot be rolled back in a read-only database`() throws {
        try makeInterruptedDatabase(path, passphrase: "secret")
        let before = try folder.contents()
        let error = databaseError {
            try openSample(path, key: .passphrase("secret"), options: sampleOptions { $0.readOnly = true })
        }
        guard case .cannotOpen(path: path, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("open the file once for writing"))
        #expect(try folder.contents() == before)
    }
}
