import CSQLCipher
import EncryptedSQLite
import Foundation
import TestSupport
import Testing

/// The failure model: one read or write of the database file or its log fails once, at any point of any work. The file is
/// sound.
@Suite(.serialized) struct ReadErrorTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.filePath("store") }

    /// Errors for which SQLite reports a damaged file, and others.
    private static let readErrors = [EIO, ENXIO, ERANGE, ETIMEDOUT, ESTALE]

    private static let value = String(repeating: "0123456789abcdef", count: 600)

    private enum Work: CaseIterable {
        case scan, longValue, words, write, writeAndRollBack, verify, open, openAgain, copy, writeBack
    }

    private var options: Database.Options {
        // A cache of few pages, so that each work reads.
        sampleOptions { ($0.cacheKilobytes, $0.readerCount) = (16, 2) }
    }

    private func makeDatabase() throws -> Database {
        let database = try openSample(path, options: options)
        try database.write { connection in
            try insert(1...600, into: connection)
            try connection.execute(
                """
                CREATE TABLE long (value TEXT) STRICT; CREATE TABLE mark (number INTEGER) STRICT;
                CREATE VIRTUAL TABLE words USING fts5(text);
                INSERT INTO long VALUES ('\(Self.value)'), ('\(Self.value)'); INSERT INTO mark VALUES (0);
                INSERT INTO words SELECT name || ' word' || _id FROM item;
                """
            )
        }
        return database
    }

    /// Runs a work, whose result is right if it returns.
    private func run(_ work: Work, on database: Database, mark: Int64, _ comment: Comment) throws {
        switch work {
        case .scan:
            #expect(
                try database.read { try $0.integer("SELECT count(*) FROM item WHERE name LIKE 'item%'") } == 600,
                comment
            )
        case .longValue:
            #expect(try database.read { try $0.string("SELECT max(value) FROM long") } == Self.value, comment)
        case .words:
            let match = "SELECT count(*) FROM words WHERE words MATCH 'word599'"
            #expect(try database.read { try $0.integer(match) } == 1, comment)
        case .write:
            try database.write { connection in
                try connection.execute(
                    "UPDATE mark SET number = \(mark); UPDATE item SET name = name WHERE _id % 7 = 0"
                )
            }
        case .writeAndRollBack:
            struct Rollback: Error {}
            do {
                try database.write { connection in
                    try connection.execute("UPDATE mark SET number = -1; DELETE FROM item; DELETE FROM words")
                    throw Rollback()
                }
            } catch is Rollback {}
        case .verify:
            let report = try database.verifyPages { _, _ in }
            #expect(report.damagedPageCount == 0 && report.lostCommitCount == 0, comment)
        case .open:
            let other = try openSample(path, options: options)
            #expect(try other.read { try $0.itemCount() } == 600, comment)
            try other.close()
        case .openAgain:
            database.suspend()
            try database.resume()
        case .copy:
            let copy = folder.filePath("copy")
            defer { try? FileManager.default.removeItem(atPath: copy) }
            try database.copy(to: copy)
        case .writeBack:
            try database.writeWithoutTransaction { try $0.execute("PRAGMA wal_checkpoint(RESTART)") }
        }
    }

    private func isFailureOfSystem(_ error: any Error) -> Bool {
        switch error as? DatabaseError {
        case .inputOutput, .diskFull, .cannotOpen, .permissionDenied, .busy: true
        default: false
        }
    }

    // this process                     | system
    // reads, writes, opens, copies, …  | one call fails
    // the work fails with an error of the system, or does not notice
    // reads and saves                  |
    @Test func `a failed call is never called damage, and the process reads and saves afterwards`() throws {
        var database = try makeDatabase()
        var generator = SeededGenerator()
        // 1 after a commit that may have been undone.
        var marks: Set<Int64> = [0]
        var (reached, failed) = (0, 0)
        let count = ProcessInfo.processInfo.environment["KILL_COUNT"] == nil ? 300 : 2000
        for round in 1...Int64(count) {
            let work = generator.pick(Work.allCases)!
            let onWrite = generator.chance(25)
            let error = onWrite ? generator.pick([EIO, ENOSPC])! : generator.pick(Self.readErrors)!
            let call = Int.random(in: 0..<(generator.chance(70) ? 8 : 120), using: &generator)
            let comment: Comment =
                "\(generator), round \(round), \(work), error \(error) in call \(call), write: \(onWrite)"
            do {
                let paths = [path, path + "-wal"]
                if try FileFaults.failing(
                    paths,
                    call: call,
                    with: error,
                    onWrite: onWrite,
                    {
                        try run(work, on: database, mark: round, comment)
                    }
                ) {
                    reached += 1
                }
                if work == .write { marks = [round] }
            } catch {
                (reached, failed) = (reached + 1, failed + 1)
                #expect(isFailureOfSystem(error), "\(error) \(comment)")
                if work == .write, case .inputOutput(_, true) = error as? DatabaseError { marks.insert(round) }
            }
            do {
                try database.resume()
                let mark = try #require(try database.read { try $0.integer("SELECT number FROM mark") }, comment)
                #expect(marks.contains(mark), comment)
                marks = [mark]
                try database.write { try $0.execute("UPDATE item SET name = name || '' WHERE _id = 5") }
                #expect(try database.read { try $0.itemCount() } == 600, comment)
            } catch {
                Issue.record("\(error) \(comment)")
                database = try openSample(path, options: options)
            }
        }
        #expect(failed > count / 20 && reached > count / 5, "\(failed) of \(reached) failed")
        #expect(try database.verifyPages { _, _ in }.damagedPageCount == 0)
        #expect(try database.read { try $0.string("PRAGMA integrity_check") } == "ok")
        try database.close()
    }

    @Test func `a page that the system fails to read is no damage to the verification of all pages`() throws {
        try makeSample(path, rows: 2000)
        let database = try openSample(path, options: options)
        var error: DatabaseError?
        let isReached = FileFaults.failing([path], call: 20, count: 2, with: EIO, onWrite: false) {
            error = databaseError { try database.verifyPages { _, _ in } }
        }
        #expect(isReached && error == .inputOutput(extendedCode: SQLITE_IOERR | 1 << 8, isIndeterminate: false))
        try database.write { try insert(3000...3000, into: $0) }
        #expect(try database.verifyPages { _, _ in }.damagedPageCount == 0)
    }

    @Test func `a page that does not verify is damage, also after a call has failed`() throws {
        try makeSample(path, rows: 2000)
        try patch(path, at: 20 * 4096 + 123) { $0 ^ 0x80 }
        let database = try openSample(path, options: options)
        let read = { try database.read { try $0.integer("SELECT sum(length(name)) FROM item") } }
        var error: DatabaseError?
        let isReached = FileFaults.failing([path, path + "-wal"], call: 5, with: EIO, onWrite: false) {
            error = databaseError(read)
        }
        #expect(isReached && error == .inputOutput(extendedCode: SQLITE_IOERR | 1 << 8, isIndeterminate: false))
        #expect(databaseError(read) == .damaged(path: path))
        #expect(databaseError { try database.write { try insert(3000...3000, into: $0) } } == .damaged(path: path))
    }
}
