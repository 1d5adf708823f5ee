import EncryptedSQLite
import ObjectGraph

/// Carries out the decisions on a store, until the program can open it.
///
/// Each decision is made and carried out in one write transaction: a stage and its code are one transaction, and the
/// migration to the model of the program is the last transaction. If a transaction fails, the previous stages remain
/// committed.
struct StoreMigrator {
    let staged: StagedMigration
    let database: Database
    let progress: MigrationProgress?

    private var program: StoreReading { staged.program }

    /// The result of a transaction.
    enum Outcome {
        /// The store has the model of the program.
        case fits(FittingContent, hasMigrated: Bool)
        /// The stage at a position was run.
        case ranStage(Int)
    }

    /// Runs the remaining stages, and updates or migrates the store to the model of the program.
    ///
    /// - Parameter reached: The position of the last stage that was run, also before this call; nil if no stage was
    ///   run.
    /// - Throws: ``SealedStoreError``; an error that the code of a stage throws; `CancellationError`.
    func run(reached: inout Int?) throws -> FittingContent {
        var first: Int?
        while true {
            let outcome = try staged.reportingVersion(reached) {
                try waitingForOtherPrograms {
                    try database.write(isBulk: true) { connection in
                        try program.checked.adopt(for: connection, of: database)
                        return try takeTurn(on: connection, first: first)
                    }
                }
            }
            switch outcome {
            case .ranStage(let position):
                first = first ?? position
                reached = position
                shortenLog()
            case .fits(let content, let hasMigrated):
                if hasMigrated { shortenLog() }
                progress?.report(1)
                return content
            }
        }
    }

    /// Makes a decision and carries it out, in the transaction of a connection.
    ///
    /// - Parameter first: The position of the first stage that was run; nil if no stage was run.
    private func takeTurn(on connection: Connection, first: Int? = nil) throws -> Outcome {
        // Another program may have migrated the store since it was examined.
        let content = try StoreContent.read(on: connection)
        switch try staged.decision(on: content, connection, progress: progress) {
        case .fits(let fitting): return .fits(fitting, hasMigrated: false)
        case .updates(let change): return .fits(try update(content, change, connection), hasMigrated: false)
        case .migrates(let plan, let problems):
            return .fits(try migrate(content, plan, problems, connection), hasMigrated: true)
        case .runsStage(let entry):
            try run(entry, on: content, connection, first: first)
            return .ranStage(entry.position)
        case .refused(let error): throw error
        }
    }

    // MARK: Tables

    /// Updates a store whose tables do not change.
    private func update(_ content: StoreContent, _ change: ModelChange, _ connection: Connection) throws
        -> FittingContent
    {
        var stored = content.metadata
        switch change {
        case .visibility: stored = try record(stored, on: connection)
        case .rules where program.allowsMigration: stored = try record(stored, on: connection)
        case .none, .rules, .shape: break
        }
        stored = try IndexUpdate(on: connection, of: stored, for: program.own).addMissing()
        return try finish(stored, from: content.metadata, connection)
    }

    /// Records the models of a store whose tables do not change.
    private func record(_ stored: StoreMetadataTable, on connection: Connection) throws -> StoreMetadataTable {
        let recorded = try stored.opened(by: program.own, removesMissing: program.removesMissing)
        try recorded.write(on: connection)
        if !StoreSchema(model: recorded.fileModel).makesTables(of: StoreSchema(model: stored.fileModel)) {
            try StoreMetadataTable.noteOtherOrder(on: connection)
        }
        return recorded
    }

    /// Migrates a store, after merging the duplicates of new uniqueness constraints.
    private func migrate(
        _ content: StoreContent,
        _ plan: MigrationPlan,
        _ problems: [MigrationProblem],
        _ connection: Connection
    ) throws -> FittingContent {
        guard let merge = try DuplicateMerge(problems, program) else {
            return try migrate(content, plan, connection, progress)
        }
        let preparation = progress?.part(0, of: 2)
        let relaxed = StoreMigrator(
            staged: StagedMigration(program: merge.reading),
            database: database,
            progress: preparation?.part(0, of: 2)
        )
        _ = try relaxed.takeTurn(on: connection)
        try merge.run(on: database, connection, progress: preparation?.part(1, of: 2))
        let merged = try StoreContent.read(on: connection)
        let rest = try program.migration(of: merged, on: connection)
        return try migrate(merged, rest, connection, progress?.part(1, of: 2))
    }

    private func migrate(
        _ content: StoreContent,
        _ plan: MigrationPlan,
        _ connection: Connection,
        _ progress: MigrationProgress?
    ) throws -> FittingContent {
        let migrated = try StoreMigration(plan, program.checked, on: connection, progress: progress).run()
        return try finish(migrated, from: content.metadata, connection)
    }

