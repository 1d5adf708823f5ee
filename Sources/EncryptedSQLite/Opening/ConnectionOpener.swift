import CSQLCipher
import Foundation
import Synchronization

/// Opens connections to one file with its derived key, and applies their settings.
struct ConnectionOpener: Sendable {
    /// The purpose of a connection.
    enum Role {
        case writer
        case reader
        /// The first connection to a file that may be written: it checks that a writer can open it, and becomes a
        /// reader.
        case first
        /// Builds a new file under a temporary name, which no other connection opens.
        case creator
    }

    var files: DatabaseFiles
    var key: DerivedKey
    var options: Database.Options
    let counters: StatisticsCounters
    /// Whether the file is on a read-only medium, so that even the shared memory of a log's readers cannot be written.
    var isImmutable = false
    /// The file, if this process has it open already.
    var sharedFile: SharedFile?

    /// The opener with another key.
    func with(_ key: DerivedKey) -> ConnectionOpener {
        var opener = self
        opener.key = key
        return opener
    }

    /// Opens one more connection to a file that was opened and checked before.
    func open(_ role: Role) throws(DatabaseError) -> Connection {
        let connection = try connect()
        // If another file is at the path, the key would make it look damaged.
        if connection.isOverwritten { throw .moved(path: files.namedPath) }
        try prepare(connection, for: role)
        if role == .reader { try restrict(connection) }
        // The schema is read at once, since SQLite tries a key only when it reads a page.
        try connection.loadSchema()
        try finish(connection, for: role)
        return connection
    }

    /// Opens the file without a key and without settings. Reads and writes nothing.
    func connect() throws(DatabaseError) -> Connection {
        let connection = try Self.connect(files, options: options, counters: counters, isImmutable: isImmutable)
        connection.sharedFile = sharedFile
        return connection
    }

    static func connect(
        _ files: DatabaseFiles,
        options: Database.Options,
        counters: StatisticsCounters,
        isImmutable: Bool = false,
        inMemory: Bool = false
    ) throws(DatabaseError) -> Connection {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        // Readers of a log write to the shared memory, so they open the file for writing, too.
        flags |= options.readOnly && !inMemory ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var name = files.path
        let path = files.namedPath
        if isImmutable {
            flags |= SQLITE_OPEN_URI
            let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
            name = "file://\(escaped)?immutable=1"
        }
        // The name selects memory, since the flag would make attached databases memory databases, too.
        if inMemory { name = ":memory:" }
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(name, &handle, flags, try StoreFileSystem.name)
        guard let handle else {
            throw .sqlite(code: SQLITE_NOMEM, extendedCode: SQLITE_NOMEM, message: "out of memory")
        }
        guard code == SQLITE_OK else {
            defer { sqlite3_close_v2(handle) }
            let systemError = sqlite3_system_errno(handle)
            if [EACCES, EPERM, EROFS].contains(systemError) { throw .permissionDenied(path: path) }
            throw DatabaseError(code: code, connection: handle, path: path, phase: .execution)
        }
        sqlite3_extended_result_codes(handle, 1)
        counters.connectionsOpened.count()
        return Connection(
            handle: handle,
            path: path,
            statementCacheLimit: options.statementCacheLimit,
            statistics: counters
        )
    }

    /// Applies all settings that do not depend on the content of the file, including the key.
    func prepare(_ connection: Connection, for role: Role) throws(DatabaseError) {
        if options.memorySecurity {
            try connection.setting("PRAGMA cipher_memory_security = ON")
        }
        let code = key.set(on: connection.handle)
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        try connection.checkClearBytes(of: key.layout)
        try Self.turnLogOff(through: connection)
        if options.memorySecurity, try connection.setting("PRAGMA cipher_memory_security") != "1" {
            throw .cipherUnavailable(reason: "memory cannot be protected")
        }
        try Self.applySettings(
            connection,
            options: options,
            durability: role == .creator ? .powerLoss : options.durability
        )
    }

    /// Applies the settings that depend on the content of the file.
    func finish(_ connection: Connection, for role: Role) throws(DatabaseError) {
        switch role {
        case .writer, .creator:
            try writeAhead(on: connection)
            StatementAuthorizer.install(on: connection)
        case .first:
            detectLog(of: connection)
            guard !connection.hasLog else { return }
            connection.endReading()
            sqlite3_set_authorizer(connection.handle, nil, nil)
            try writeAhead(on: connection)
            StatementAuthorizer.install(on: connection)
        case .reader: detectLog(of: connection)
        }
    }

