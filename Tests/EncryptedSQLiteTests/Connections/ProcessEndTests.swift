import Foundation
import TestSupport
import Testing

@testable import EncryptedSQLite

/// A process ends by exit(3) while its threads use a database: without a crash, and as if it were killed for the file.
///
///     main thread                          another thread
///     starts the work                      saves, reads, …
///     returns from `main`
///     closes the gate, waits               decrypts a page, waits at the next one
///     runs the functions of `atexit`
///     ends the process
@Suite struct ProcessEndTests {
    private static let works = ["checkpoint", "read", "save", "sort", "open", "follow", "copy", "import"]

    private struct EndedProcess {
        let folder = TemporaryFolder()
        let result: ToolResult

        init(_ work: String, _ end: String, rounds: Int) throws {
            let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
                .appending(path: "ending-process")
            result = try run(program.path, [folder.filePath("store"), work, end, String(rounds)])
        }

        /// The lines of the output that do not name a saved row.
        var lines: [Substring] { result.output.split(separator: "\n").filter { !$0.hasPrefix("saved") } }

        /// Checks the status, and that the file is sound and has each row that was reported.
        func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(result.status == 0, "\(result.errors)", sourceLocation: sourceLocation)
            let key = try EncryptionKey.raw(repeatElement(1, count: 32))
            let database = try Database(.file(folder.filePath("store")), key: key)
            #expect(try database.verifyPages { _, _ in }.damagedPageCount == 0, sourceLocation: sourceLocation)
            let saved = result.output.split(separator: "\n").compactMap { line in
                line.hasPrefix("saved ") ? Int64(line.dropFirst("saved ".count)) : nil
            }
            let last = try database.read { try $0.integer("SELECT max(_id) FROM item") } ?? 0
            #expect(last >= saved.max() ?? 20, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: works, ["return", "host", "thread"])
    func `a process ends while another thread works`(work: String, end: String) throws {
        for rounds in 1...killCount(3) {
            let ended = try EndedProcess(work, end, rounds: rounds % 5 + 1)
            try ended.check()
            #expect(ended.lines.isEmpty)
        }
    }

    @Test(arguments: ["save", "read", "follow"])
    func `a process ends inside a transaction of the thread that ends it`(work: String) throws {
        for rounds in 1...killCount(3) {
            let ended = try EndedProcess(work, "transaction", rounds: rounds % 5 + 1)
            try ended.check()
        }
    }

    // The functions run in the reverse order of their registration. The gate is registered between the two.
    @Test(arguments: works)
    func `a function of atexit reads before the gate closes and fails afterwards`(work: String) throws {
        for rounds in 1...killCount(1) {
            let ended = try EndedProcess(work, "handlers", rounds: rounds % 5 + 1)
            try ended.check()
            // The work fails once the database is closed.
            let lines = ended.lines.filter { !$0.hasPrefix("error") }
            let refusal = "late: The database is closed."
            #expect(lines == ["early: read", "early: closed", refusal[...], refusal[...]])
        }
    }

    @Test(arguments: ["save", "read", "follow"])
    func `a child process that was forked exits`(work: String) throws {
        for rounds in 1...killCount(3) {
            try EndedProcess(work, "fork", rounds: rounds % 5 + 1).check()
        }
    }
}
