import EncryptedSQLite
import Foundation
public import ObjectGraph

/// The steps and the problems of a migration, computed without a change of the store.
public struct MigrationPreview: Sendable {
    /// The steps, in order, with the numbers of rows that they write. Empty if the store needs no migration.
    public let steps: [MigrationStep]
    /// The differences between the models, one on each line.
    public let differences: [String]
    /// The reasons for which the migration would throw.
    public let problems: [MigrationProblem]
    /// The largest number of additional bytes that the migration needs, in the file and in its log.
    public let expectedSpace: Int
}

extension SealedStore {
    /// Computes the migration of a store to a model. The store is opened for reading only, and does not change.
    ///
    /// - Throws: `DatabaseError` if the file cannot be opened; ``SealedStoreError`` if it is not a valid store, or has
    ///   a later version.
    /// - Complexity: O(*n*) in the number of rows that are checked or would be written.
    public static func migrationPreview(
        of description: PersistentStoreDescription,
        to model: ManagedObjectModel
    ) throws -> MigrationPreview {
        var description = description
        description.isReadOnly = true
        let opening = StoreOpening(model: model, description: description)
        let reading = try opening.reading(try opening.ownModel())
        var preview: MigrationPreview?
        try StoreOpening.examineDatabase(description) { connection in
            preview = try reading.preview(on: connection)
        }
        guard let preview else { preconditionFailure("A database is open that was not verified.") }
        return preview
    }
}

extension StoreReading {
    fileprivate func preview(on connection: Connection) throws -> MigrationPreview {
        let (stored, fingerprint) = try SchemaPlan.metadata(on: connection)
        try requireKnownVersion(stored)
        guard case .shape(let differences) = ModelChange.from(stored.model, to: own) else {
            return MigrationPreview(steps: [], differences: [], problems: [], expectedSpace: 0)
        }
        let plan = try migration(from: stored, fingerprint, on: connection)
        let problems = try MigrationCheck.problems(plan.checks, on: connection)
        var steps = try plan.steps.map { step in
            var step = step
            guard !step.copies.isEmpty else { return step }
            step.rows = try step.copies.reduce(0) { rows, copy in
                let sql = "SELECT count(*) FROM \(copy.source)\(copy.conditions.joined(behind: "WHERE"))"
                return try rows + count(sql, on: connection)
            }
            return step
        }
        let unresolved = unresolved(problems)
        let firstIndex = steps.firstIndex { $0.kind == .buildIndex || $0.kind == .recordModel } ?? steps.endIndex
        steps.insert(contentsOf: problems.filter { !unresolved.contains($0) }.map(merge), at: firstIndex)
        return MigrationPreview(
            steps: steps,
            differences: differences,
            problems: unresolved,
            expectedSpace: try steps.contains { !$0.copies.isEmpty } ? 2 * size(on: connection) : 0
        )
    }

    /// The step by which a rule resolves a problem.
    private func merge(_ problem: MigrationProblem) -> MigrationStep {
        guard case .duplicates(let properties) = problem.kind else { return MigrationStep(.mergeDuplicates) }
        var step = MigrationStep(.mergeDuplicates, problem.entity, properties)
        step.rows = problem.rows
        return step
    }

    /// The size of the file in bytes. A migration copies at most this number of bytes, once to the file and once to the
    /// log. The library cannot count the pages of a single table.
    private func size(on connection: Connection) throws -> Int {
        try count("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", on: connection)
    }

    private func count(_ sql: String, on connection: Connection) throws -> Int {
        try connection.withUncachedStatement(sql) { row in try row.step() ? Int(row.integer(at: 0)) : 0 }
    }
}
