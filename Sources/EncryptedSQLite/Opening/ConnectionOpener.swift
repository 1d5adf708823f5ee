import CSQLCipher
import Foundation
import Guarded

/// Opens connections to one file with its derived key, and makes their settings.
struct ConnectionOpener: Sendable {
    /// What a connection is for.
    enum Role {
        case writer
        case reader
        /// The first connection to a file that may be written: it checks that others can write, and becomes a reader.
        case first
        /// Builds a new file under a temporary name, which no other connection opens.
        case creator
    }

    var files: DatabaseFiles
    let key: DerivedKey
    var options: Database.Options
    let counters: StatisticsCounters
    /// Whether the file lies where nothing can be written, not even the memory that readers of a log share.
    var isImmutable = false

    /// Opens one more connection to a file that was opened and checked before.
    func open(_ role: Role) throws(DatabaseError) -> Connection {
        let connection = try connect()
        try prepare(connection, for: role)
        // Read at once: a key is only tried when a page is read.
        try connection.loadSchema()
        try finish(connection, for: role)
        return connection
    }

    /// Opens the file, without key and settings: nothing is read or written yet.
    func connect() throws(DatabaseError) -> Connection {
        try Self.connect(files, options: options, counters: counters, isImmutable: isImmutable)
    }

    static func connect(
        _ files: DatabaseFiles,
        options: Database.Options,
        counters: StatisticsCounters,
        isImmutable: Bool = false,
        inMemory: Bool = false
    ) throws(DatabaseError) -> Connection {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        // Readers of a log write to the memory they share, so they need to open the file for writing, too.
        flags |= options.readOnly && !inMemory ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE
        var name = files.path
        let path = files.namedPath
        if isImmutable {
            flags |= SQLITE_OPEN_URI
            let escaped = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
            name = "file://\(escaped)?immutable=1"
        }
        if inMemory {
            flags |= SQLITE_OPEN_MEMORY
            name = ":memory:"
        }
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(name, &handle, flags, nil)
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

    /// Makes all settings that do not depend on what the file holds, the key among them.
    func prepare(_ connection: Connection, for role: Role) throws(DatabaseError) {
        if options.memorySecurity {
            try connection.setting("PRAGMA cipher_memory_security = ON")
        }
        let code = key.set(on: connection.handle)
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        // Takes effect only after the key. Without, errors of the cipher go to the standard error stream.
        try connection.setting("PRAGMA cipher_log = off")
        if options.memorySecurity, try connection.setting("PRAGMA cipher_memory_security") != "1" {
            throw .cipherUnavailable(reason: "memory cannot be protected")
        }
        try Self.applySettings(
            connection,
            options: options,
            durability: role == .creator ? .powerLoss : options.durability
        )
    }

    /// Makes the settings that look at the file, and locks all of them.
    func finish(_ connection: Connection, for role: Role) throws(DatabaseError) {
        switch role {
        case .writer, .creator: try writeAhead(on: connection)
        case .first:
            try writeAhead(on: connection)
            try forbidWriting(on: connection)
        case .reader:
            let mode = try connection.setting("PRAGMA journal_mode")
            connection.hasLog = mode == "wal" && !isImmutable
            try forbidWriting(on: connection)
        }
        StatementAuthorizer.install(on: connection.handle)
    }

    /// Sees to it that the file has a write-ahead log.
    private func writeAhead(on connection: Connection) throws(DatabaseError) {
        guard try connection.setting("PRAGMA journal_mode = WAL") == "wal" else {
            throw .cannotOpen(path: files.namedPath, reason: "the file system does not support a write-ahead log")
        }
        connection.hasLog = true
    }

    private func forbidWriting(on connection: Connection) throws(DatabaseError) {
        // Not as a `Statement`: its text looks like the use of a function of ours, see ``FunctionLibrary``.
        try connection.runSettings("PRAGMA query_only = ON")
    }

    // MARK: Settings

    /// Whether the library has been found to be suitable, on the first connection of the process.
    private static let isLibraryChecked = Guarded<Bool>(false)

    /// Makes sure that the library encrypts, as plain SQLite ignores a key and writes plaintext, and that it can be told to
    /// keep sorting and temporary tables, which are not encrypted, from reaching a disk.
    private static func checkLibrary(on connection: Connection) throws(DatabaseError) {
        guard !isLibraryChecked.withLock({ $0 }) else { return }
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
        isLibraryChecked.withLock { $0 = true }
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
