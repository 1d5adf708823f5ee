import CSQLCipher
import Foundation

/// Opens a database file for the first time. All conditions on the file are checked here, in this order. A file that
/// fails a check stays as it was, with its log and journal.
struct FileOpening {
    let files: DatabaseFiles
    let options: Database.Options
    let counters: StatisticsCounters

    private var path: String { files.namedPath }
    private static let maximumAttempts = 10
    /// The number of names in the folder among which an opening looks for leftovers.
    private static let maximumNames = 1000

    /// A reader that passed all checks, and the opener for further connections.
    struct Result {
        /// The connection, in the read transaction of the checks if that may stay open.
        let connection: Connection
        let identity: FileIdentity
        let opener: ConnectionOpener
        /// The transactions of the log that the opening has not found.
        var loss: LogLoss?
    }

    init(path: String, options: Database.Options, counters: StatisticsCounters) throws(DatabaseError) {
        files = try DatabaseFiles(at: path)
        self.options = options
        self.counters = counters
    }

    init(files: DatabaseFiles, options: Database.Options, counters: StatisticsCounters) {
        self.files = files
        self.options = options
        self.counters = counters
    }

    /// Opens the file, or creates it.
    ///
    /// - Parameter known: A key that was derived from `key`. It is used if the file has its salt.
    func open(
        _ key: EncryptionKey,
        known: DerivedKey? = nil,
        create: (Connection) throws -> Void,
        verify: (Connection) throws -> Void
    ) throws -> Result {
        try ExitGate.enter()
        defer { ExitGate.leave() }
        try DispatchDescriptors.require(for: path)
        try InterruptedRestoration.finish(files, options)
        try files.checkCompanions()
        var known = known
        if try !files.exist() {
            guard options.createsIfMissing, !options.readOnly else { throw DatabaseError.fileNotFound(path: path) }
            try files.requireNameOfNoStore()
            let newKey = try DerivedKey(forNewFile: key, counters: counters)
            let creation = FileCreation(files: files, options: options, counters: counters)
            if try creation.create(with: newKey, schema: create) { known = newKey }
        }
        var attempts = 0
        var isRepairTried = false
        while true {
            let identity = FileIdentity(path: files.path)
            do {
                // Retained until the connection joins it.
                let shared = identity.map { SharedFile.at(files, $0) }
                defer { withExtendedLifetime(shared) {} }
                // SQLite would make a new log for connections that share the index of the old log.
                if let moved = shared?.movedFile { throw DatabaseError.moved(path: moved) }
                return try openExisting(key, known: &known, create: create, verify: verify)
            } catch {
                attempts += 1
                var isRetried = false
                var isReplaced = false
                switch error as? DatabaseError {
                case .cannotOpen:
                    isRetried = InterruptedSwap.repair(files, options) == .repaired || !isRepairTried
                    isRepairTried = true
                // A replacement removes the index of the log just before it renames the new file.
                case .moved: isRetried = true
                default: break
                }
                // Another process has replaced the file during the opening, which explains any error.
                if let new = FileIdentity(path: files.path), new != identity { isReplaced = true }
                guard isRetried || isReplaced, attempts < Self.maximumAttempts else {
                    throw isReplaced ? DatabaseError.busy : error
                }
            }
        }
    }

