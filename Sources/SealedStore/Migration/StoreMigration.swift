import EncryptedSQLite
import Foundation
import ObjectGraph

/// Runs a migration in the transaction of a connection.
struct StoreMigration {
    private let plan: MigrationPlan
    private let checked: MigrationCheckResults
    private let connection: Connection
    private let progress: MigrationProgress?

    /// The number of rows that are copied between two reports of progress.
    private static let rowsAtOnce = 20_000

    /// - Parameters:
    ///   - checked: The results of the checks so far.
    ///   - connection: A connection in a write transaction.
    ///   - progress: Reports the progress. The migration ends when it is cancelled.
    init(
        _ plan: MigrationPlan,
        _ checked: MigrationCheckResults,
        on connection: Connection,
        progress: MigrationProgress?
    ) {
        self.plan = plan
        self.checked = checked
        self.connection = connection
        self.progress = progress
    }

    /// Checks the data and runs the steps.
    ///
    /// - Returns: the new metadata of the store.
    /// - Throws: ``SealedStoreError/cannotMigrate(_:)`` before anything is written; `CancellationError`.
    /// - Complexity: O(*n*) in the number of rows that are checked or written.
    func run() throws -> StoreMetadataTable {
        let problems = try checked.problems(plan.checks, on: connection, progress: progress)
        guard problems.isEmpty else { throw SealedStoreError.cannotMigrate(problems) }
        return try connection.interruptible(by: progress) { try takeSteps() }
    }

    private func takeSteps() throws -> StoreMetadataTable {
        for (number, step) in plan.steps.enumerated() {
            try progress?.checkCancellation()
            progress?.begin(step)
            for statement in step.statements { try run(statement, of: step) }
            let part = progress?.part(number, of: plan.steps.count)
            var rows = 0
            for (index, copy) in step.copies.enumerated() {
                try requirePositiveKeys(copy, in: step)
                try run(copy, &rows, reportingTo: part?.part(index, of: step.copies.count))
            }
            if let addition = step.addition { try add(addition) }
            part?.report(1)
        }
        for feature in StoreFeatures.all { try feature.migrate(plan, on: connection) }
        // Connections that have the file open must not continue with the old model, even if no table has changed.
        try StoreMetadataTable.announceChange(on: connection)
        return plan.metadata
    }

    private func run(_ statement: String, of step: MigrationStep) throws {
        guard let index = step.foreignIndex else { return try connection.execute(statement) }
        do {
            try connection.execute(statement)
        } catch {
            // An expression can fail for converted values, or use a function that only the program that added the
            // index has.
            switch error {
            case .sqlite, .integerOverflow, .malformedPattern, .tooBig: throw SealedStoreError.foreignIndex(index)
            default: throw error
            }
        }
    }

    private func add(_ addition: MigrationStep.TableAddition) throws {
        let name = SQL.unquoted(addition.table)
        let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
        let statement = try connection.withUncachedStatement(sql) { row in
            try row.bind(text: name, at: 1)
            return try row.step() ? row.string(at: 0) : ""
        }
        guard var definition = TableDefinition(statement) else {
            throw SealedStoreError.foreignSchema(object: name)
        }
        for column in addition.definitions { definition.add(column) }
        try connection.replaceDefinition(ofTable: name, with: definition.statement)
    }

    // MARK: Copying

    /// Requires that all keys are positive: a store numbers its objects from 1, and the ranges of keys in which rows
    /// are copied would omit other keys.
    private func requirePositiveKeys(_ copy: RowCopy, in step: MigrationStep) throws {
        guard try value("SELECT min(\(copy.key)) FROM \(copy.table)") ?? 1 < 1 else { return }
        throw SealedStoreError.damagedRow(entity: step.entity ?? "", property: step.properties.first ?? "_id")
    }

    private func run(_ copy: RowCopy, _ rows: inout Int, reportingTo progress: MigrationProgress?) throws {
        guard let progress else { return try write(copy.sql) }
        let last = try value("SELECT max(\(copy.key)) FROM \(copy.table)") ?? 0
        var key: Int64 = 0
        while key < last {
            try progress.checkCancellation()
            let end = try end(of: copy, after: key) ?? last
            try write(copy.sqlForRange, [key, end])
            key = end
            rows += connection.changes
            progress.report(rows: rows)
            progress.report(Double(key) / Double(last))
        }
    }

    /// The last key of the next rows that a copy writes at once.
    private func end(of copy: RowCopy, after key: Int64) throws -> Int64? {
        let sql = """
            SELECT max(k) FROM (SELECT \(copy.key) AS k FROM \(copy.table) WHERE \(copy.key) > ? \
            ORDER BY \(copy.key) LIMIT \(Self.rowsAtOnce))
            """
        return try connection.withStatement(sql) { row in
            try row.bind(key, at: 1)
            guard try row.step(), !row.isNull(at: 0) else { return nil }
            guard row.integer(at: 0) > key else { throw row.damage() }
            return row.integer(at: 0)
        }
    }

    /// Runs the statement of a copy. The keys of the old table are unique: a violation in the new table proves that the
    /// tree of the old table is damaged.
    private func write(_ sql: String, _ parameters: [Int64] = []) throws {
        try connection.withStatement(sql) { statement in
            for (index, parameter) in parameters.enumerated() { try statement.bind(parameter, at: Int32(index + 1)) }
            do {
                try statement.run()
            } catch DatabaseError.constraint(let violation) where violation.kind == .primaryKey {
                throw statement.damage()
            }
        }
    }

    private func value(_ sql: String) throws -> Int64? {
        try connection.withUncachedStatement(sql) { row in
            try row.step() && !row.isNull(at: 0) ? row.integer(at: 0) : nil
        }
    }
}
