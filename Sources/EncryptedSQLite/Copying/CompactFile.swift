import CSQLCipher
import Foundation

/// A copy of a database without free pages, under a temporary name and the key of the database. It is removed with the
/// value.
///
/// `VACUUM` in place would hold the whole database in memory, where temporary files are kept. `VACUUM INTO` writes to a
/// file, but only under the key of the database, and not to a connection that is open: therefore its result is copied
/// once more, page by page.
struct CompactFile: ~Copyable {
    private let file: TemporaryDatabaseFile
    private let opener: ConnectionOpener

    /// Writes the copy.
    ///
    /// - Parameter file: The empty file.
    /// - Throws: `interrupted` if the progress is cancelled; `damaged` if a page does not verify.
    init(
        of session: FileSession,
        to file: consuming TemporaryDatabaseFile,
        _ options: Database.Options,
        _ progress: Progress
    ) throws {
        let opener = ConnectionOpener(
            files: file.files,
            // VACUUM passes the key and the salt on, and no further setting.
            key: session.opener.key.withSaltInFile,
            options: options.ofCopies,
            counters: session.opener.counters
        )
        var source = session.opener
        source.options.cacheKilobytes = Database.Options.cacheKilobytesOfCopies
        // A connection without the rules that refuse to attach a file and to write.
        let connection = try session.file.open(with: source) { (opener) throws(DatabaseError) in
            let connection = try opener.connect()
            try opener.prepare(connection, for: .reader)
            try connection.loadSchema()
            return connection
        }
        defer { connection.close() }
        let path = file.files.path
        try connection.interruptible(when: { progress.isCancelled }) {
            try connection.withUncachedStatement("VACUUM INTO ?1") { statement in
                try statement.bind(text: path, at: 1)
                try statement.run()
            }
        }
        self.opener = opener
        self.file = file
    }

    /// Lends a connection to the copy, inside a read transaction.
    func withConnection(_ body: (Connection) throws -> Void) throws {
        let connection = try opener.open(.creator)
        defer { connection.close() }
        try connection.beginSnapshot()
        try body(connection)
    }
}
