import CSQLCipher
import Foundation

/// Creates SQLite databases without encryption: the only place where content leaves the library as plaintext.
package enum PlaintextDatabase {
    /// Writes a new database without encryption.
    ///
    /// SQLite opens files by their names only. So it gets a file in a temporary folder, which loses its name before it has
    /// content: if the process ends, nothing is left. The complete database is copied, which takes room for two of them
    /// for a time.
    ///
    /// - Parameters:
    ///   - file: The empty file.
    ///   - body: Writes the content, in one transaction.
    package static func write(to file: PlaintextFile, _ body: (Connection) throws -> Void) throws {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let options = Database.Options(busyTimeoutMilliseconds: 0)
        let connection = try connectToNamelessFile(beside: file, options)
        defer { connection.close() }
        try ConnectionOpener.applySettings(connection, options: options, durability: .powerLoss)
        // The journal stays empty: it holds the pages that the transaction changes and that existed before, and no page
        // did. The copy is synchronized.
        try connection.runSettings("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        StatementAuthorizer.install(on: connection)
        try connection.transaction(body)
        guard let database = csqlcipher_main_file(connection.handle) else { throw DatabaseError.closed }
        try FileCopy(to: file.descriptor, namedPath: file.namedPath).copy(database)
    }

    private static func connectToNamelessFile(
        beside file: PlaintextFile,
        _ options: Database.Options
    ) throws(DatabaseError) -> Connection {
        let temporary = try file.makeTemporaryDatabase()
        let connection = try ConnectionOpener.connect(
            DatabaseFiles(path: temporary.files.path, namedPath: file.namedPath),
            options: options,
            counters: StatisticsCounters()
        )
        _ = consume temporary
        return connection
    }
}
