import EncryptedSQLite
import Foundation
import ObjectGraph

/// Runs a migration in the transaction of a connection.
struct StoreMigration {
    private let plan: MigrationPlan
    private let connection: Connection
    private let progress: MigrationProgress?

    /// The number of rows that are copied between two reports of progress.
    private static let rowsAtOnce = 20_000

    /// - Parameters:
    ///   - connection: A connection in a write transaction.
    ///   - progress: Reports the progress. The migration ends when it is cancelled.
    init(_ plan: MigrationPlan, on connection: Connection, progress: MigrationProgress?) {
        self.plan = plan
        self.connection = connection
        self.progress = progress
    }

    /// Checks the data and runs the steps.
    ///
    /// - Returns: the new metadata of the store.
    /// - Throws: ``SealedStoreError/cannotMigrate(_:)`` before anything is written; `CancellationError`.
    /// - Complexity: O(*n*) in the number of rows that are checked or written.
    func run() throws -> StoreMetadataTable {
        guard let progress else { return try takeSteps() }
        do {
            return try connection.interruptible(when: { progress.isCancelled }) { try takeSteps() }
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }

    private func takeSteps() throws -> StoreMetadataTable {
        let problems = try MigrationCheck.problems(plan.checks, on: connection)
        guard problems.isEmpty else { throw SealedStoreError.cannotMigrate(problems) }
        for (number, step) in plan.steps.enumerated() {
            try progress?.checkCancellation()
            progress?.begin(step)
            for statement in step.statements { try connection.execute(statement) }
            let part = progress?.part(number, of: plan.steps.count)
            for (index, copy) in step.copies.enumerated() {
                try run(copy, reportingTo: part?.part(index, of: step.copies.count))
            }
            if let addition = step.addition { try add(addition) }
            part?.report(1)
        }
        try record()
        return plan.metadata
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

    private func run(_ copy: RowCopy, reportingTo progress: MigrationProgress?) throws {
        guard let progress else { return try connection.execute(copy.sql) }
        let last = try value("SELECT max(\(copy.key)) FROM \(copy.table)") ?? 0
        var key: Int64 = 0
        while key < last {
            try progress.checkCancellation()
            let end =
                try value(
                    """
                    SELECT max(k) FROM (SELECT \(copy.key) AS k FROM \(copy.table) WHERE \(copy.key) > \(key) \
                    ORDER BY \(copy.key) LIMIT \(Self.rowsAtOnce))
                    """
                ) ?? last
            try connection.withStatement(copy.sqlForRange) { statement in
                try statement.bind(key, at: 1)
                try statement.bind(end, at: 2)
                try statement.run()
            }
            key = end
            progress.report(Double(key) / Double(last))
        }
    }

    private func value(_ sql: String) throws -> Int64? {
        try connection.withUncachedStatement(sql) { row in
            try row.step() && !row.isNull(at: 0) ? row.integer(at: 0) : nil
        }
    }

    // MARK: Recording

    private func record() throws {
        try connection.execute(#"DELETE FROM "_sequence""#)
        for (entity, next) in plan.nextKeys.sorted(by: { $0.key < $1.key }) {
            try connection.withStatement(#"INSERT INTO "_sequence" ("entity", "next") VALUES (?, ?)"#) { statement in
                try statement.bind(text: entity, at: 1)
                try statement.bind(next, at: 2)
                try statement.run()
            }
        }
        try plan.metadata.writeColumnsOfMixedForms(on: connection)
        try plan.metadata.write(on: connection)
        // Connections that have the file open must not continue with the old model, even if no table has changed.
        try StoreMetadataTable.announceChange(on: connection)
    }
}
