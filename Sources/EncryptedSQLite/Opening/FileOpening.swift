import CSQLCipher
import Foundation

/// Opens a database file for the first time: everything that has to be true of it is checked here, in this order, and a
/// file that fails is left as it was.
struct FileOpening {
    let path: String
    let options: Database.Options
    let counters: StatisticsCounters

    /// A reader that passed all checks, and the means to open more connections.
    struct Result {
        let connection: Connection
        let opener: ConnectionOpener
    }

    init(path: String, options: Database.Options, counters: StatisticsCounters) {
        // Connections are opened later, too, when the working directory may be another one.
        self.path =
            path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        self.options = options
        self.counters = counters
    }

    func open(_ key: EncryptionKey, create: (Connection) throws -> Void) throws -> Result {
        var known: DerivedKey?
        if try !fileExists() {
            guard options.createsIfMissing, !options.readOnly else { throw DatabaseError.fileNotFound(path: path) }
            let newKey = try DerivedKey(forNewFile: key, counters: counters)
            let creation = FileCreation(path: path, options: options, counters: counters)
            if try creation.create(with: newKey, schema: create) { known = newKey }
        }
        return try openExisting(key, known: known, create: create)
    }

    /// Throws where the path leads to something that is no regular file.
    private func fileExists() throws(DatabaseError) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else {
            guard errno == ENOENT else { throw DatabaseError(systemError: errno, path: path) }
            return false
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: path, reason: "it is not a regular file")
        }
        return true
    }

    private func openExisting(
        _ key: EncryptionKey,
        known: DerivedKey?,
        create: (Connection) throws -> Void
    ) throws -> Result {
        let connection = try ConnectionOpener.connect(path, options: options, counters: counters)
        guard options.readOnly || sqlite3_db_readonly(connection.handle, "main") == 0 else {
            throw DatabaseError.permissionDenied(path: path)
        }
        let inspection = try FileInspection(of: connection)
        let derived: DerivedKey
        if let known, known.salt == inspection.salt {
            derived = known
        } else {
            derived = try DerivedKey(key, fileSalt: inspection.salt, counters: counters)
        }
        // Without a number it may be an unfinished creation; the tables will tell.
        if let header = try inspection.verify(derived), header.applicationID != 0 { try check(header) }
        guard !inspection.endsWithinPage || logByteCount > 0 else { throw DatabaseError.damaged(path: path) }
        let opener = ConnectionOpener(path: path, key: derived, options: options, counters: counters)
        let role: ConnectionOpener.Role = options.readOnly ? .reader : .first
        do {
            try opener.prepare(connection, for: role)
            try checkContent(of: connection, create: create)
            try opener.finish(connection, for: role)
            return Result(connection: connection, opener: opener)
        } catch let error as DatabaseError where canReadWithoutLog(after: error) {
            var opener = opener
            opener.isImmutable = true
            let connection = try opener.connect()
            try opener.prepare(connection, for: .reader)
            try checkContent(of: connection, create: create)
            try opener.finish(connection, for: .reader)
            return Result(connection: connection, opener: opener)
        }
    }

    // MARK: Whose database it is

    /// Checks through SQLite what the file holds, its log included, and completes a creation that another tool began.
    private func checkContent(of connection: Connection, create: (Connection) throws -> Void) throws {
        // A log that a crash left is to stay as it is until the checks have passed; closing would write it back.
        let hasLog = logByteCount > 0
        if hasLog { csqlcipher_configure(connection.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
        let header = DatabaseHeader(
            userVersion: try number("PRAGMA user_version", of: connection),
            applicationID: try number("PRAGMA application_id", of: connection)
        )
        let isNumbered = header != DatabaseHeader(userVersion: 0, applicationID: 0)
        // The schema of a log is read, too, before closing may write it back.
        let tableCount = isNumbered && !hasLog ? nil : try connection.setting("SELECT count(*) FROM sqlite_schema")
        if !isNumbered, tableCount == "0", options.createsIfMissing, !options.readOnly {
            try FileCreation.buildSchema(on: connection, options: options, create: create)
        } else {
            try check(header)
        }
        if hasLog { csqlcipher_configure(connection.handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0) }
    }

    private func check(_ header: DatabaseHeader) throws(DatabaseError) {
        guard options.applicationID == 0 || header.applicationID == options.applicationID else {
            throw .foreignApplication(path: path, found: header.applicationID, expected: options.applicationID)
        }
        guard header.userVersion <= options.newestUserVersion else {
            throw .newerFormat(path: path, found: header.userVersion, supported: options.newestUserVersion)
        }
    }

    private func number(_ question: String, of connection: Connection) throws(DatabaseError) -> Int32 {
        try connection.setting(question).flatMap { Int32($0) } ?? 0
    }

    // MARK: Read-only media

    /// Where nothing can be written, a log cannot be read either, as readers share memory in a file. Without a log to
    /// read, the file alone is the whole database, and nobody can change it.
    private func canReadWithoutLog(after error: DatabaseError) -> Bool {
        guard options.readOnly, logByteCount == 0 else { return false }
        guard access((path as NSString).deletingLastPathComponent, W_OK) != 0 else { return false }
        return switch error {
        case .cannotOpen, .permissionDenied, .readOnly: true
        default: false
        }
    }

    private var logByteCount: Int64 {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int64(status.st_size) : 0
    }
}