    /// Ensures that the file has a write-ahead log.
    private func writeAhead(on connection: Connection) throws(DatabaseError) {
        guard try connection.setting("PRAGMA journal_mode = WAL") == "wal" else {
            throw .cannotOpen(path: files.namedPath, reason: "the file system does not support a write-ahead log")
        }
        connection.hasLog = true
    }

    /// Records whether the file has a write-ahead log with an index in shared memory. The connection must have read the
    /// file and written nothing.
    func detectLog(of connection: Connection) {
        guard !connection.hasLog, !isImmutable else { return }
        connection.hasLog = csqlcipher_has_log(connection.handle) != 0
    }

    /// Forbids to write, and installs the authorizer, which prevents changes to the settings.
    ///
    /// Both make SQLite compile all statements of the connection again, so they precede its first cached statement.
    func restrict(_ connection: Connection) throws(DatabaseError) {
        // Not as a `Statement`: its text looks like a call of a function in the ``FunctionLibrary``.
        try connection.runSettings("PRAGMA query_only = ON")
        StatementAuthorizer.install(on: connection)
    }

    /// Reverses ``restrict(_:)`` on a connection while `body` runs.
    func withoutRestrictions(on connection: Connection, _ body: (Connection) throws -> Void) throws {
        sqlite3_set_authorizer(connection.handle, nil, nil)
        try connection.runSettings("PRAGMA query_only = OFF")
        try body(connection)
        try restrict(connection)
    }

    // MARK: Settings

    /// Whether this process has turned off the log of the library.
    private static let isLogOff = Atomic<Bool>(false)

    /// Keeps SQLCipher from writing its errors to the standard error stream. The setting applies to the whole process.
    /// It takes effect only after the key of a connection is set.
    private static func turnLogOff(through connection: Connection) throws(DatabaseError) {
        guard !isLogOff.load(ordering: .relaxed) else { return }
        try connection.setting("PRAGMA cipher_log = off")
        isLogOff.store(true, ordering: .relaxed)
    }

    /// Whether the first connection of the process has found the library suitable.
    private static let isLibraryChecked = Atomic<Bool>(false)

    /// Ensures that the library encrypts, since plain SQLite ignores a key and writes plaintext, and that it can keep
    /// sorter files and temporary tables, which are not encrypted, in memory.
    private static func checkLibrary(on connection: Connection) throws(DatabaseError) {
        guard !isLibraryChecked.load(ordering: .relaxed) else { return }
        let version = try connection.setting("PRAGMA cipher_version") ?? ""
        guard let major = version.prefix(while: \.isNumber).wholeNumber, major >= 4 else {
            throw .cipherUnavailable(
                reason: version.isEmpty ? "it is not SQLCipher" : "SQLCipher \(version) is older than 4"
            )
        }
        try connection.setting("PRAGMA temp_store = MEMORY")
        let isKept = try connection.setting("PRAGMA temp_store") == "2"
        guard isKept, sqlite3_compileoption_used("TEMP_STORE=0") == 0 else {
            throw .cipherUnavailable(reason: "it keeps temporary data in plain files")
        }
        isLibraryChecked.store(true, ordering: .relaxed)
    }

    /// Turns recursive triggers off if the library was compiled to turn them on.
    private static let recursionSetting =
        sqlite3_compileoption_used("DEFAULT_RECURSIVE_TRIGGERS") != 0 ? "PRAGMA recursive_triggers = OFF" : ""

    static func applySettings(
        _ connection: Connection,
        options: Database.Options,
        durability: Durability
    ) throws(DatabaseError) {
        try checkLibrary(on: connection)
        let handle = connection.handle
        sqlite3_busy_timeout(handle, Int32(clamping: options.busyTimeoutMilliseconds))
        let switches: [(Int32, Int32)] = [
            (SQLITE_DBCONFIG_DEFENSIVE, 1),
            (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
            (SQLITE_DBCONFIG_DQS_DML, 0),
            (SQLITE_DBCONFIG_DQS_DDL, 0),
            (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
            (SQLITE_DBCONFIG_ENABLE_FKEY, 0),
        ]
        for (name, value) in switches {
            let code = csqlcipher_configure(handle, name, value)
            guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        }
        try connection.runSettings(
            """
            PRAGMA temp_store = MEMORY; \(durability.settings);
            PRAGMA cache_size = -\(options.cacheKilobytes); PRAGMA cell_size_check = ON; \(recursionSetting)
            """
        )
        if let functions = options.functions { try connection.install(functions) }
    }
}

extension Substring {
    fileprivate var wholeNumber: Int? { Int(self) }
}
