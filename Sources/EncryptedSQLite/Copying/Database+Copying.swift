import CSQLCipher
package import Foundation

extension Database {
    /// The form of a copy.
    package enum CopyForm: Sendable {
        /// Page by page, with free pages. Takes a source in a file.
        case pages
        /// Row by row into a file without free pages, in which the pages of each table are consecutive. The keys of
        /// rows stay.
        case compact
    }

    /// Copies the state that is committed now to a new encrypted file, while other connections read and write.
    ///
    /// The file appears at its path when it is complete: every page of it has been verified with the key and SQLite has
    /// checked its structure. A failure, a cancellation or the end of the process leaves nothing at the path.
    ///
    /// A copy of a file holds one read transaction while it runs. Until then the log of the source cannot be reset, and
    /// grows by the pages that other connections write. Other threads cannot use a database in memory during the copy.
    ///
    /// - Parameters:
    ///   - path: The path of the new file.
    ///   - key: The key of the new file; nil for the key of the source. A database in memory has none. The new file has
    ///     a fresh salt, unless the key names the salt, so that no log of another file is taken for a log of the new
    ///     file.
    ///   - form: The form. A database in memory is always copied row by row.
    ///   - replacesExisting: Whether a file at the path is replaced. A file that is open elsewhere is not replaced.
    ///   - progress: Receives the finished part, and can be cancelled.
    /// - Throws: `damaged` if a page of the source does not verify; `diskFull`; `cannotOpen` if a file exists at the
    ///   path, or the path is the name of a log of a database; `busy` if the file to be replaced is in use; `hardLinked`;
    ///   `missingKey`; `locked`; `CancellationError`.
    /// - Complexity: O(*n*) in the size of the database; memory is bounded.
    package func copy(
        to path: String,
        key: EncryptionKey? = nil,
        form: CopyForm = .pages,
        replacesExisting: Bool = false,
        progress: Progress = Progress(totalUnitCount: 100)
    ) throws {
        try copy(to: CopyTarget(path: path, replacesExisting ? .replaced : .kept), key, form, progress)
    }

