import EncryptedSQLite
import Foundation

/// The progress of a long operation on a store, in thousandths.
struct WorkProgress: Sendable {
    private let progress: Progress?

    /// Begins at 0 of 1,000.
    init(_ progress: Progress?) {
        self.progress = progress
        progress?.totalUnitCount = 1000
        progress?.completedUnitCount = 0
    }

    /// Sets the completed part.
    ///
    /// - Throws: `CancellationError` if the operation is cancelled.
    func show(_ thousandths: Int) throws {
        guard let progress else { return }
        if progress.isCancelled { throw CancellationError() }
        progress.completedUnitCount = Int64(min(thousandths, 1000))
    }

    /// Runs `body`, whose statements on a connection throw `interrupted` soon after the operation is cancelled.
    func interrupting<R>(_ connection: Connection, _ body: () throws -> R) throws -> R {
        guard let progress else { return try body() }
        return try connection.interruptible(when: { progress.isCancelled }, body)
    }
}
