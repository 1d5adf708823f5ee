import EncryptedSQLite
import Foundation

/// A part of the progress of a migration.
struct MigrationProgress: Sendable {
    private let progress: Progress
    /// The fractions of the whole at which the part begins and ends.
    private let start: Double
    private let end: Double

    private static let units: Int64 = 1_000_000

    /// Creates the part that is the whole progress.
    init(_ progress: Progress) {
        self.init(progress, from: 0, to: 1)
        progress.totalUnitCount = Self.units
    }

    private init(_ progress: Progress, from start: Double, to end: Double) {
        self.progress = progress
        self.start = start
        self.end = end
    }

    /// Whether the program has cancelled the migration.
    var isCancelled: Bool { progress.isCancelled }

    /// One of `count` parts of equal length into which this part is divided.
    func part(_ index: Int, of count: Int) -> MigrationProgress {
        let length = (end - start) / Double(max(count, 1))
        return MigrationProgress(
            progress,
            from: start + Double(index) * length,
            to: index + 1 == count ? end : start + Double(index + 1) * length
        )
    }

    /// The part for the checks of a store before it is migrated, and the part for the migration.
    var parts: (checks: MigrationProgress, migration: MigrationProgress) {
        let end = start + (self.end - start) * 0.2
        return (MigrationProgress(progress, from: start, to: end), MigrationProgress(progress, from: end, to: self.end))
    }

    /// Reports the finished fraction of this part.
    func report(_ fraction: Double) {
        let whole = start + (end - start) * min(max(fraction, 0), 1)
        progress.completedUnitCount = Int64((whole * Double(Self.units)).rounded())
    }

    /// Reports the current step.
    func begin(_ step: MigrationStep) { begin(step.description, entity: step.entity) }

    /// Reports a check of rows as the current step.
    func begin(_ check: MigrationCheck) {
        let place = [check.entity, check.property].compactMap(\.self).joined(separator: ".")
        begin("check \(place)", entity: check.entity)
    }

    private func begin(_ step: String, entity: String?) {
        progress.setUserInfoObject(step, forKey: SealedStore.migrationStepKey)
        progress.setUserInfoObject(entity, forKey: SealedStore.migrationEntityKey)
        report(rows: 0)
    }

    /// Reports the number of rows that the current step has written.
    func report(rows: Int) { progress.setUserInfoObject(rows, forKey: SealedStore.migrationRowsKey) }

    /// - Throws: `CancellationError` if the migration is cancelled.
    func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }
}

extension Connection {
    /// Runs `body`. If the progress is cancelled, SQLite ends the statements of `body` soon after. Calls cannot nest.
    ///
    /// - Throws: `CancellationError`.
    func interruptible<R>(by progress: MigrationProgress?, _ body: () throws -> R) throws -> R {
        guard let progress else { return try body() }
        do {
            return try interruptible(when: { progress.isCancelled }, body)
        } catch DatabaseError.interrupted {
            throw CancellationError()
        }
    }
}