    private func openExisting(
        _ key: EncryptionKey,
        known: inout DerivedKey?,
        create: (Connection) throws -> Void,
        verify: (Connection) throws -> Void
    ) throws -> Result {
        try files.requireSingleName(timeoutMilliseconds: options.busyTimeoutMilliseconds)
        let connection = try ConnectionOpener.connect(files, options: options, counters: counters)
        guard options.readOnly || sqlite3_db_readonly(connection.handle, "main") == 0 else {
            throw DatabaseError.permissionDenied(path: path)
        }
        let inspection = try FileInspection(files, of: connection, key: key)
        let derived: DerivedKey
        if let known, known.isForFile(withSalt: inspection.salt) {
            derived = known
        } else {
            derived = try DerivedKey(key, fileSalt: inspection.salt, counters: counters)
            known = derived
        }
        let header = inspection.header(derived)
        do throws(DatabaseError) {
            try check(inspection, header, derived)
        } catch {
            guard case .wrongKey = error, try inspection.hasHeaderLikeSalt(key, counters: counters) else { throw error }
            throw DatabaseError.damaged(path: path)
        }
        guard !inspection.endsWithinPage || DatabaseFiles.byteCount(of: files.log) > 0 else {
            throw DatabaseError.damaged(path: path)
        }
        try files.checkLogLength()
        let opener = ConnectionOpener(files: files, key: derived, options: options, counters: counters)
        // An unexpected ID may be the result of damage.
        let applicationID = header.flatMap { isAcceptable($0) ? $0.applicationID : nil } ?? 0
        do {
            let haveCompanions = files.haveCompanions
            var loss: LogLoss?
            // A read-only connection cannot remove the log that SQLite creates for it, either.
            if haveCompanions || options.readOnly {
                loss = try Rehearsal(opener).run(onBehalfOf: connection) {
                    _ = try examine($0, applicationID, verify: verify)
                }
            }
            var result = try accept(
                connection,
                opener,
                applicationID,
                keepsLog: haveCompanions,
                create: create,
                verify: verify
            )
            result.loss = loss
            return result
        } catch let error as DatabaseError {
            guard canReadWithoutLog(after: error) else { throw explanation(of: error) }
            var opener = opener
            opener.isImmutable = true
            let connection = try opener.connect()
            return try accept(connection, opener, applicationID, keepsLog: false, create: create, verify: verify)
        }
    }

    /// Prepares a connection, checks the content of the file through it, and applies the settings that may change the
    /// file.
    ///
    /// The last connection to a file writes the log back and removes it when it is closed, and this connection may be
    /// the last. Therefore it must not write back a log that an earlier process left (`keepsLog`) until all checks have
    /// passed.
    private func accept(
        _ connection: Connection,
        _ opener: ConnectionOpener,
        _ applicationID: Int32,
        keepsLog: Bool,
        create: (Connection) throws -> Void,
        verify: (Connection) throws -> Void
    ) throws -> Result {
        if keepsLog { connection.writesLogBackOnClose = false }
        do {
            let role: ConnectionOpener.Role = options.readOnly || options.examinesOnly ? .reader : .first
            try OpeningGate.at(files.path).opening { () throws(DatabaseError) in
                guard !connection.hasMovedFile else { throw .moved(path: path) }
                try opener.prepare(connection, for: role)
            }
            try opener.restrict(connection)
            // Only now: the settings have read the file.
            opener.detectLog(of: connection)
            if try examine(connection, applicationID, verify: verify) == .unfinished {
                connection.endReading()
                try opener.withoutRestrictions(on: connection) { connection in
                    try FileCreation.buildSchema(on: connection, options: options, create: create)
                }
                _ = try examine(connection, applicationID, verify: verify)
            }
            let identity = try connection.fileIdentity()
            try opener.finish(connection, for: role)
            try connection.join(SharedFile.at(files, identity), mayWrite: !options.readOnly, isExamined: true)
            if !connection.mayKeepTransaction { connection.endReading() }
            if keepsLog { connection.writesLogBackOnClose = true }
            if !options.readOnly {
                FileReplacement.removeLeftover(beside: files, through: connection)
                TemporaryFolder.removeLeftovers(beside: files, limit: Self.maximumNames)
            }
            return Result(connection: connection, identity: identity, opener: opener)
        } catch {
            // Another process may have created a log during the opening.
            if DatabaseFiles.byteCount(of: files.log) > 0 { connection.writesLogBackOnClose = false }
            connection.close()
            throw error
        }
    }

    // MARK: Obstacles