    /// Completes an update or a migration. Before the commit, the result is verified like any file that is opened.
    private func finish(
        _ updated: StoreMetadataTable,
        from stored: StoreMetadataTable,
        _ connection: Connection
    ) throws -> FittingContent {
        if !Set(stored.setAside).isSubset(of: updated.setAside) {
            // Programs without an ordered relationship do not number its members, so the numbers are completed here.
            let schema = StoreSchema(model: updated.fileModel, names: updated.names)
            try ContentRepair(connection, schema, entityNames: nil).renumberMembers()
        }
        if program.isLater(than: updated) {
            try updated.with(modelVersion: program.configuration.modelVersion).writeNoticeably(on: connection)
        }
        return try program.fittingContent(StoreContent.read(on: connection), on: connection)
    }

    // MARK: Stages

    private func run(_ entry: StagedMigration.Entry, on content: StoreContent, _ connection: Connection, first: Int?)
        throws
    {
        let (position, stage) = (entry.position, staged.stages[entry.position])
        let first = min(first ?? position, position)
        let (willMigrate, didMigrate) = entry.isInferred ? (nil, nil) : (stage.willMigrate, stage.didMigrate)
        var model = content.metadata.model
        if let willMigrate {
            try run(willMigrate, at: position - 1, of: model)
            model = try StoreContent.read(on: connection).metadata.model
        }
        // The plan of the stages says what a version no longer has, so it is removed. The plan says nothing about a
        // store that has the model of no version, so nothing of it is removed.
        let target = try staged.reading(position, of: model, isTarget: true, removesMissing: !entry.isInferred)
        let migrator = StoreMigrator(
            staged: StagedMigration(program: target),
            database: database,
            progress: progress?.part(position - first, of: staged.stages.count - first)
        )
        _ = try migrator.takeTurn(on: connection)
        if let didMigrate {
            try run(didMigrate, at: position, of: StoreContent.read(on: connection).metadata.model)
        }
        try record(position, hasRunCode: willMigrate != nil || didMigrate != nil, on: connection)
    }

    /// Runs code on the version of the model that a store has, in the transaction of the calling thread.
    private func run(_ code: StoreMigrationStage.Code, at position: Int, of model: ManagedObjectModel) throws {
        try staged.reading(position, of: model).run(code, classes: staged.stages[position].classes, on: database)
    }

    /// Records that a store has reached a version.
    ///
    /// - Parameter hasRunCode: Whether code has migrated data. It counts as a migration even if the version has the
    ///   shape of the version before: programs that have the store open must not go on with the data of the earlier
    ///   version.
    private func record(_ position: Int, hasRunCode: Bool, on connection: Connection) throws {
        let stored = try StoreContent.read(on: connection).metadata
        var reached = stored
        if let version = staged.versions.isEmpty ? nil : staged.versions[position],
            stored.modelVersion.map({ $0 < version }) ?? true
        {
            reached = reached.with(modelVersion: version)
        }
        if hasRunCode { reached = reached.with(migrationCount: stored.migrationCount + 1) }
        guard reached.modelVersion != stored.modelVersion || hasRunCode else { return }
        try reached.writeNoticeably(on: connection)
    }

    // MARK: Transactions

    /// The number of busy timeouts for which opening waits for another program's migration: ten minutes. A program that
    /// is suspended while it writes would otherwise block the opening forever.
    private static let maximumWaits = 60

    /// Repeats a transaction as long as another program writes and the store still has to be migrated or updated, since
    /// a migration or the building of an index takes longer than any other transaction.
    func waitingForOtherPrograms<R>(_ body: () throws -> R) throws -> R {
        for _ in 0..<Self.maximumWaits {
            do {
                return try body()
            } catch DatabaseError.busy {
                try progress?.checkCancellation()
                let stored = try database.read { try StoreContent.read(on: $0).metadata }
                guard program.changes(stored) else { return try body() }
            }
        }
        return try body()
    }

    /// Writes back and shortens the log, which is as long as the tables that a migration has rebuilt.
    private func shortenLog() {
        // If other processes read the log, it stays as it is until a later checkpoint.
        try? database.writeWithoutTransaction { connection in
            let isWrittenBack = try connection.withUncachedStatement("PRAGMA wal_checkpoint(PASSIVE)") { row in
                try row.step() && row.integer(at: 0) == 0 && row.integer(at: 1) == row.integer(at: 2)
            }
            if isWrittenBack { try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        }
    }
}
