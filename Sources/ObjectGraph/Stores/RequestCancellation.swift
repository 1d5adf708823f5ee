import Dispatch
import Synchronization

/// The wish that a store stop working on a request, which any thread may utter.
public final class RequestCancellation: Sendable {
    private let state = Atomic<Bool>(false)

    /// A wish that nobody has uttered yet.
    public init() {}

    /// Whether the request is not wanted any more.
    public var isCancelled: Bool { state.load(ordering: .relaxed) }

    /// Utters the wish. The store ends the request soon, unless it has done so already.
    public func cancel() { state.store(true, ordering: .relaxed) }
}

extension StoreRequest {
    /// Carries the request out on another thread, which may block, and gives its result.
    ///
    /// - Throws: what the store throws; `CancellationError` where the task is cancelled before the request has ended.
    static func executeInBackground(
        _ request: StoreRequest,
        in store: any IncrementalStore
    ) async throws -> StoreResult {
        let cancellation = RequestCancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(
                        with: Result {
                            if cancellation.isCancelled { throw CancellationError() }
                            return try store.execute(request, with: nil, cancellation: cancellation)
                        }
                    )
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }
}