    /// Whether the file alone is the whole database, although it cannot be read with a log.
    ///
    /// Readers of a log share memory in a file. If that file cannot be created, the log is dispensable only if it is
    /// empty and no process can write to it. The same holds for a rollback journal.
    private func canReadWithoutLog(after error: DatabaseError) -> Bool {
        options.readOnly && error.deniesAccess && DatabaseFiles.byteCount(of: files.log) == 0
            && DatabaseFiles.byteCount(of: files.journal) == 0 && ReadOnlyMedium.contains(files.path)
    }

    /// The cause of an error for which SQLite has only a general text.
    private func explanation(of error: DatabaseError) -> DatabaseError {
        guard error.deniesAccess else { return error }
        if let companion = files.companions.first(where: isInaccessible) {
            return .permissionDenied(path: companion)
        }
        if options.readOnly, DatabaseFiles.byteCount(of: files.journal) > 0 {
            return .cannotOpen(
                path: path,
                reason: "a transaction was interrupted and must be rolled back first; open the file once for writing"
            )
        }
        if csqlcipher_access(files.folder, W_OK) != 0 {
            return .unwritableFolder(path: path, hasLog: DatabaseFiles.byteCount(of: files.log) > 0)
        }
        return error
    }

    private func isInaccessible(_ companion: String) -> Bool {
        csqlcipher_access(companion, options.readOnly ? R_OK : R_OK | W_OK) != 0 && errno == EACCES
    }

    // MARK: Application and format

    private enum Content {
        case complete
        /// A file without content, which another tool has created.
        case unfinished
    }

    /// Checks the content of the file and of its log through SQLite, in one read transaction, which stays open.
    ///
    /// - Parameter applicationID: The application ID in the first page of the file, which never changes once it is set;
    ///   0 if it is not known.
    private func examine(
        _ connection: Connection,
        _ applicationID: Int32,
        verify: (Connection) throws -> Void
    ) throws -> Content {
        try connection.beginReading()
        let header = DatabaseHeader(
            userVersion: try number("PRAGMA user_version", of: connection),
            applicationID: applicationID != 0 ? applicationID : try number("PRAGMA application_id", of: connection)
        )
        let isNumbered = header != DatabaseHeader(userVersion: 0, applicationID: 0)
        if !isNumbered, options.createsIfMissing, !options.readOnly,
            try connection.setting("SELECT count(*) FROM sqlite_schema") == "0"
        {
            return .unfinished
        }
        try check(header)
        try verify(connection)
        // Reads the schema if `verify` does not, and detects damage to it.
        try connection.verifyPages()
        return .complete
    }

    /// Checks the key, and the header of the file without its log.
    ///
    /// SQLite authenticates the first page when it reads it. It is authenticated here, too, if it is a reason to refuse
    /// the file, or if the salt of the key differs from the salt of the file: the header proves the key, but not its
    /// salt.
    ///
    /// - Parameter header: The ``FileInspection/header(_:)`` for the key.
    private func check(
        _ inspection: FileInspection,
        _ header: DatabaseHeader?,
        _ key: DerivedKey
    ) throws(DatabaseError) {
        guard !inspection.isHeaderDamaged else {
            _ = try inspection.verify(key)
            throw .damaged(path: path)
        }
        if key.salt == inspection.salt, let header, isAcceptable(header) { return }
        if let header = try inspection.verify(key), !isAcceptable(header) { try check(header) }
    }

    /// Whether a file with this header can belong to the application. A file without an application ID may be an
    /// unfinished creation, which its tables show.
    private func isAcceptable(_ header: DatabaseHeader) -> Bool {
        if header.applicationID == 0 { return true }
        return (try? check(header)) != nil
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
}

extension DatabaseError {
    /// Whether the error means that a file could not be opened, created or written.
    fileprivate var deniesAccess: Bool {
        switch self {
        case .cannotOpen, .permissionDenied, .readOnly: true
        default: false
        }
    }
}
