import EncryptedSQLite
import Foundation

/// The progress of a long operation on a store, in thousandths.
struct WorkProgress: Sendable {
    private let progress: Progress?
    /// The thousandths of the progress that the work advances; nil if it does not show its advance.
    private let range: Range<Int>?

    /// Begins at 0 of 1,000.
    init(_ progress: Progress?) {
        self.progress = progress
        range = 0..<1000
        progress?.totalUnitCount = 1000
        progress?.completedUnitCount = 0
    }

    /// Makes a progress that only cancels the work: another operation counts in the progress.
    init(cancelledBy progress: Progress?) {
        self.progress = progress
        range = nil
    }

    private init(_ progress: Progress?, _ range: Range<Int>?) {
        self.progress = progress
        self.range = range
    }

    /// The progress of a part of the operation, which counts its own thousandths.
    func part(_ thousandths: Range<Int>) -> WorkProgress { WorkProgress(progress, thousandths) }

    /// Sets the completed part.
    ///
    /// - Throws: `CancellationError` if the operation is cancelled.
    func show(_ thousandths: Int) throws {
        guard let progress else { return }
        if progress.isCancelled { throw CancellationError() }
        guard let range else { return }
        progress.completedUnitCount = Int64(range.lowerBound + range.count * min(thousandths, 1000) / 1000)
    }

    /// Runs `body`, whose statements on a connection throw `interrupted` soon after the operation is cancelled.
    func interrupting<R>(_ connection: Connection, _ body: () throws -> R) throws -> R {
        guard let progress else { return try body() }
        return try connection.interruptible(when: { progress.isCancelled }, body)
    }
}
