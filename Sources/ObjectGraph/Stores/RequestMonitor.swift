import Dispatch
public import Foundation
import Synchronization

/// The connection between a store that executes a request and the caller, on any thread: the store reports the rows
/// that it reads, and the caller can cancel the request.
public final class RequestMonitor: Sendable {
    private let wasCancelled = Atomic<Bool>(false)
    private let progress: Progress?

    /// Makes a monitor of a request that is not cancelled.
    ///
    /// - Parameter progress: Counts the rows, and can cancel the request.
    public init(progress: Progress? = nil) {
        self.progress = progress
    }

    /// Whether the request was cancelled. The store checks it at intervals, and ends the request.
    public var isCancelled: Bool { wasCancelled.load(ordering: .relaxed) || progress?.isCancelled ?? false }

    /// Cancels the request.
    public func cancel() { wasCancelled.store(true, ordering: .relaxed) }

    /// Reports that the store has read further rows of the result.
    public func didRead(rows count: Int) { progress?.completedUnitCount += Int64(count) }
}

extension IncrementalStore {
    /// Runs `reads`, which calls methods of the store, on another thread, which may block.
    ///
    /// - Parameter progress: Receives the number of rows, and can cancel the requests.
    /// - Throws: errors of the store; `CancellationError` if the task or the progress is cancelled before `reads` has
    ///   ended.
    func readInBackground<R: Sendable>(
        reportingTo progress: Progress?,
        _ reads: @escaping @Sendable () throws -> R
    ) async throws -> R {
        progress?.completedUnitCount = 0
        let monitor = RequestMonitor(progress: progress)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A separate queue gets its own thread. The global queue has few threads, which run tasks as well: long
                // statements would keep all tasks from running, including a task that would cancel a statement.
                DispatchQueue(label: "IncrementalStore").async {
                    continuation.resume(
                        with: Result {
                            if monitor.isCancelled { throw CancellationError() }
                            guard let store = self as? any MonitoredStore else { return try reads() }
                            return try store.monitoring(monitor, reads)
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
    /// Sets the progress to the number of rows of a finished request. A request without rows counts as one row, since a
    /// progress with a total of zero is never finished.
    func finish(rows count: Int) {
        totalUnitCount = Int64(max(count, 1))
        completedUnitCount = totalUnitCount
    }
}
