import CSQLCipher
import Foundation

/// Creates SQLite databases without encryption: the only place where content leaves the library as plaintext.
package enum PlaintextDatabase {
    /// Writes a new database without encryption.
    ///
    /// - Parameters:
    ///   - path: The path of an empty file, which exists with its permissions.
    ///   - body: Writes the content, in one transaction.
    package static func write(to path: String, _ body: (Connection) throws -> Void) throws {
        let options = Database.Options(busyTimeoutMilliseconds: 0)
        let connection = try ConnectionOpener.connect(
            DatabaseFiles(path: path, namedPath: path),
            options: options,
            counters: StatisticsCounters()
        )
        defer { connection.close() }
        try ConnectionOpener.applySettings(connection, options: options, durability: .powerLoss)
        // The journal has the pages that the transaction changes and that existed before: none.
        try connection.runSettings("PRAGMA journal_mode = MEMORY")
        StatementAuthorizer.install(on: connection)
        try connection.transaction(body)
    }
}
