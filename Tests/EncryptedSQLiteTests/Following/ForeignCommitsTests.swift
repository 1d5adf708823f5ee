import EncryptedSQLite
import Foundation
import Guarded
import TestSupport
import Testing

/// Commits of other databases of this process, and of the `sqlcipher` tool as another process.
@Suite struct ForeignCommitsTests {
    private let folder = TemporaryFolder()
    private let path: String
    private let passphrase = "correct horse battery staple"
    private let reports = Guarded(0)
    private let signal = DispatchSemaphore(value: 0)

    init() throws {
        path = folder.filePath("store")
        try makeSample(path, key: .passphrase(passphrase))
    }

    private func open(_ path: String? = nil, isReadOnly: Bool = false) throws -> Database {
        let database = try openSample(
            path ?? self.path,
            key: .passphrase(passphrase),
            options: sampleOptions { $0.readOnly = isReadOnly }
        )
        database.onForeignCommit { [reports, signal] in
            reports.withLock { $0 += 1 }
            signal.signal()
        }
        return database
    }

    private func writeInAnotherProcess(_ identifier: Int) throws {
        let script = "PRAGMA key = '\(passphrase)'; INSERT INTO item VALUES (\(identifier), 'theirs');"
        let result = try run("sqlcipher", [path], input: script)
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    }

    private func waitForReport() {
        #expect(signal.wait(timeout: .now() + maximumWait) == .success, "nothing was reported")
    }

    private var reportCount: Int { reports.withLock { $0 } }

    @Test func `a commit is reported to the other databases of the process with the file, at once`() throws {
        let (database, other) = (try open(), try openSample(path, key: .passphrase(passphrase)))
        try other.write { try insert(10...10, into: $0) }
        #expect(reportCount == 1)
        try database.write { try insert(11...11, into: $0) }
        #expect(reportCount == 1)
        struct Failure: Error {}
        #expect(throws: Failure.self) { try other.write { _ in throw Failure() } }
        #expect(reportCount == 1)
        try other.close()
        try database.close()
    }

    @Test(arguments: [false, true])
    func `a commit of another process is reported while the database is followed`(isReadOnly: Bool) throws {
        let database = try open(isReadOnly: isReadOnly)
        try writeInAnotherProcess(10)
        #expect(reportCount == 0)
        database.beginFollowing()
        try writeInAnotherProcess(11)
        waitForReport()
        #expect(try database.read { try $0.integer("SELECT count(*) FROM item") } == 5)
        database.endFollowing()
        try database.close()
    }

    @Test func `a file that is opened through a link is followed`() throws {
        let link = folder.filePath("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let database = try open(link)
        database.beginFollowing()
        try writeInAnotherProcess(10)
        waitForReport()
        try database.close()
    }

    @Test func `a commit that another process made during a write of this one is reported after it`() throws {
        let database = try open()
        database.beginFollowing()
        // The commit precedes the transaction, and its event is received while the connection is in use.
        try database.writeWithoutTransaction { connection in
            try writeInAnotherProcess(10)
            try connection.execute("INSERT INTO item VALUES (11, 'ours')")
        }
        waitForReport()
        try database.close()
    }

    @Test func `a file that replaces the open one is reported`() throws {
        let database = try open()
        database.beginFollowing()
        let other = folder.filePath("other")
        try makeSample(other, key: .passphrase(passphrase))
        #expect(rename(other, path) == 0)
        waitForReport()
        #expect(throws: DatabaseError.moved(path: path)) { try database.write { try insert(4...4, into: $0) } }
        try? database.close()
    }
}
