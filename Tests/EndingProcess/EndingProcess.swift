import CSQLCipher
import Dispatch
import EncryptedSQLite
import Foundation
import SealedTransfer

/// Ends while its threads use a database; `EncryptedSQLiteTests` starts it.
///
/// Usage: ending-process FILE WORK END ROUNDS
///
/// The process creates the database, starts the work on further threads, waits for a number of rounds of the work, and
/// ends. The key of the file consists of bytes 1. Of a thread that saves, the standard output names each row after its
/// commit.
@main
enum EndingProcess {
    /// The work of the threads when the process ends.
    enum Work: String {
        /// The checkpoint after a commit that makes the log long.
        case checkpoint
        /// Reading on several threads at once.
        case read
        /// Transactions.
        case save
        /// Transactions that sort more rows than the page cache holds.
        case sort
        /// Opening and closing connections.
        case open
        /// Reading after each commit of another database of the process.
        case follow
        /// Verifying and copying all pages.
        case copy
        /// Importing the file, as a file of another program, into a new store.
        case `import`
    }

    /// The end of the process.
    enum End: String {
        /// `main` returns.
        case `return`
        /// Another thread than the main one calls exit(3).
        case thread
        /// As ``return``, and the program has initialized libcrypto before it opens the database.
        case host
        /// As ``host``, and functions passed to atexit(3) use the database, before and after the gate has closed.
        case handlers
        /// As ``host``, inside a transaction.
        case transaction
        /// A child process that fork(2) has made calls exit(3), then the process itself.
        case fork
    }

    private static let rowByteCount = 100_000

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let work = Work(rawValue: arguments[2]), let end = End(rawValue: arguments[3]),
            let rounds = Int(arguments[4])
        else {
            FileHandle.standardError.write(Data("usage: ending-process FILE WORK END ROUNDS\n".utf8))
            exit(2)
        }
        if end == .host || end == .handlers || end == .transaction {
            guard OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil) == 1 else { exit(3) }
        }
        if end == .handlers { atexit { EndingProcess.useDatabase("late") } }
        let database = try open(arguments[1])
        shared = database
        if end == .handlers { atexit { EndingProcess.useDatabase("early") } }
        try database.write { connection in
            try connection.execute("CREATE TABLE item (_id INTEGER PRIMARY KEY, content BLOB)")
            for _ in 0..<20 { try insert(into: connection) }
        }
        try start(work, on: database, arguments[1], rounds)
        switch end {
        case .return, .host, .handlers: return
        case .thread:
            Thread.detachNewThread { exit(0) }
            while true { pause() }
        case .transaction:
            let other = try open(arguments[1] + "-other")
            try other.write { _ in exit(0) }
        case .fork: exit(try exitOfChild())
        }
    }

    /// Read by the functions that are passed to `atexit`, which cannot capture a value. Written once before.
    nonisolated(unsafe) private static var shared: Database?

    private static func key() throws -> EncryptionKey { try .raw(repeatElement(1, count: 32)) }

    private static func open(_ path: String) throws -> Database {
        // A small cache, so that pages are read and decrypted again.
        let options = Database.Options(cacheKilobytes: 100)
        return try Database(.file(path), key: key(), options: options)
    }

    @discardableResult
    private static func insert(into connection: Connection) throws -> Int64 {
        try connection.withStatement("INSERT INTO item (content) VALUES (randomblob(?))") { statement in
            try statement.bind(Int64(rowByteCount), at: 1)
            try statement.run()
        }
        return connection.lastInsertedKey
    }

    private static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    // MARK: Work

    /// Starts the work, and waits for a number of its rounds.
    private static func start(_ work: Work, on database: Database, _ path: String, _ rounds: Int) throws {
        switch work {
        case .checkpoint:
            // More pages than start a checkpoint.
            try database.write { connection in
                for _ in 0..<50 + rounds { try insert(into: connection) }
            }
        case .read:
            try repeatWork(rounds) {
                _ = try database.readConcurrently(parts: 2) { connection, part in try sum(connection, part) }
            }
        case .save:
            try repeatWork(rounds) { try save(in: database) }
        case .sort:
            try repeatWork(rounds) {
                try database.write(isBulk: true) { connection in
                    try connection.execute("CREATE INDEX item_content ON item (content)")
                    try connection.execute("DROP INDEX item_content")
                }
            }
        case .open:
            try repeatWork(rounds) { try open(path).close() }
        case .follow:
            let follower = try open(path)
            let changes = DispatchSemaphore(value: 0)
            follower.onForeignCommit { changes.signal() }
            follower.beginFollowing()
            DispatchQueue.global().async {
                while true { try? save(in: database) }
            }
            try repeatWork(rounds) {
                changes.wait()
                _ = try follower.read { try sum($0, 0) }
            }
        case .copy:
            try repeatWork(rounds) {
                _ = try database.verifyPages { _, _ in }
                try database.copy(to: path + "-copy", replacesExisting: true)
            }
        case .import:
            let target = URL(filePath: path + "-import")
            try repeatWork(rounds) {
                let key = try key()
                try StoreImport(into: target, key: key)
                    .importDatabase(from: URL(filePath: path), encryption: .sqlCipher4(key))
                try FileManager.default.removeItem(at: target)
            }
        }
    }

    private static func repeatWork(_ rounds: Int, _ body: @escaping @Sendable () throws -> Void) throws {
        let round = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do {
                while true {
                    try body()
                    round.signal()
                }
            } catch {
                write("error: \(error)")
            }
        }
        for _ in 0..<rounds { round.wait() }
    }

    private static func save(in database: Database) throws {
        let key = try database.write { try insert(into: $0) }
        write("saved \(key)")
    }

    private static func sum(_ connection: Connection, _ part: Int) throws -> Int64 {
        try connection.withStatement("SELECT sum(unicode(hex(content))) FROM item WHERE _id % 2 = ?") { statement in
            try statement.bind(Int64(part), at: 1)
            return try statement.step() ? statement.integer(at: 0) : 0
        }
    }

    // MARK: Ends

    private static func useDatabase(_ name: String) {
        do {
            _ = try shared?.read { try sum($0, 0) }
            write("\(name): read")
        } catch {
            write("\(name): \(error)")
        }
        do {
            try shared?.close()
            write("\(name): closed")
        } catch {
            write("\(name): \(error)")
        }
    }

    /// Makes a child process, which exits at once, and returns its exit status.
    private static func exitOfChild() throws -> Int32 {
        // Swift does not import the function, since a child process must not continue with the parent's threads.
        typealias Fork = @convention(c) () -> pid_t
        guard let symbol = dlsym(nil, "fork") else { exit(4) }
        let child = unsafeBitCast(symbol, to: Fork.self)()
        if child == 0 { exit(0) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1, errno == EINTR {}
        return status
    }
}
