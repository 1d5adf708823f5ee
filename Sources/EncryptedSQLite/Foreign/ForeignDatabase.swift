import CSQLCipher
package import Foundation

/// A database of another program, opened for reading: plain SQLite, or SQLCipher 3 or 4 with its default settings.
///
/// No file is changed: neither the database nor its log, journal or shared memory. If no other process has the database
/// open, this connection locks it exclusively until it is closed. Otherwise it reads the latest commit as any reader
/// does. A database with a hot journal is read from a private copy.
///
/// The content is not trusted: no trigger runs, functions in the schema cannot reach outside the database, and
/// statements cannot write.
///
/// Not `Sendable`: one thread uses it at a time.
package final class ForeignDatabase {
    /// The formats of encrypted databases.
    package enum Format: Int, CaseIterable, Sendable {
        /// The format of SQLCipher 3: pages of 1,024 bytes, HMAC-SHA1.
        case sqlCipher3 = 3
        /// The format of SQLCipher 4: pages of 4,096 bytes, HMAC-SHA512.
        case sqlCipher4 = 4
    }

    /// The connection, inside a read transaction.
    private let connection: Connection
    private let copy: PrivateCopy?

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - key: The key; nil for a database without encryption.
    ///   - format: The format of an encrypted database.
    /// - Throws: `DatabaseError.wrongKey` if the key does not open the file in this format, `notADatabase` for a file of
    ///   another kind, `busy` if another process keeps it locked.
    package init(_ url: URL, key: EncryptionKey?, format: Format = .sqlCipher4) throws {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        let files = try DatabaseFiles(at: url.path(percentEncoded: false))
        guard try files.exist() else { throw DatabaseError.fileNotFound(path: files.namedPath) }
        try files.checkCompanions()
        try files.checkLogLength()
        let copy = try PrivateCopy.make(ifNeededFor: files)
        self.copy = copy
        connection = try Self.open(copy?.files ?? files, key, format)
    }

    /// Lends the connection to `body`. All reads see the same state.
    package func read<R>(_ body: (Connection) throws -> R) throws -> R {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        return try body(connection)
    }

    /// Closes the database.
    package func close() { connection.close() }

    deinit { connection.close() }

    // MARK: Opening

    private static func open(_ files: DatabaseFiles, _ key: EncryptionKey?, _ format: Format) throws -> Connection {
        var options = Database.Options()
        // A connection that is opened for writing can lock the file exclusively, and needs no shared memory then.
        options.readOnly = !isWritable(files)
        let isImmutable = options.readOnly && !files.haveCompanions && ReadOnlyMedium.contains(files.path)
        let connection = try ConnectionOpener.connect(
            files,
            options: options,
            counters: StatisticsCounters(),
            isImmutable: isImmutable
        )
        try checkBeginning(of: connection, files, isEncrypted: key != nil)
        connection.writesLogBackOnClose = !FileManager.default.fileExists(atPath: files.log)
        if !options.readOnly, try takeForItself(connection) {
            try connection.setting("PRAGMA locking_mode = EXCLUSIVE")
        }
        do throws(DatabaseError) {
            if let key { try set(key, format, on: connection, files) }
            try ConnectionOpener.applySettings(connection, options: options, durability: .applicationCrash)
            try connection.runSettings("PRAGMA query_only = ON; BEGIN; SELECT count(*) FROM sqlite_schema")
            try connection.verifyPages()
        } catch {
            guard case .damaged = error, key != nil else { throw error }
            throw DatabaseError.wrongKey(path: files.namedPath)
        }
        StatementAuthorizer.install(on: connection)
        return connection
    }

    private static func isWritable(_ files: DatabaseFiles) -> Bool {
        csqlcipher_access(files.path, W_OK) == 0 && csqlcipher_access(files.folder, W_OK) == 0
    }

    /// Checks that no other connection has the file open; SQLite then takes the exclusive lock with the first read.
    private static func takeForItself(_ connection: Connection) throws(DatabaseError) -> Bool {
        guard sqlite3_db_readonly(connection.handle, "main") == 0, let file = csqlcipher_main_file(connection.handle)
        else { return false }
        defer { csqlcipher_unlock_file(file) }
        return csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK
            && csqlcipher_lock_file(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
    }

    /// Throws unless the file begins as a database of the kind does.
    private static func checkBeginning(
        of connection: Connection,
        _ files: DatabaseFiles,
        isEncrypted: Bool
    ) throws(DatabaseError) {
        let page = try firstPage(of: connection, files)
        let isPlaintext = FileLayout(ofFirstPage: page) == nil
        if isEncrypted, isPlaintext { throw .notADatabase(path: files.namedPath, .plaintextSQLite) }
        if !isEncrypted, !isPlaintext { throw .notADatabase(path: files.namedPath, .unrecognised) }
    }

    /// The salt of an encrypted database; nil for a plaintext header.
    private static func salt(of connection: Connection, _ files: DatabaseFiles) throws(DatabaseError) -> [UInt8]? {
        let page = try firstPage(of: connection, files)
        guard FileLayout(ofFirstPage: page) == .salt else { return nil }
        return Array(page.prefix(DerivedKey.saltByteCount))
    }

    /// The first page of the size that SQLCipher 4 uses, or the whole of a shorter file.
    private static func firstPage(of connection: Connection, _ files: DatabaseFiles) throws(DatabaseError) -> [UInt8] {
        guard let file = csqlcipher_main_file(connection.handle) else {
            throw .cannotOpen(path: files.namedPath, reason: "SQLite has no file for it")
        }
        var byteCount: Int64 = 0
        guard csqlcipher_file_size(file, &byteCount) == SQLITE_OK else {
            throw .inputOutput(extendedCode: SQLITE_IOERR, isIndeterminate: false)
        }
        guard byteCount > 0 else { throw .emptyFile(path: files.namedPath) }
        guard byteCount >= 512 else { throw .notADatabase(path: files.namedPath, .shorterThanOnePage) }
        var bytes = [UInt8](repeating: 0, count: Int(min(byteCount, Int64(PageCipher.pageByteCount))))
        let code = csqlcipher_file_read(file, &bytes, Int32(bytes.count), 0)
        guard code == SQLITE_OK else { throw .inputOutput(extendedCode: code, isIndeterminate: false) }
        return bytes
    }

    private static func set(
        _ key: EncryptionKey,
        _ format: Format,
        on connection: Connection,
        _ files: DatabaseFiles
    ) throws(DatabaseError) {
        let salt = try salt(of: connection, files)
        let derived: DerivedKey
        switch (format, salt) {
        case (.sqlCipher4, _): derived = try DerivedKey(key, fileSalt: salt, counters: StatisticsCounters())
        case (.sqlCipher3, let salt?): derived = try DerivedKey(sqlCipher3: key, fileSalt: salt)
        // Only SQLCipher 4 has plaintext headers.
        case (.sqlCipher3, nil): throw .wrongKey(path: files.namedPath)
        }
        let code = derived.set(on: connection.handle)
        guard code == SQLITE_OK else { throw connection.failure(code, during: .execution) }
        try connection.setting("PRAGMA cipher_log = off")
        if format == .sqlCipher4 { try connection.checkClearBytes(of: derived.layout) }
        if format != .sqlCipher4 { try connection.setting("PRAGMA cipher_compatibility = \(format.rawValue)") }
    }
}

/// A copy of a database whose journal SQLite would roll back into the file, with the files beside it. It is removed
/// with the object.
private final class PrivateCopy {
    private let file: TemporaryDatabaseFile
    var files: DatabaseFiles { file.files }

    private init(_ file: consuming TemporaryDatabaseFile) {
        self.file = file
    }

    /// Copies a database; returns nil if it has no journal that SQLite would roll back.
    ///
    /// The shared lock keeps writers from the file while it is copied, as in ``Rehearsal``.
    static func make(ifNeededFor files: DatabaseFiles) throws(DatabaseError) -> PrivateCopy? {
        guard DatabaseFiles.byteCount(of: files.journal) > 0 else { return nil }
        let options = Database.Options(readOnly: true)
        let connection = try ConnectionOpener.connect(files, options: options, counters: StatisticsCounters())
        defer { connection.close() }
        guard let file = csqlcipher_main_file(connection.handle),
            csqlcipher_lock_file(file, SQLITE_LOCK_SHARED) == SQLITE_OK
        else { throw .busy }
        defer { csqlcipher_unlock_file(file) }
        guard csqlcipher_file_is_reserved(file) == 0, RollbackJournal(path: files.journal).isHot else { return nil }
        try files.checkContentLength()
        let copy = PrivateCopy(try TemporaryDatabaseFile(beside: files))
        let copying = { (path: String) in FileCopy(to: path, namedPath: files.namedPath) }
        try copying(copy.files.path).copy(file)
        try copying(copy.files.log).copy(files.log)
        try copying(copy.files.journal).copy(files.journal)
        return copy
    }
}
