import Foundation

/// A part of the progress of a migration.
struct MigrationProgress: Sendable {
    private let progress: Progress
    /// The fractions of the whole at which the part begins and ends.
    private let start: Double
    private let end: Double

    private static let units: Int64 = 1_000_000

    /// The whole progress.
    init(_ progress: Progress) {
        self.init(progress, from: 0, to: 1)
        progress.totalUnitCount = Self.units
    }

    private init(_ progress: Progress, from start: Double, to end: Double) {
        self.progress = progress
        self.start = start
        self.end = end
    }

    /// Whether the migration has to end.
    var isCancelled: Bool { progress.isCancelled }

    /// A part of this part, all of the same length.
    func part(_ index: Int, of count: Int) -> MigrationProgress {
        let length = (end - start) / Double(max(count, 1))
        return MigrationProgress(
            progress,
            from: start + Double(index) * length,
            to: index + 1 == count ? end : start + Double(index + 1) * length
        )
    }

    /// Reports the finished fraction of this part.
    func report(_ fraction: Double) {
        let whole = start + (end - start) * min(max(fraction, 0), 1)
        progress.completedUnitCount = Int64((whole * Double(Self.units)).rounded())
    }

    /// Reports the current step.
    func begin(_ step: MigrationStep) {
        progress.setUserInfoObject(step.description, forKey: SealedStore.migrationStepKey)
    }

    /// - Throws: `CancellationError` if the migration is cancelled.
    func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }
}
