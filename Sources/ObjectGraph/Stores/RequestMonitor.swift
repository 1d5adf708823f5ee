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

extension StoreRequest {
    /// Carries the request out on another thread, which may block, and gives its result.
    ///
    /// - Parameter progress: What is told of the rows, and can cancel the request.
    /// - Throws: what the store throws; `CancellationError` where the task or the progress is cancelled before the request
    ///   has ended.
    static func executeInBackground(
        _ request: StoreRequest,
        in store: any IncrementalStore,
        reportingTo progress: Progress?
    ) async throws -> StoreResult {
        progress?.completedUnitCount = 0
        let monitor = RequestMonitor(progress: progress)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // A queue of its own gets a further thread. Those of the global queue are few, and run tasks as well: long
                // statements would keep all tasks from going on, those among them that could cancel one.
                DispatchQueue(label: "StoreRequest").async {
                    continuation.resume(
                        with: Result {
                            if monitor.isCancelled { throw CancellationError() }
                            return try store.execute(request, with: nil, monitor: monitor)
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
