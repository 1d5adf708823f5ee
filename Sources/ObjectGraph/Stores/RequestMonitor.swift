import Dispatch
public import Foundation
import Synchronization

/// What a store and whoever asked it tell each other while it works on a request, from any thread: the one how far it is,
/// the other that it need not go on.
public final class RequestMonitor: Sendable {
    private let wasCancelled = Atomic<Bool>(false)
    private let progress: Progress?

    /// Makes a monitor of a request that is wanted.
    ///
    /// - Parameter progress: What the rows that are read are reported to, and what can cancel the request.
    public init(progress: Progress? = nil) {
        self.progress = progress
    }

    /// Whether the request is not wanted any more. The store asks now and then, and ends it.
    public var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) || progress?.isCancelled ?? false }

    /// Ends the request soon, unless the store has done so already.
    public func cancel() { wasCancelled.store(true, ordering: .relaxed) }

    /// Reports that the store has read further rows of the result.
    public func didRead(rows count: Int) { progress?.completedUnitCount += Int64(count) }
}

extension IncrementalStore {
    /// Runs `reads`, which calls methods of the store, on another thread, which may block.
    ///
    /// - Parameter progress: Receives the number of rows, and can cancel the requests.
    /// - Throws: what the store throws; `CancellationError` if the task or the progress is cancelled before `reads` has ended.
    func readInBackground<R: Sendable>(
        reportingTo progress: Progress?,
        _ reads: @escaping @Sendable () throws -> R
    ) async throws -> R {
        progress?.completedUnitCount = 0
        let monitor = RequestMonitor(progress: progress)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A separate queue gets its own thread. The global queue has few, which run tasks as well: long statements
                // would keep all tasks from running, including those that could cancel a statement.
                DispatchQueue(label: "IncrementalStore").async {
                    continuation.resume(
                        with: Result {
                            if monitor.isCancelled { throw CancellationError() }
                            return try self.monitoring(monitor, reads)
                        }
                    )
                }
            }
        } onCancel: {
            monitor.cancel()
        }
    }
}

extension Progress {
    /// Takes note that a request has ended with a number of rows. One without any counts as one, since a progress of
    /// nothing is never finished.
    func finish(rows count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = totalUnitCount
    }
}