    fileprivate func copy(
        to target: CopyTarget,
        _ key: EncryptionKey?,
        _ form: CopyForm,
        _ progress: Progress
    ) throws {
        try target.requireFree(options, counters)
        let work = DatabaseCopy(database: self, target: target, progress: progress)
        do {
            try self.work.run(progress) { try work.run(key, form) }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }

    /// Puts the content of a backup in the place of a database, with all files beside it: its log, the index of the log,
    /// and a journal.
    ///
    /// The backup is copied beside the database, under a fresh salt unless the key names the salt, and each page of the
    /// copy is verified. Then the copy takes the place of the database: at every instant, also after the end of the
    /// process, an opening finds the old file with its log or the new file without one. The backup stays as it is. If
    /// there is no database at the path, one is created.
    ///
    /// - Parameters:
    ///   - backup: The path of the backup.
    ///   - key: The key of the backup.
    ///   - path: The path of the database.
    ///   - newKey: The key of the database afterwards; nil for the key of the backup.
    ///   - options: The options of connections to the backup.
    ///   - progress: Receives the finished part, and can be cancelled.
    ///   - verify: Runs in a read transaction of the backup, before it is copied. It can run twice.
    /// - Throws: `busy` if a connection of this or another process has the database open; the errors of opening the
    ///   backup; `hardLinked`; as ``copy(to:key:form:replacesExisting:progress:)``. The database is unchanged then.
    package static func restore(
        _ backup: String,
        key: EncryptionKey,
        to path: String,
        newKey: EncryptionKey? = nil,
        options: Options,
        progress: Progress = Progress(totalUnitCount: 100),
        verify: (Connection) throws -> Void = { _ in }
    ) throws {
        let target = try CopyTarget(path: path, .restored)
        let files = try DatabaseFiles(at: backup)
        guard files.path != target.files.path else {
            throw DatabaseError.cannotOpen(path: files.namedPath, reason: "a backup cannot be restored to its own path")
        }
        let counters = StatisticsCounters()
        try target.requireFree(options, counters)
        let source = try Database(
            .file(backup),
            key: key,
            options: options.ofExamination(of: files),
            create: { _ in },
            verify: verify
        )
        defer { try? source.close() }
        try source.copy(to: target, newKey, .pages, progress)
    }

    /// Replaces the file by one without free pages; see ``replaceFile(key:progress:copy:)``.
    ///
    /// The rows are written twice, first beside the file and then into the new one, so that space for twice the compact
    /// size is needed.
    ///
    /// - Parameter key: The key of the new file; nil for the key of the old one, with a fresh salt unless the key names the
    ///   salt.
    package func compact(key: EncryptionKey? = nil, progress: Progress = Progress(totalUnitCount: 100)) throws {
        let session = try openSession()
        do {
            // No connection can write during the replacement, so that the compact copy has the rows of the source.
            try replaceFile(key: key, progress: progress) { _, target, progress in
                let file = try TemporaryDatabaseFile(compacting: session.opener.files)
                let compact = try CompactFile(of: session, to: file, options, progress)
                try compact.withConnection { source in
                    try PageCopy.run(from: source, to: target, progress: progress)
                    // The last page that was copied may be one that did not verify.
                    try source.verifyPages()
                }
            }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }
}

/// The steps of a copy.
private struct DatabaseCopy {
    let database: Database
    let target: CopyTarget
    let progress: Progress

    private var counters: StatisticsCounters { database.counters }
    /// The path that errors of the content name.
    private var sourcePath: String { database.files?.namedPath ?? target.files.namedPath }

    func run(_ key: EncryptionKey?, _ form: Database.CopyForm) throws {
        if progress.totalUnitCount < 100 { progress.totalUnitCount = 100 }
        if progress.isCancelled { throw CancellationError() }
        let session = database.location == .memory ? nil : try database.openSession()
        let derived: DerivedKey
        if let key {
            derived = try DerivedKey(forNewFile: key, counters: counters)
        } else if let session {
            derived = try session.deriveKeyOfNewFile()
        } else {
            throw DatabaseError.missingKey(path: target.files.namedPath)
        }
        let temporary = try TemporaryDatabaseFile(beside: target.files)
        let opener = ConnectionOpener(
            files: temporary.files,
            key: derived,
            options: database.options.ofCopies,
            counters: counters
        )
        let copying = Progress(totalUnitCount: 1, parent: progress, pendingUnitCount: progress.totalUnitCount * 3 / 4)
        if let session {
            try copy(session, form, with: opener, copying)
        } else {
            try exportMemory(with: opener, copying)
        }
        try complete(opener)
        // A part of the progress that began after the cancellation is not cancelled.
        if progress.isCancelled { throw CancellationError() }
        let creation = FileCreation(files: target.files, options: database.options, counters: counters)
        try target.giveName(to: temporary.files, creation)
    }

    private func copy(
        _ session: FileSession,
        _ form: Database.CopyForm,
        with opener: ConnectionOpener,
        _ progress: Progress
    ) throws {
        func copyPages(from source: Connection) throws {
            let connection = try opener.connect()
            defer { connection.close() }
            try opener.prepare(connection, for: .creator)
            // A file that cannot be completed is removed, so that it needs no journal; it is synchronized at the end.
            try connection.runSettings("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
            try PageCopy.run(from: source, to: connection, progress: progress)
            // The last page that was copied may be one that did not verify.
            try source.verifyPages()
        }
        switch form {
        case .pages:
            var small = session.opener
            small.options.cacheKilobytes = Database.Options.cacheKilobytesOfCopies
            let source = try session.file.open(.reader, with: small)
            defer { source.close() }
            try source.beginSnapshot()
            try copyPages(from: source)
        case .compact:
            let file = try TemporaryDatabaseFile(beside: target.files)
            let compact = try CompactFile(of: session, to: file, database.options, progress)
            try compact.withConnection(copyPages)
        }
    }

    /// Writes the rows of a database in memory into the new file.
    private func exportMemory(with opener: ConnectionOpener, _ progress: Progress) throws {
        try database.withMemoryConnection { connection in
            // The rules refuse to attach a file.
            sqlite3_set_authorizer(connection.handle, nil, nil)
            defer { StatementAuthorizer.install(on: connection) }
            try opener.key.withSpecification { specification in
                try connection.withUncachedStatement("ATTACH ?1 AS copy KEY ?2") { statement in
                    try statement.bind(text: opener.files.path, at: 1)
                    try statement.bind(staticBlob: specification, at: 2)
                    try statement.run()
                }
            }
            defer { try? connection.runSettings("DETACH copy") }
            try connection.runSettings(opener.key.layout.setting(of: "copy"))
            try connection.interruptible(when: { progress.isCancelled }) {
                try connection.runSettings("SELECT sqlcipher_export('copy')")
                for number in ["user_version", "application_id"] {
                    let value = try connection.setting("PRAGMA main.\(number)") ?? "0"
                    try connection.runSettings("PRAGMA copy.\(number) = \(value)")
                }
            }
        }
        progress.completedUnitCount = progress.totalUnitCount
    }

    /// Gives the new file a write-ahead log, checks its structure, and verifies every page.
    private func complete(_ opener: ConnectionOpener) throws {
        let header: DatabaseHeader
        do {
            // The copy has the pages of the source, and they contradict each other where the pages of the source do.
            var source = opener
            source.files = DatabaseFiles(path: opener.files.path, namedPath: sourcePath)
            let connection = try source.open(.creator)
            defer { connection.close() }
            header = DatabaseHeader(
                userVersion: Int32(clamping: try connection.value(of: .userVersion)),
                applicationID: Int32(clamping: try connection.value(of: .applicationID))
            )
            let progress = progress
            let problem = try connection.interruptible(when: { progress.isCancelled }) {
                // quick_check does not compare indexes with their tables: the copy has the indexes of the source.
                try connection.setting("PRAGMA quick_check(1)") ?? ""
            }
            guard problem == "ok", header.applicationID == database.options.applicationID else {
                let isOfIndex = problem.contains("FTS5 table main.") || problem.hasPrefix("In RTree main.")
                throw isOfIndex ? DatabaseError.damagedIndex(path: sourcePath) : .damaged(path: sourcePath)
            }
            try connection.writeLogBack()
        }
        try FileVerification(opener.files, opener).run(
            expecting: header,
            progress: Progress(
                totalUnitCount: 1,
                parent: progress,
                pendingUnitCount: progress.totalUnitCount - progress.totalUnitCount * 3 / 4
            )
        )
        try FileCreation.synchronize(file: opener.files.path, for: opener.files)
    }
}

extension Database.Options {
    /// The page cache of a connection that reads or writes each page once.
    static let cacheKilobytesOfCopies = 4096

    /// The options of connections to a new file.
    var ofCopies: Database.Options {
        var options = self
        options.readOnly = false
        options.cacheKilobytes = Self.cacheKilobytesOfCopies
        return options
    }
}
