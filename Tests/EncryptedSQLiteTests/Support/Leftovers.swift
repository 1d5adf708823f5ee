import EncryptedSQLite
import Foundation
import TestSupport

/// The files that an earlier process left beside a database.
enum Leftover: CaseIterable {
    case nothing, log, logAndSharedMemory, emptyLog, logWithoutCommits, sharedMemory, zeroedJournal

    /// Copies the file of an open database, with these files beside it.
    func copy(_ source: String, to target: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: target)
        switch self {
        case .nothing: break
        case .log: try copy("-wal", of: source, to: target)
        case .logAndSharedMemory:
            try copy("-wal", of: source, to: target)
            try copy("-shm", of: source, to: target)
        case .emptyLog: try Data().write(to: URL(fileURLWithPath: target + "-wal"))
        case .logWithoutCommits:
            let log = try Data(contentsOf: URL(fileURLWithPath: source + "-wal"))
            try log.prefix(32).write(to: URL(fileURLWithPath: target + "-wal"))
        case .sharedMemory: try copy("-shm", of: source, to: target)
        case .zeroedJournal: try Data(count: 512).write(to: URL(fileURLWithPath: target + "-journal"))
        }
    }

    /// Whether the log holds the last commit.
    var hasLog: Bool { self == .log || self == .logAndSharedMemory }

    private func copy(_ suffix: String, of source: String, to target: String) throws {
        try FileManager.default.copyItem(atPath: source + suffix, toPath: target + suffix)
    }
}

/// Creates a database with the `sqlcipher` tool whose last transaction was interrupted: the journal beside it has to be
/// rolled back. There are 2,000 items, all named "before".
func makeInterruptedDatabase(_ path: String, passphrase: String, applicationID: Int = 0x5EA1) throws {
    let working = path + ".working"
    let script = """
        PRAGMA key = '\(passphrase)';
        CREATE TABLE item (_id INTEGER PRIMARY KEY, name TEXT);
        WITH RECURSIVE number(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM number WHERE n < 2000)
            INSERT INTO item SELECT n, 'before' FROM number;
        PRAGMA application_id = \(applicationID);
        PRAGMA cache_size = 5;
        BEGIN;
        UPDATE item SET name = 'during' || hex(randomblob(40));
        .shell cp '\(working)' '\(path)' && cp '\(working)-journal' '\(path)-journal'
        ROLLBACK;
        """
    _ = try run("sqlcipher", [working], input: script)
    try FileManager.default.removeItem(atPath: working)
}
